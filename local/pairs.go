package local

import (
	"strconv"

	"interpreter/local/chat"
)

// Pairs gives the calls of a conversation ids that occur once in it, and each result the id of the call that it
// answers. Every id depends on what came before alone, so that a longer conversation begins with the same ones.
type Pairs struct {
	// Form is how a server wants an id written; nil: as it is.
	Form func(id string) string

	used map[string]bool
	open map[string][]string // ids of the last message's calls that wait for a result, by the id the conversation has
}

// Calls are the calls of one message with ids of their own.
func (p *Pairs) Calls(calls []chat.Call) []chat.Call {
	if len(calls) == 0 {
		return nil
	}
	if p.used == nil {
		p.used = map[string]bool{}
	}
	p.open = map[string][]string{}
	out := make([]chat.Call, len(calls))
	for i, call := range calls {
		raw := call.ID
		base := raw
		if base == "" {
			base = "call"
		}
		id := p.form(base)
		for n := 2; p.used[id]; n++ {
			id = p.form(base + "_" + strconv.Itoa(n))
		}
		p.used[id] = true
		p.open[raw] = append(p.open[raw], id)
		call.ID = id
		out[i] = call
	}
	return out
}

// Result is the id of the call that a result answers.
func (p *Pairs) Result(id string) string {
	waiting := p.open[id]
	if len(waiting) == 0 {
		return p.form(id)
	}
	p.open[id] = waiting[1:]
	return waiting[0]
}

func (p *Pairs) form(id string) string {
	if p.Form == nil {
		return id
	}
	return p.Form(id)
}
