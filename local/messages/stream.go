package messages

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"interpreter/local"
	"interpreter/local/chat"
	"interpreter/local/openai"
)

// event is one event of an answer, or all of it from a server that does not stream: that is a message with its blocks.
type event struct {
	Type    string          `json:"type"`
	Index   *int            `json:"index"`
	Message *answer         `json:"message"`
	Block   *block          `json:"content_block"`
	Delta   *delta          `json:"delta"`
	Usage   *usage          `json:"usage"`
	Error   json.RawMessage `json:"error"`

	Content []block `json:"content"`
	Stop    string  `json:"stop_reason"`
}

type answer struct {
	Usage *usage `json:"usage"`
}

// block is a part of an answer as it begins, or whole.
type block struct {
	Type      string          `json:"type"`
	Text      json.RawMessage `json:"text"`
	Thinking  json.RawMessage `json:"thinking"`
	Signature string          `json:"signature"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
}

// delta is what goes on with a block, or the end of the message.
type delta struct {
	Type      string          `json:"type"`
	Text      json.RawMessage `json:"text"`
	Thinking  json.RawMessage `json:"thinking"`
	Signature string          `json:"signature"`
	Partial   json.RawMessage `json:"partial_json"`
	Stop      *string         `json:"stop_reason"`
}

// usage is counted twice: when the answer begins, where some servers only estimate, and when it ends.
type usage struct {
	Input   *int `json:"input_tokens"`
	Created *int `json:"cache_creation_input_tokens"`
	Cached  *int `json:"cache_read_input_tokens"`
	Output  *int `json:"output_tokens"`
}

// part is a block that is being put together.
type part struct {
	index  int
	block  block
	splice local.Splice
	args   []byte
	seal   string
	waits  []chat.Delta // pieces that cannot come out yet, since a block before this one is not closed
	closed bool
}

// decoder turns the body of one answer into deltas. Blocks come out in the order of their numbers. Calls come out when
// the answer has ended: until then their arguments can go on, and an answer that is cut may have been about to change
// them.
type decoder struct {
	openai.Hearing
	provider *openai.Provider
	model    string
	ids      *local.IDs

	parts   []*part // by their numbers
	head    int     // of the first that is not closed, or has not come out
	stop    string
	whole   bool
	faulted bool
	counted bool
	usage   chat.Usage
}

func newDecoder(p *openai.Provider, model string, ids *local.IDs, h openai.Hearing) *decoder {
	return &decoder{Hearing: h, provider: p, model: model, ids: ids}
}

// read decodes until the end of the answer. It ends without an error only after message_stop, a whole message or the
// reason for stopping, behind which only the counts come, or when nobody listens any more.
func (d *decoder) read(body io.Reader) error {
	err := d.provider.Frames(body, openai.Frame{
		Path: path, Model: d.model, Piece: d.piece, Whole: func() bool { return d.whole || d.stop != "" },
	})
	if errors.Is(err, openai.ErrGone) {
		return nil
	}
	if err != nil {
		return err
	}
	d.whole = true
	return d.end()
}

func (d *decoder) broken(detail string, err error) *chat.Error {
	return openai.Broken(d.model, detail, err)
}

// piece handles one event. Servers name it twice, before its data and in them.
func (d *decoder) piece(name string, data []byte) (done bool, err error) {
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		switch {
		case name == "error":
			return true, d.provider.Failure(0, data, d.model)
		case name == "ping":
			return false, nil
		case json.Valid(data):
			return true, d.broken(fmt.Sprintf("a part of the answer has a form that is not known: %.120q", data), err)
		}
		return true, d.broken(fmt.Sprintf("a part of the stream is no answer: %.120q", data), err)
	}
	kind := e.Type
	if kind == "" {
		kind = name
	}
	switch kind {
	case "message_start":
		if e.Message != nil {
			d.count(e.Message.Usage)
		}
	case "content_block_start":
		if e.Block != nil {
			return false, d.begin(e.Index, *e.Block)
		}
	case "content_block_delta":
		if e.Delta != nil {
			return false, d.goOn(e.Index, *e.Delta)
		}
	case "content_block_stop":
		if p := d.find(e.Index); p != nil {
			p.closed = true
		}
		return false, d.advance()
	case "message_delta":
		d.count(e.Usage)
		if e.Delta != nil && e.Delta.Stop != nil && *e.Delta.Stop != "" {
			d.stop = *e.Delta.Stop
		}
	case "message_stop":
		d.whole = true
		return true, nil
	case "message":
		return d.message(e)
	default:
		if kind == "error" || len(e.Error) > 0 && string(e.Error) != "null" {
			return true, d.provider.Failure(0, data, d.model)
		}
	}
	return false, nil
}

// message takes an answer that came whole.
func (d *decoder) message(e event) (done bool, err error) {
	d.parts, d.head = nil, 0
	for i, b := range e.Content {
		if err := d.begin(&i, b); err != nil {
			return true, err
		}
		d.parts[len(d.parts)-1].closed = true
		if err := d.advance(); err != nil {
			return true, err
		}
	}
	d.count(e.Usage)
	d.stop, d.whole = e.Stop, true
	return true, nil
}

// begin opens a block. A number that was used before makes a block of its own behind the other.
func (d *decoder) begin(index *int, b block) error {
	p := &part{index: len(d.parts), block: b}
	if index != nil {
		p.index = *index
	}
	if old := d.find(&p.index); old != nil { // the number comes again: the one before it has ended
		old.closed = true
	}
	at, _ := slices.BinarySearchFunc(d.parts, p.index+1, func(have *part, n int) int { return have.index - n })
	at = max(at, d.head) // what has come out cannot be preceded any more
	d.parts = slices.Insert(d.parts, at, p)
	d.Began()
	for _, first := range []struct {
		raw      json.RawMessage
		thinking bool
	}{{b.Thinking, true}, {b.Text, false}} {
		if err := d.say(p, first.raw, first.thinking); err != nil {
			return err
		}
	}
	p.seal = b.Signature
	return d.advance()
}

// find is the latest block of a number, or the latest of all when there is no number; nil when there is none.
func (d *decoder) find(index *int) *part {
	for i := len(d.parts) - 1; i >= 0; i-- {
		if index == nil || d.parts[i].index == *index {
			return d.parts[i]
		}
	}
	return nil
}

// goOn adds to a block. One whose beginning never came begins now.
func (d *decoder) goOn(index *int, more delta) error {
	p := d.find(index)
	if p == nil {
		if err := d.begin(index, block{}); err != nil {
			return err
		}
		p = d.find(index)
	}
	if len(more.Partial) > 0 {
		text, err := p.splice.Add(more.Partial)
		if err != nil {
			return d.broken("a part of a call is no text", err)
		}
		p.block.Type = "tool_use"
		p.args = append(p.args, text...)
		d.Began()
		return nil
	}
	if err := d.say(p, more.Thinking, true); err != nil {
		return err
	}
	if err := d.say(p, more.Text, false); err != nil {
		return err
	}
	p.seal += more.Signature
	return nil
}

// say emits a piece of text or thinking.
func (d *decoder) say(p *part, raw json.RawMessage, thinking bool) error {
	text, err := p.splice.Add(raw)
	if err != nil {
		return d.broken("a part of the answer is no text", err)
	}
	switch {
	case text == "":
		return nil
	case thinking:
		return d.out(p, chat.Delta{Thinking: text})
	}
	return d.out(p, chat.Delta{Text: text})
}

// out emits a delta now if its block is the first that is open, and when it is otherwise.
func (d *decoder) out(p *part, delta chat.Delta) error {
	if err := d.advance(); err != nil {
		return err
	}
	if d.head < len(d.parts) && d.parts[d.head] == p {
		if !d.Emit(delta) {
			return openai.ErrGone
		}
		return nil
	}
	p.waits = append(p.waits, delta)
	return nil
}

// advance passes over blocks that are closed and gives out what waited for that. A call holds nothing up.
func (d *decoder) advance() error {
	for d.head < len(d.parts) {
		p := d.parts[d.head]
		for len(p.waits) > 0 {
			delta := p.waits[0]
			p.waits = p.waits[1:]
			if !d.Emit(delta) {
				return openai.ErrGone
			}
		}
		if !p.closed && !d.whole {
			return nil
		}
		d.head++
	}
	return nil
}

// count takes the counts that an event has; a later one is the better one. All input is what is new, what was written
// to a cache and what was read from one.
func (d *decoder) count(u *usage) {
	if u == nil {
		return
	}
	d.counted = true
	read := func(n *int, into *int) {
		if n != nil && (*n > 0 || *into == 0) {
			*into = max(*n, 0)
		}
	}
	fresh := d.usage.Input - d.usage.CachedInput - d.usage.CacheWrite
	read(u.Input, &fresh)
	read(u.Created, &d.usage.CacheWrite)
	read(u.Cached, &d.usage.CachedInput)
	read(u.Output, &d.usage.Output)
	d.usage.Input = fresh + d.usage.CachedInput + d.usage.CacheWrite
}

// end emits what still waits, the seal of the thoughts, the calls, and the last delta. Several seals belong to several
// thoughts, which have become one text: none of them fits it.
func (d *decoder) end() error {
	if err := d.advance(); err != nil {
		if errors.Is(err, openai.ErrGone) {
			return nil
		}
		return err
	}
	seal, seals := "", 0
	for _, p := range d.parts {
		if p.seal != "" {
			seal = p.seal
			seals++
		}
	}
	if seals == 1 && !d.Emit(chat.Delta{Seal: seal}) {
		return nil
	}
	for _, p := range d.parts {
		if p.block.Type != "tool_use" {
			continue
		}
		call := chat.Call{Name: p.block.Name}
		text := p.args
		if len(text) == 0 {
			text = unquoted(p.block.Input)
		}
		call.Args, call.Raw = local.Arguments(text)
		call.ID = d.ids.Name(p.block.ID)
		if !d.Emit(chat.Delta{Call: &call}) {
			return nil
		}
	}
	last := chat.Delta{Finish: finish(d.stop)}
	if d.counted {
		last.Usage = &d.usage
	}
	d.Emit(last)
	return nil
}

// unquoted is the text that a JSON string holds, and anything else as it is: some servers send an object as a text.
func unquoted(raw json.RawMessage) []byte {
	var text string
	if json.Unmarshal(raw, &text) == nil && text != "" {
		return []byte(text)
	}
	return raw
}

func finish(reason string) chat.Finish {
	switch reason {
	case "max_tokens", "model_context_window_exceeded":
		return chat.CutShort
	}
	return chat.Stopped
}
