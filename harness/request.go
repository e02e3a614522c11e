package harness

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"interpreter/local/chat"
)

// NoResult stands in the place of a result that never came.
const NoResult = "aborted: there is no result of this call, and what it did is unknown"

// Request builds what the model gets. It is a pure function: each request of a session is the one before it plus a
// tail, byte for byte, as long as opening and tools are the ones Begin gave.
func (h Harness) Request(env Environment, opening []chat.Message, tools []chat.Spec, transcript []chat.Message, window int) chat.Request {
	req := chat.Request{Tools: tools, Window: window}
	said := Paired(transcript)
	if h.Text {
		said = spoken(said)
	}
	req.Messages = make([]chat.Message, 0, len(opening)+len(said))
	req.Messages = append(req.Messages, opening...)
	if last := len(opening) - 1; h.Join && last >= 0 && opening[last].Role == chat.User && len(said) > 0 && said[0].Role == chat.User {
		one := said[0]
		one.Text = opening[last].Text + "\n\n" + one.Text
		one.Images = append(opening[last].Images[:len(opening[last].Images):len(opening[last].Images)], one.Images...)
		req.Messages[last], said = one, said[1:]
	}
	for _, m := range said {
		req.Messages = append(req.Messages, asWritten(m))
	}
	if h.Shape != nil {
		h.Shape(env, &req)
	}
	return req
}

// spoken turns calls and results into what they are where no tools are offered: text. The results of one answer are one
// message.
func spoken(said []chat.Message) []chat.Message {
	out := make([]chat.Message, 0, len(said))
	for i, m := range said {
		switch {
		case m.Role == chat.Assistant:
			m.Text, m.Calls = cmp.Or(m.Written, told(m)), nil
		case m.Result != nil && i > 0 && said[i-1].Result != nil:
			last := &out[len(out)-1]
			last.Text += "\n\n" + m.Result.Text
			last.Images = append(last.Images[:len(last.Images):len(last.Images)], m.Images...)
			continue
		case m.Result != nil:
			m = chat.Message{Role: chat.User, Text: m.Result.Text, Images: m.Images}
		}
		out = append(out, m)
	}
	return out
}

// told is an answer whose calls came as such, from a server that reads them or under another harness, as text: results
// need to be of something.
func told(m chat.Message) string {
	parts := make([]string, 0, len(m.Calls)+1)
	if strings.TrimSpace(m.Text) != "" {
		parts = append(parts, m.Text)
	}
	for _, c := range m.Calls {
		parts = append(parts, fmt.Sprintf("[called %s with %s]", c.Name, c.Args))
	}
	return strings.Join(parts, "\n\n")
}

// asWritten gives an answer back in the text the model wrote, when it was split only here: a server that cached those
// tokens finds them again.
func asWritten(m chat.Message) chat.Message {
	if m.Role == chat.Assistant && m.Written != "" && len(m.Calls) == 0 {
		m.Text, m.Thinking = m.Written, ""
	}
	m.Written = ""
	return m
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
			if m.Text == "" && m.Written == "" && len(m.Calls) == 0 {
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
