package harness

import (
	"strings"
	"testing"

	"interpreter/local/chat"
)

func TestNumberCalls(t *testing.T) {
	// Each answer is the ids of its calls; every call has its result.
	tests := []struct{ given, want string }{
		{"functions.Read:0,functions.Read:1 functions.Bash:2", "functions.Read:0,functions.Read:1 functions.Bash:2"},
		{"call_1 call_2 call_3", "functions.Read:0 functions.Read:1 functions.Read:2"},
		{"functions.Read:4 x,y", "functions.Read:4 functions.Read:5,functions.Read:6"},
		{"functions.Read:0 functions.Read:0_2 functions.Read:0", "functions.Read:0 functions.Read:1 functions.Read:2"},
		{"a functions.Read:0", "functions.Read:0 functions.Read:1"},
	}
	for _, tt := range tests {
		var said []chat.Message
		for _, answer := range strings.Fields(tt.given) {
			m := chat.Message{Role: chat.Assistant}
			var results []chat.Message
			for _, id := range strings.Split(answer, ",") {
				m.Calls = append(m.Calls, chat.Call{ID: id, Name: "Read"})
				results = append(results, chat.Message{Role: chat.Tool, Result: &chat.Result{CallID: id}})
			}
			said = append(append(said, m), results...)
		}
		kept := said[0].Calls[0].ID
		stored := append([]chat.Message(nil), said...)
		NumberCalls(said)
		if stored[0].Calls[0].ID != kept {
			t.Errorf("%s: the transcript itself was changed", tt.given)
		}
		var got, results []string
		for _, m := range said {
			var ids []string
			for _, c := range m.Calls {
				ids = append(ids, c.ID)
			}
			if ids != nil {
				got = append(got, strings.Join(ids, ","))
			}
			if m.Result != nil {
				results = append(results, m.Result.CallID)
			}
		}
		if text := strings.Join(got, " "); text != tt.want {
			t.Errorf("%s becomes %s, want %s", tt.given, text, tt.want)
		}
		if a, b := strings.Join(results, ","), strings.ReplaceAll(strings.Join(got, ","), " ", ","); a != b {
			t.Errorf("%s: the results are of %s, the calls %s", tt.given, a, b)
		}
	}
}
