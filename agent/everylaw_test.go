package agent_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"interpreter/agent/event"
	"interpreter/harness"
	"interpreter/local/chat"
)

// slips are what no text for a model may have in it.
var slips = []string{"being built", "<no value>", "%!", "internal error", "<nil>", "goroutine "}

func checkSlips(t *testing.T, what string, text []byte) {
	t.Helper()
	for _, slip := range slips {
		if bytes.Contains(text, []byte(slip)) {
			t.Errorf("%s has %q in it", what, slip)
		}
	}
}

func sameTools(a, b []chat.Spec) bool {
	return slices.EqualFunc(a, b, func(a, b chat.Spec) bool {
		return a.Name == b.Name && a.Description == b.Description && bytes.Equal(a.Parameters, b.Parameters)
	})
}

// checkRequests holds what the model was asked to the prefix law. It returns what stays in front of a conversation that is
// replaced.
func (s *stage) checkRequests(opened event.Opened) []chat.Message {
	t, h, asked := s.t, s.h, s.model.asked
	t.Helper()
	opening, first := h.Request(s.env, opened.Messages, opened.Tools, nil, 0).Messages, ""
	if last := len(opening) - 1; h.Join && last >= 0 && opening[last].Role == chat.User { // it goes on with the prompt
		opening, first = opening[:last], opening[last].Text
	}
	begin := open(wireJSON(t, chat.Request{Messages: opening}))
	checkSlips(t, "what stands at the beginning", wireJSON(t, chat.Request{Messages: opened.Messages, Tools: opened.Tools}))
	prefix, summaries := begin, 0
	for i, r := range asked {
		switch {
		case !bytes.HasPrefix(r.messages, prefix):
			t.Errorf("request %d rewrites what was sent: %s", i, apart(prefix, r.messages))
		case !bytes.HasPrefix(r.messages, begin):
			t.Errorf("request %d has another opening", i)
		case first != "" && !strings.HasPrefix(r.Messages[len(opening)].Text, first):
			t.Errorf("request %d has another first message", i)
		}
		if !sameTools(r.Tools, opened.Tools) {
			t.Errorf("request %d has other tools", i)
		}
		if one := asked[0]; r.Window != one.Window || r.Effort != one.Effort || !reflect.DeepEqual(r.Options, one.Options) || !reflect.DeepEqual(r.Extra, one.Extra) {
			t.Errorf("request %d asks with other settings", i)
		}
		checkSlips(t, fmt.Sprintf("request %d", i), r.messages[min(len(prefix), len(r.messages)):])
		valid(t, h, i, r.Messages)
		if prefix = open(r.messages); r.summary {
			prefix = begin
			summaries++
		}
	}
	if summaries != 1 {
		t.Errorf("asked for %d summaries", summaries)
	}
	return opening
}

// open is a list of messages without what closes it.
func open(raw []byte) []byte { return bytes.TrimSuffix(raw, []byte("]}")) }

// apart shows where two texts part.
func apart(a, b []byte) string {
	at := 0
	for at < len(a) && at < len(b) && a[at] == b[at] {
		at++
	}
	show := func(x []byte) []byte { return x[max(0, at-60):min(len(x), at+120)] }
	return fmt.Sprintf("at %d\n%s\nis now\n%s", at, show(a), show(b))
}

// valid holds a conversation to what servers take: each call has its one result right behind it, or, where calls are text,
// there are none and two answers never follow each other.
func valid(t *testing.T, h harness.Harness, n int, messages []chat.Message) {
	t.Helper()
	var due []string
	for i, m := range messages {
		what := fmt.Sprintf("request %d, message %d (%s)", n, i, m.Role)
		if m.Role == chat.Tool {
			if len(due) == 0 || m.Result == nil || m.Result.CallID != due[0] {
				t.Errorf("%s is no result of %v", what, due)
				return
			}
			due = due[1:]
			continue
		}
		if len(due) > 0 {
			t.Errorf("%s: results of %v are missing", what, due)
		}
		for _, c := range m.Calls {
			if !json.Valid(c.Args) || c.Args[0] != '{' {
				t.Errorf("%s: the arguments of %s are %s", what, c.Name, c.Args)
			}
			due = append(due, c.ID)
		}
		switch {
		case m.Role == chat.System && i > 0:
			t.Errorf("%s: a second system message", what)
		case m.Role != chat.Assistant && strings.TrimSpace(m.Text) == "" && len(m.Images) == 0,
			m.Role == chat.Assistant && strings.TrimSpace(m.Text) == "" && len(m.Calls) == 0:
			t.Errorf("%s says nothing", what)
		case h.Text && (len(m.Calls) > 0 || m.Result != nil):
			t.Errorf("%s has a call or a result", what)
		case m.Role == chat.Assistant && (i == 0 || messages[i-1].Role == chat.Assistant || messages[i-1].Role == chat.System):
			t.Errorf("%s: an answer to nobody", what)
		}
	}
	if last := messages[len(messages)-1].Role; len(due) > 0 || last != chat.User && last != chat.Tool {
		t.Errorf("request %d ends with %s, results of %v are missing", n, last, due)
	}
}
