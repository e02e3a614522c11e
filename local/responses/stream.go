package responses

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"interpreter/local"
	"interpreter/local/chat"
	"interpreter/local/openai"
)

// event is one event of an answer, or all of it from a server that does not stream: that is a response with its items.
type event struct {
	Type      string          `json:"type"`
	Index     *int            `json:"output_index"`
	ItemID    string          `json:"item_id"`
	Delta     json.RawMessage `json:"delta"`
	Arguments json.RawMessage `json:"arguments"`
	Item      *item           `json:"item"`
	Response  *response       `json:"response"`
	Error     json.RawMessage `json:"error"`

	Object string `json:"object"`
}

type response struct {
	Status     string          `json:"status"`
	Output     []item          `json:"output"`
	Error      json.RawMessage `json:"error"`
	Incomplete *struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Usage *struct {
		Input   int `json:"input_tokens"`
		Output  int `json:"output_tokens"`
		InputIn *struct {
			Cached int `json:"cached_tokens"`
		} `json:"input_tokens_details"`
		OutputIn *struct {
			Reasoning int `json:"reasoning_tokens"`
		} `json:"output_tokens_details"`
	} `json:"usage"`
}

// item is a part of an answer: thoughts, a text or a call.
type item struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Content   []content       `json:"content"`
	Summary   []content       `json:"summary"`
	Sealed    string          `json:"encrypted_content"`
}

type content struct {
	Type    string          `json:"type"`
	Text    json.RawMessage `json:"text"`
	Refusal json.RawMessage `json:"refusal"`
}

// decoder turns the body of one answer into deltas. Calls come out when the answer has ended: until then their
// arguments can go on, and an answer that is cut may have been about to change them.
type decoder struct {
	openai.Hearing
	provider *openai.Provider
	model    string
	ids      *local.IDs
	limit    int // tokens that the answer may have, 0 when nobody said

	parts  []*part
	finish chat.Finish
	whole  bool
	usage  *chat.Usage
}

func newDecoder(p *openai.Provider, model string, ids *local.IDs, h openai.Hearing) *decoder {
	return &decoder{Hearing: h, provider: p, model: model, ids: ids}
}

// read decodes until the end of the answer. It ends without an error only after the event that ends a response or a whole
// one, or when nobody listens any more.
func (d *decoder) read(body io.Reader) error {
	err := d.provider.Frames(body, openai.Frame{
		Path: path, Model: d.model, Piece: d.piece, Whole: func() bool { return d.whole },
	})
	if errors.Is(err, openai.ErrGone) {
		return nil
	}
	if err != nil {
		return err
	}
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
	case "response.output_item.added", "response.output_item.done":
		if e.Item != nil {
			return false, d.take(e.Index, *e.Item, strings.HasSuffix(kind, ".done"))
		}
	case "response.output_text.delta", "response.refusal.delta":
		return false, d.say(d.find(e.Index, e.ItemID, "message"), e.Delta, false)
	case "response.reasoning_text.delta", "response.reasoning_summary_text.delta", "response.reasoning.delta", "response.reasoning_summary.delta":
		p := d.find(e.Index, e.ItemID, "reasoning")
		if p.kind == "" {
			p.kind = kind
		}
		if p.kind == kind {
			return false, d.say(p, e.Delta, true)
		}
	case "response.reasoning_summary_part.added": // another paragraph of the summary
		if p := d.find(e.Index, e.ItemID, "reasoning"); p.said.Len() > 0 && p.kind == "response.reasoning_summary_text.delta" {
			return false, d.put(p, "\n\n", true)
		}
	case "response.function_call_arguments.delta":
		p := d.find(e.Index, e.ItemID, "function_call")
		text, err := p.splice.Add(e.Delta)
		if err != nil {
			return true, d.broken("a part of a call is no text", err)
		}
		p.args = append(p.args, text...)
		d.Began()
	case "response.function_call_arguments.done":
		d.find(e.Index, e.ItemID, "function_call").settle(e.Arguments)
	case "response.completed", "response.incomplete", "response.done":
		return d.ended(e.Response, kind)
	case "response.failed", "response.cancelled":
		if e.Response != nil && given(e.Response.Error) {
			return true, d.failure(e.Response.Error)
		}
		return true, d.gaveUp(kind)
	default:
		return d.other(kind, e, data)
	}
	return false, nil
}

// other handles what is no event of an answer: an error, or a response that came whole.
func (d *decoder) other(kind string, e event, data []byte) (done bool, err error) {
	if kind == "error" || e.Object == "error" || given(e.Error) {
		return true, d.provider.Failure(0, data, d.model)
	}
	if e.Object != "response" {
		return false, nil
	}
	var r response
	if err := json.Unmarshal(data, &r); err != nil {
		return true, d.broken("a response has a form that is not known", err)
	}
	return d.ended(&r, "response."+r.Status)
}

func given(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// failure is what a response says of why it failed.
func (d *decoder) failure(raw json.RawMessage) *chat.Error {
	return d.provider.Failure(0, append(append([]byte(`{"error":`), raw...), '}'), d.model)
}

// ended takes the event that ends an answer. The response in it has all items once more: what did not come before is
// taken from there.
func (d *decoder) ended(r *response, kind string) (done bool, err error) {
	d.finish = chat.Stopped
	if r == nil {
		d.whole = true
		return true, nil
	}
	switch {
	case given(r.Error):
		return true, d.failure(r.Error)
	case kind == "response.failed" || kind == "response.cancelled":
		return true, d.gaveUp(kind)
	case kind == "response.in_progress" || kind == "response.queued":
		return true, d.broken("the server sent an answer that is not whole", nil)
	}
	if err := d.complete(r.Output); err != nil {
		return true, err
	}
	d.count(r)
	switch {
	case r.Status == "incomplete" || kind == "response.incomplete":
		if r.Incomplete == nil || r.Incomplete.Reason != "content_filter" {
			d.finish = chat.CutShort
		}
	case d.limit > 0 && d.usage != nil && d.usage.Output >= d.limit: // Ollama calls that completed too
		d.finish = chat.CutShort
	}
	d.whole = true
	return true, nil
}

func (d *decoder) gaveUp(kind string) *chat.Error {
	return &chat.Error{Kind: chat.Server, Model: d.model, Detail: "the server gave the answer up (" + kind + ")"}
}

// complete takes items that did not come as events. The n-th of a kind is the n-th that came.
func (d *decoder) complete(items []item) error {
	came := map[string][]*part{}
	for _, p := range d.parts {
		came[p.item.Type] = append(came[p.item.Type], p)
	}
	for i, it := range items {
		if len(came[it.Type]) == 0 {
			if err := d.fill(d.begin(&i, it), it, true); err != nil {
				return err
			}
			continue
		}
		p := came[it.Type][0]
		came[it.Type] = came[it.Type][1:]
		if p.done {
			continue
		}
		if err := d.fill(p, it, true); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) count(r *response) {
	if r.Usage == nil {
		return
	}
	u := &chat.Usage{Input: max(r.Usage.Input, 0), Output: max(r.Usage.Output, 0)}
	if in := r.Usage.InputIn; in != nil {
		u.CachedInput = max(0, min(in.Cached, u.Input))
	}
	if out := r.Usage.OutputIn; out != nil {
		u.Reasoning = max(0, min(out.Reasoning, u.Output))
	}
	d.usage = u
}

// end emits the seal of the thoughts, the calls, and the last delta. Several seals belong to several thoughts, which
// have become one text: none of them fits it.
func (d *decoder) end() error {
	seal, seals := "", 0
	for _, p := range d.parts {
		if p.item.Type == "reasoning" && p.item.Sealed != "" {
			seal = p.item.Sealed
			seals++
		}
	}
	if seals == 1 && !d.Emit(chat.Delta{Seal: seal}) {
		return nil
	}
	for _, p := range d.parts {
		if p.item.Type != "function_call" {
			continue
		}
		call := chat.Call{Name: p.item.Name}
		call.Args, call.Raw = local.Arguments(p.args)
		call.ID = d.ids.Name(cmp.Or(p.item.CallID, p.item.ID))
		if !d.Emit(chat.Delta{Call: &call}) {
			return nil
		}
	}
	d.Emit(chat.Delta{Finish: d.finish, Usage: d.usage})
	return nil
}
