package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"interpreter/local"
	"interpreter/local/chat"
)

// chunk is one event of an answer, or all of it from a server that does not stream.
type chunk struct {
	Error   json.RawMessage `json:"error"`
	Object  string          `json:"object"`
	Choices []choice        `json:"choices"`
	Usage   *usage          `json:"usage"`
	Timings *timings        `json:"timings"`
}

type choice struct {
	Index   int     `json:"index"`
	Delta   *said   `json:"delta"`
	Message *said   `json:"message"`
	Finish  *string `json:"finish_reason"`
	Usage   *usage  `json:"usage"`
}

// said is what a choice adds. Servers name the thinking in several ways, some in two at once.
type said struct {
	Content   json.RawMessage `json:"content"`
	Refusal   json.RawMessage `json:"refusal"` // what is said in place of an answer
	Reasoned  json.RawMessage `json:"reasoning_content"`
	Reasoning json.RawMessage `json:"reasoning"`
	Thinking  json.RawMessage `json:"thinking"`
	Calls     []fragment      `json:"tool_calls"`
	Call      *struct {
		Name string          `json:"name"`
		Args json.RawMessage `json:"arguments"`
	} `json:"function_call"`
}

type usage struct {
	Prompt        int `json:"prompt_tokens"`
	Completion    int `json:"completion_tokens"`
	CacheHit      int `json:"prompt_cache_hit_tokens"`
	PromptDetails *struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails *struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

// timings are llama.cpp's own counts: tokens taken from its cache, read and written, and milliseconds.
type timings struct {
	Cached      int     `json:"cache_n"`
	Prompt      int     `json:"prompt_n"`
	PromptMS    float64 `json:"prompt_ms"`
	Predicted   int     `json:"predicted_n"`
	PredictedMS float64 `json:"predicted_ms"`
}

// decoder turns the body of one answer into deltas. Calls come out when the answer has ended: until then their
// arguments can go on, and an answer that is cut may have been about to change them.
type decoder struct {
	provider *Provider
	model    string
	calls    *calls
	emit     func(chat.Delta) bool
	began    func() // told of every piece of a call, which emit hears of only at the end
	ended    func() // told once, when the model has stopped and only counts can follow

	text, thinking local.Splice
	streamed       bool
	finish         string
	finished       bool
	faulted        bool // the server said that something went wrong
	usage          *usage
	timings        *timings
}

// read decodes until the end of the answer. It ends without an error only after a finish reason, a [DONE] or a whole
// object, or when emit asks it to stop.
func (d *decoder) read(body io.Reader) error {
	err := d.provider.Frames(body, Frame{
		Path: "/chat/completions", Model: d.model,
		Piece: func(name string, data []byte) (bool, error) {
			if name == "error" {
				return true, d.failure(data)
			}
			return false, d.chunk(data)
		},
		Mark:  func() (bool, error) { return true, d.done() },
		Whole: func() bool { return d.finished },
	})
	if errors.Is(err, ErrGone) {
		return nil
	}
	// When the connection fails after the model has stopped, its answer is whole.
	if err != nil && (!d.finished || d.faulted) {
		return err
	}
	return d.end()
}

func (d *decoder) broken(detail string, err error) *chat.Error { return Broken(d.model, detail, err) }

// failure is an error that a server reports within a stream that began well.
func (d *decoder) failure(body []byte) *chat.Error {
	d.faulted = true
	return d.provider.classify(0, faultIn(body), d.model)
}

// done handles the mark that ends a stream. Without a finish reason before it, a call whose end is missing was cut.
func (d *decoder) done() error {
	if !d.finished && d.calls.torn() {
		return d.broken("the stream ended in the middle of a call", io.ErrUnexpectedEOF)
	}
	d.finished = true
	return nil
}

// chunk handles one object of an answer.
func (d *decoder) chunk(data []byte) error {
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		if bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) && json.Valid(data) {
			return d.broken(fmt.Sprintf("a part of the answer has a form that is not known: %.120q", data), err)
		}
		return d.broken(fmt.Sprintf("a part of the stream is no answer: %.120q", data), err)
	}
	if given(c.Error) || c.Object == "error" {
		return d.failure(data)
	}
	if c.Usage != nil {
		d.usage = c.Usage
	}
	if c.Timings != nil {
		d.timings = c.Timings
	}
	for _, one := range c.Choices {
		if one.Index != 0 {
			continue
		}
		if one.Usage != nil {
			d.usage = one.Usage
		}
		if err := d.choice(one); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) choice(c choice) error {
	switch {
	case c.Delta != nil:
		d.streamed = true
		if err := d.said(*c.Delta, false); err != nil {
			return err
		}
	case c.Message != nil && !d.streamed: // beside a stream it says all of it again
		if err := d.said(*c.Message, true); err != nil {
			return err
		}
		d.finished = true
	}
	if c.Finish == nil || *c.Finish == "" {
		return nil
	}
	switch *c.Finish {
	case "error", "abort":
		return &chat.Error{Kind: chat.Server, Model: d.model, Detail: "the server gave the answer up (finish reason " + *c.Finish + ")"}
	}
	d.finish, d.finished = *c.Finish, true
	d.ended()
	return nil
}

func (d *decoder) said(s said, whole bool) error {
	thinking := s.Reasoned
	for _, other := range []json.RawMessage{s.Reasoning, s.Thinking} {
		if !given(thinking) {
			thinking = other
		}
	}
	if err := d.say(thinking, true); err != nil {
		return err
	}
	for _, text := range []json.RawMessage{s.Content, s.Refusal} {
		if err := d.say(text, false); err != nil {
			return err
		}
	}
	if s.Call != nil {
		f := fragment{Index: json.RawMessage("0")}
		f.Function.Name, f.Function.Args = s.Call.Name, s.Call.Args
		s.Calls = append(s.Calls, f)
	}
	if len(s.Calls) > 0 {
		d.began()
	}
	if err := d.calls.add(s.Calls, whole); err != nil {
		return d.broken("a part of a call is no text", err)
	}
	return nil
}

// say emits a text, an object that holds one, or a list of parts, some of which may be thinking.
func (d *decoder) say(raw json.RawMessage, thinking bool) error {
	if len(raw) == 0 {
		return nil
	}
	switch raw[0] {
	case '"':
		splice := &d.text
		if thinking {
			splice = &d.thinking
		}
		text, err := splice.Add(raw)
		if err != nil {
			return d.broken("a part of the answer is no text", err)
		}
		delta := chat.Delta{Text: text}
		if thinking {
			delta = chat.Delta{Thinking: text}
		}
		if text != "" && !d.emit(delta) {
			return ErrGone
		}
	case '[':
		var parts []json.RawMessage
		if err := json.Unmarshal(raw, &parts); err != nil {
			return d.broken("a part of the answer is no list", err)
		}
		for _, part := range parts {
			if err := d.say(part, thinking); err != nil {
				return err
			}
		}
	case '{':
		var part struct {
			Type                                        string
			Text, Content, Summary, Thinking, Reasoning json.RawMessage
		}
		if err := json.Unmarshal(raw, &part); err != nil {
			return d.broken("a part of the answer has a form that is not known", err)
		}
		for _, body := range []json.RawMessage{part.Thinking, part.Reasoning, part.Text, part.Content, part.Summary} {
			if given(body) {
				return d.say(body, thinking || given(part.Thinking) || given(part.Reasoning) || part.Type == "thinking" || part.Type == "reasoning")
			}
		}
	}
	return nil
}

// end emits the calls and the last delta.
func (d *decoder) end() error {
	for _, call := range d.calls.all() {
		if !d.emit(chat.Delta{Call: &call}) {
			return nil
		}
	}
	d.emit(chat.Delta{Finish: finish(d.finish), Usage: d.counts()})
	return nil
}

func finish(reason string) chat.Finish {
	switch reason {
	case "length", "max_tokens", "model_length":
		return chat.CutShort
	}
	return chat.Stopped
}

// counts puts together what the server counted, nil when it counted nothing.
func (d *decoder) counts() *chat.Usage {
	if d.usage == nil && d.timings == nil {
		return nil
	}
	var u chat.Usage
	if s := d.usage; s != nil {
		u.Input, u.Output, u.CachedInput = s.Prompt, s.Completion, s.CacheHit
		if s.PromptDetails != nil {
			u.CachedInput = max(u.CachedInput, s.PromptDetails.Cached)
		}
		if s.CompletionDetails != nil {
			u.Reasoning = s.CompletionDetails.Reasoning
		}
	}
	if t := d.timings; t != nil {
		if d.usage == nil {
			u.Input, u.Output = t.Cached+t.Prompt, t.Predicted
		}
		if u.CachedInput == 0 {
			u.CachedInput = t.Cached
		}
		u.Prefill, u.Decode = milliseconds(t.PromptMS), milliseconds(t.PredictedMS)
	}
	u.Input, u.Output = max(u.Input, 0), max(u.Output, 0)
	u.CachedInput, u.Reasoning = max(0, min(u.CachedInput, u.Input)), max(0, min(u.Reasoning, u.Output))
	return &u
}

func milliseconds(n float64) time.Duration {
	if n <= 0 || n > math.MaxInt64/float64(time.Millisecond) {
		return 0
	}
	return time.Duration(n * float64(time.Millisecond))
}
