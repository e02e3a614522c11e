package harness

import (
	"fmt"
	"regexp"
	"strconv"

	"interpreter/local/chat"
)

// numberedID is the id that Kimi K2 writes itself: the tool and the number of the call in the whole conversation.
var numberedID = regexp.MustCompile(`^functions\.([A-Za-z0-9_.-]+):([0-9]{1,9})$`)

// NumberCalls gives every call an id of the form functions.NAME:k, and its result the same. One that has this form
// already stays as the model wrote it; the others, which a server made up, go on counting from the highest number
// before them. The templates of models that were trained on such ids print them, and with foreign ones the model loses
// the form of its calls after a few. The ids of a message depend on the messages before it alone.
func NumberCalls(messages []chat.Message) {
	next := 0
	taken := map[string]bool{}
	now := map[string]string{} // ids of the latest answer, old to new
	for i := range messages {
		m := &messages[i]
		if len(m.Calls) > 0 {
			clear(now)
			calls := append([]chat.Call(nil), m.Calls...)
			for j := range calls {
				id := calls[j].ID
				if at := numberedID.FindStringSubmatch(id); at == nil || taken[id] {
					id = fmt.Sprintf("functions.%s:%d", calls[j].Name, next)
				} else if n, err := strconv.Atoi(at[2]); err == nil {
					next = max(next, n)
				}
				next++
				taken[id], now[calls[j].ID] = true, id
				calls[j].ID = id
			}
			m.Calls = calls
		}
		if m.Result == nil {
			continue
		}
		if id, ok := now[m.Result.CallID]; ok {
			r := *m.Result
			r.CallID = id
			m.Result = &r
		}
	}
}
