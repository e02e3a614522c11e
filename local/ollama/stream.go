package ollama

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/ollama/ollama/api"

	"interpreter/local"
	"interpreter/local/chat"
)

// longestLine bounds one line of a stream: a whole file may arrive in one.
const longestLine = 64 << 20

// chunk is one line of an answer. It stands beside api.ChatResponse for the sake of three things: the bytes of the
// arguments, an error line, and a call that arrives as a text.
type chunk struct {
	Message struct {
		Content  json.RawMessage `json:"content"`
		Thinking json.RawMessage `json:"thinking"`
		Calls    []struct {
			ID       string `json:"id"`
			Function struct {
				Name      string          `json:"name"`
				Arguments json.RawMessage `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	} `json:"message"`
	RemoteModel string          `json:"remote_model"`
	RemoteHost  string          `json:"remote_host"`
	Done        bool            `json:"done"`
	DoneReason  string          `json:"done_reason"`
	Error       json.RawMessage `json:"error"`
	api.Metrics
}

// decoder turns the lines of one answer into deltas.
type decoder struct {
	model string
	ids   *local.IDs
	mine  []chat.Call // calls of this answer

	remote            bool // it may run on another machine: a person said so
	content, thinking local.Splice
}

func newDecoder(model string, messages []chat.Message) *decoder {
	return &decoder{model: model, ids: local.NewIDs(messages)}
}

// read decodes until the line that says done. It ends without an error only after that line, or when emit asks it to
// stop.
func (d *decoder) read(body io.Reader, emit func(chat.Delta) bool) error {
	in := bufio.NewReaderSize(body, 32<<10)
	for {
		line, err := readLine(in)
		line = bytes.TrimSpace(line)
		if len(line) > 0 {
			done, failure := d.line(line, emit)
			if failure != nil && errors.Is(err, io.EOF) && d.torn(line) {
				return d.broken("the stream ended in the middle of a line", io.ErrUnexpectedEOF)
			}
			if done || failure != nil {
				return failure
			}
		}
		if errors.Is(err, io.EOF) {
			return d.broken("the stream ended before the answer did", io.ErrUnexpectedEOF)
		}
		if err != nil {
			return err
		}
	}
}

// readLine reads a line of any length up to the limit.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
		if len(line) > longestLine {
			return nil, fmt.Errorf("a line of the stream is longer than %d bytes", longestLine)
		}
	}
}

func (d *decoder) torn(line []byte) bool { return !json.Valid(line) }

func (d *decoder) broken(detail string, err error) *chat.Error {
	return &chat.Error{Kind: chat.Broken, Model: d.model, Detail: detail, Err: err}
}

func (d *decoder) noAnswer(line []byte, err error) *chat.Error {
	return d.broken(fmt.Sprintf("a line of the stream is no answer: %.120q", line), err)
}

// line handles one chunk and reports whether it was the last.
func (d *decoder) line(line []byte, emit func(chat.Delta) bool) (bool, error) {
	var c chunk
	if err := json.Unmarshal(line, &c); err != nil {
		return false, d.noAnswer(line, err)
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return false, classify(0, said(line), d.model)
	}
	if host := remote(c.RemoteHost, c.RemoteModel); host != "" && !d.remote {
		return false, &chat.Error{
			Kind: chat.Remote, Model: d.model, Detail: "the server ran it on " + host + "; what was sent may have left this machine",
			Remedy: "name a local model with -m",
		}
	}
	thinking, err := d.thinking.Add(c.Message.Thinking)
	if err != nil {
		return false, d.noAnswer(line, err)
	}
	content, err := d.content.Add(c.Message.Content)
	if err != nil {
		return false, d.noAnswer(line, err)
	}
	if thinking != "" && !emit(chat.Delta{Thinking: thinking}) {
		return true, nil
	}
	if content != "" && !emit(chat.Delta{Text: content}) {
		return true, nil
	}
	for _, raw := range c.Message.Calls {
		call := chat.Call{ID: raw.ID, Name: raw.Function.Name}
		call.Args, call.Raw = arguments(raw.Function.Arguments)
		if d.repeated(call) {
			continue
		}
		call.ID = d.ids.Name(call.ID)
		d.mine = append(d.mine, call)
		if !emit(chat.Delta{Call: &call}) {
			return true, nil
		}
	}
	if !c.Done {
		return false, nil
	}
	if c.DoneReason == "unload" {
		return false, &chat.Error{Kind: chat.Server, Model: d.model, Detail: "the model was unloaded before it answered"}
	}
	emit(chat.Delta{Finish: finish(c.DoneReason), Usage: usage(c.Metrics)})
	return true, nil
}

// repeated reports a call that a later chunk sends once more, word for word and under the server's own id.
func (d *decoder) repeated(call chat.Call) bool {
	if call.ID == "" {
		return false
	}
	for _, earlier := range d.mine {
		if earlier.ID == call.ID && earlier.Name == call.Name && bytes.Equal(earlier.Args, call.Args) {
			return true
		}
	}
	return false
}

// arguments keeps an object's bytes as they are. A text that holds an object is that object; nothing at all is an
// empty one; anything else is kept as what it is, beside an empty object.
func arguments(raw json.RawMessage) (json.RawMessage, string) {
	var text string
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return json.RawMessage("{}"), ""
	case raw[0] == '{':
		return bytes.Clone(raw), ""
	case json.Unmarshal(raw, &text) == nil:
		if local.IsObject(json.RawMessage(text)) {
			return json.RawMessage(text), ""
		}
		if text == "" {
			return json.RawMessage("{}"), ""
		}
		return json.RawMessage("{}"), text
	}
	return json.RawMessage("{}"), string(raw)
}

func finish(reason string) chat.Finish {
	if reason == "length" {
		return chat.CutShort
	}
	return chat.Stopped
}

func usage(m api.Metrics) *chat.Usage {
	u := &chat.Usage{Input: max(m.PromptEvalCount, 0), Output: max(m.EvalCount, 0), Load: m.LoadDuration, Prefill: m.PromptEvalDuration, Decode: m.EvalDuration}
	if m.PromptEvalCachedCount != nil {
		u.CachedInput = max(0, min(*m.PromptEvalCachedCount, u.Input))
	}
	return u
}
