package responses

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"

	"interpreter/local"
	"interpreter/local/chat"
	"interpreter/local/openai"
)

// part is an item that is being put together.
type part struct {
	index  int // -1: not known
	item   item
	splice local.Splice
	said   strings.Builder // what of it has come out
	kind   string          // of the events that its thoughts came in: a server can send them as a summary as well
	args   []byte
	done   bool
}

// find is the item that an event is about, and begins one when there is none.
func (d *decoder) find(index *int, id, kind string) *part {
	if p := d.known(index, id, kind); p != nil {
		return p
	}
	return d.begin(index, item{Type: kind, ID: id})
}

func (d *decoder) begin(index *int, it item) *part {
	p := &part{index: -1, item: it}
	if index != nil {
		p.index = *index
	}
	d.parts = append(d.parts, p)
	return p
}

// known is the latest item of a kind with this id, or else with this number; with neither it is the one that is open.
func (d *decoder) known(index *int, id, kind string) *part {
	var numbered, open *part
	for _, p := range d.parts {
		if p.item.Type != kind {
			continue
		}
		if id != "" && p.item.ID == id {
			return p
		}
		if index != nil && p.index == *index {
			numbered = p
		}
		if !p.done {
			open = p
		}
	}
	if index == nil && id == "" {
		return open
	}
	return numbered
}

// take takes an item as it begins, or as it is in the end: that counts, whatever its pieces said.
func (d *decoder) take(index *int, it item, done bool) error {
	p := d.known(index, it.ID, it.Type)
	switch {
	case p == nil:
		p = d.begin(index, it)
	case p.done && done && p.repeats(it):
		return nil
	case p.done: // the number comes again
		p = d.begin(index, it)
	}
	return d.fill(p, it, done)
}

// repeats reports whether an item is one that is there already, once more.
func (p *part) repeats(it item) bool {
	return p.item.ID == it.ID && p.item.CallID == it.CallID && p.item.Name == it.Name && string(p.item.Arguments) == string(it.Arguments) && (it.ID != "" || it.CallID != "")
}

// fill gives a part what its item says.
func (d *decoder) fill(p *part, it item, done bool) error {
	it.ID, it.Name, it.CallID = cmp.Or(it.ID, p.item.ID), cmp.Or(it.Name, p.item.Name), cmp.Or(it.CallID, p.item.CallID)
	p.item, p.done = it, done
	d.Began()
	switch {
	case !done:
		return nil
	case it.Type == "function_call":
		p.settle(it.Arguments)
		return nil
	case it.Type == "reasoning" && (len(it.Content) == 0 || strings.Contains(p.kind, "summary")):
		return d.rest(p, it.Summary, true)
	case it.Type == "reasoning", it.Type == "message":
		return d.rest(p, it.Content, it.Type == "reasoning")
	}
	return nil
}

// settle sets all of the arguments, in place of the pieces.
func (p *part) settle(raw json.RawMessage) {
	if text := unquoted(raw); len(bytes.TrimSpace(text)) > 0 {
		p.args = text
	}
}

// unquoted is the text that a JSON string holds, and anything else as it is: some servers send an object itself.
func unquoted(raw json.RawMessage) []byte {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return []byte(text)
	}
	return bytes.Clone(raw)
}

// rest emits what of an item has not come in pieces.
func (d *decoder) rest(p *part, all []content, thinking bool) error {
	var text strings.Builder
	for i, c := range all {
		for _, raw := range []json.RawMessage{c.Text, c.Refusal} {
			var piece string
			if given(raw) && json.Unmarshal(raw, &piece) != nil {
				return d.broken("a part of the answer is no text", nil)
			}
			if i > 0 && thinking {
				text.WriteString("\n\n")
			}
			text.WriteString(piece)
			if piece != "" {
				break
			}
		}
	}
	more, begins := strings.CutPrefix(text.String(), p.said.String())
	if !begins {
		return nil
	}
	return d.put(p, more, thinking)
}

// say emits a piece of text or thinking.
func (d *decoder) say(p *part, raw json.RawMessage, thinking bool) error {
	text, err := p.splice.Add(raw)
	if err != nil {
		return d.broken("a part of the answer is no text", err)
	}
	return d.put(p, text, thinking)
}

func (d *decoder) put(p *part, text string, thinking bool) error {
	if text == "" {
		return nil
	}
	p.said.WriteString(text)
	delta := chat.Delta{Text: text}
	if thinking {
		delta = chat.Delta{Thinking: text}
	}
	if !d.Emit(delta) {
		return openai.ErrGone
	}
	return nil
}
