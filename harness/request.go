package harness

import (
	"bytes"
	"encoding/json"
	"fmt"

	"interpreter/local/chat"
)

// NoResult stands in the place of a result that never came.
const NoResult = "aborted: there is no result of this call, and what it did is unknown"

// Request builds what the model gets. It is a pure function: each request of a session is the one before it plus a
// tail, byte for byte, as long as opening and tools are the ones Begin gave.
func (h Harness) Request(env Environment, opening []chat.Message, tools []chat.Spec, transcript []chat.Message, window int) chat.Request {
	req := chat.Request{Tools: tools, Window: window}
	req.Messages = make([]chat.Message, 0, len(opening)+len(transcript))
	req.Messages = append(req.Messages, opening...)
	req.Messages = append(req.Messages, Paired(transcript)...)
	if h.Shape != nil {
		h.Shape(env, &req)
	}
	return req
}

// Paired mends a transcript so that every server takes it: each call is followed by its one result in call order,
// results without a call are dropped, ids are unique, arguments are JSON objects, and what was said between a call
// and its result moves behind the results. Whole transcripts come back unchanged.
func Paired(transcript []chat.Message) []chat.Message {
	p := pairing{used: map[string]bool{}}
	for _, m := range transcript {
		switch {
		case m.Role == chat.Tool:
			p.result(m)
		case m.Role == chat.Assistant:
			p.close()
			if m.Text == "" && len(m.Calls) == 0 {
				continue
			}
			p.open(m)
		default:
			if m.Role == chat.System { // one system message, first, is all that strict templates take
				m.Role = chat.User
			}
			if p.waiting() {
				p.held = append(p.held, m)
				continue
			}
			p.close()
			p.out = append(p.out, m)
		}
	}
	if len(p.calls) > 0 {
		p.close()
	}
	return p.out
}

// pairing is one pass over a transcript; calls is the open group and results what has come for it.
type pairing struct {
	out     []chat.Message
	used    map[string]bool
	calls   []chat.Call // as they go out
	ids     []string    // as they were
	results []*chat.Message
	held    []chat.Message
}

func (p *pairing) open(m chat.Message) {
	calls := make([]chat.Call, len(m.Calls))
	for i, c := range m.Calls {
		p.ids = append(p.ids, c.ID)
		c.ID = p.unique(c.ID)
		if !isObject(c.Args) {
			c.Args = json.RawMessage("{}")
		}
		calls[i] = c
	}
	if len(calls) > 0 {
		m.Calls = calls
	}
	p.calls, p.results = calls, make([]*chat.Message, len(calls))
	p.out = append(p.out, m)
}

func (p *pairing) unique(id string) string {
	if id == "" {
		id = "call"
	}
	name := id
	for n := 2; p.used[name]; n++ {
		name = fmt.Sprintf("%s_%d", id, n)
	}
	p.used[name] = true
	return name
}

func (p *pairing) result(m chat.Message) {
	if m.Result == nil {
		return
	}
	for i, id := range p.ids {
		if id == m.Result.CallID && p.results[i] == nil {
			r := *m.Result
			r.CallID = p.calls[i].ID
			m.Result = &r
			p.results[i] = &m
			return
		}
	}
}

func (p *pairing) waiting() bool {
	for _, r := range p.results {
		if r == nil {
			return true
		}
	}
	return false
}

func (p *pairing) close() {
	for i, c := range p.calls {
		if r := p.results[i]; r != nil {
			p.out = append(p.out, *r)
			continue
		}
		p.out = append(p.out, chat.Message{Role: chat.Tool, Result: &chat.Result{CallID: c.ID, Name: c.Name, Text: NoResult, Failed: true}})
	}
	p.out = append(p.out, p.held...)
	p.calls, p.ids, p.results, p.held = nil, nil, nil, nil
}

func isObject(args json.RawMessage) bool {
	args = bytes.TrimSpace(args)
	return len(args) > 0 && args[0] == '{' && json.Valid(args)
}
