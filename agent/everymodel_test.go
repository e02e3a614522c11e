package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"interpreter/harness"
	"interpreter/local/chat"
)

// reply is what the model answers once: a text, and a call or several.
type reply struct {
	text, call, args string
	more             []chat.Call
	hangs            bool // it never comes to its end
}

// asking is a request as the model got it.
type asking struct {
	chat.Request
	messages []byte
	summary  bool // it asks for the summary of a compaction
}

// scripted is a model that gives one reply a request and keeps what it was asked.
type scripted struct {
	t         *testing.T
	fill      *strings.Replacer
	compacts  string // how a request for a summary ends
	interrupt func() // what a person does when the model hangs

	mu    sync.Mutex
	queue []reply
	asked []asking
	id    string
}

// started is how results name what runs, and tasks.
var started = regexp.MustCompile(`(?:session ID |task_id: |with ID: |Task #)([\w-]+)`)

func (m *scripted) Stream(ctx context.Context, req chat.Request) iter.Seq2[chat.Delta, error] {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := asking{Request: req, messages: wireJSON(m.t, chat.Request{Messages: req.Messages})}
	r.Tools = slices.Clone(req.Tools)
	last := req.Messages[len(req.Messages)-1]
	said := last.Text
	if last.Result != nil {
		said = last.Result.Text
	}
	if found := started.FindStringSubmatch(said); found != nil {
		m.id = found[1]
	}
	r.summary = strings.HasPrefix(last.Text, m.compacts)
	m.asked = append(m.asked, r)
	answer := reply{text: "<analysis>\nhm\n</analysis>\n<summary>\nThe greeting in greet.go is spelled right. Nothing is left to do.\n</summary>"}
	if !r.summary {
		if len(m.queue) == 0 {
			m.t.Errorf("asked once more, behind %q", said)
			return func(yield func(chat.Delta, error) bool) {
				yield(chat.Delta{}, errors.New("the script has come to its end"))
			}
		}
		answer, m.queue = m.queue[0], m.queue[1:]
	}
	deltas := m.deltas(answer, len(m.asked))
	return func(yield func(chat.Delta, error) bool) {
		for _, d := range deltas {
			if answer.hangs && d.Finish != "" {
				m.interrupt()
				<-ctx.Done()
				yield(chat.Delta{}, ctx.Err())
				return
			}
			if !yield(d, nil) {
				return
			}
		}
	}
}

// deltas is an answer in pieces. Calls are numbered anew each time, as some servers do it, and their arguments have blanks
// of their own, which must stay.
func (m *scripted) deltas(r reply, n int) []chat.Delta {
	var out []chat.Delta
	text := m.fill.Replace(r.text)
	calls := slices.Clone(r.more)
	if r.call != "" {
		args := strings.ReplaceAll(m.fill.Replace(r.args), "$id", m.id)
		calls = append(calls, chat.Call{Name: r.call, Args: json.RawMessage("{ " + strings.TrimPrefix(args, "{"))})
		if text == "" && n%3 > 0 {
			text = fmt.Sprintf("Step <%d> & on.", n)
		}
		if n%2 == 0 {
			out = append(out, chat.Delta{Thinking: fmt.Sprintf("I think of step %d.", n)})
		}
	}
	if text != "" {
		half := len(text) / 2
		out = append(out, chat.Delta{Text: text[:half]}, chat.Delta{Text: text[half:]})
	}
	for i, c := range calls {
		c.ID = fmt.Sprintf("call_%d", i)
		out = append(out, chat.Delta{Call: &c})
	}
	return append(out, chat.Delta{Finish: chat.Stopped})
}

func wireJSON(t *testing.T, req chat.Request) []byte {
	raw, err := harness.WireJSON(req)
	if err != nil {
		t.Error(err)
	}
	return raw
}
