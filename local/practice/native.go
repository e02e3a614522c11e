package practice

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"interpreter/local/chat"
)

// nativeRequest is what POST /api/chat takes.
type nativeRequest struct {
	Model     string          `json:"model"`
	Messages  []nativeMessage `json:"messages"`
	Tools     []functionTool  `json:"tools"`
	Stream    *bool           `json:"stream"`
	Think     json.RawMessage `json:"think"`
	Format    json.RawMessage `json:"format"`
	KeepAlive json.RawMessage `json:"keep_alive"`
	Truncate  *bool           `json:"truncate"`
	Options   map[string]any  `json:"options"`
}

type nativeMessage struct {
	Role       string       `json:"role"`
	Content    string       `json:"content"`
	Thinking   string       `json:"thinking,omitempty"`
	Images     [][]byte     `json:"images,omitempty"`
	Calls      []nativeCall `json:"tool_calls,omitempty"`
	ToolName   string       `json:"tool_name,omitempty"`
	ToolCallID string       `json:"tool_call_id,omitempty"`
}

type nativeCall struct {
	ID       string         `json:"id,omitempty"`
	Function nativeFunction `json:"function"`
}

type nativeFunction struct {
	Index int             `json:"index"`
	Name  string          `json:"name"`
	Args  json.RawMessage `json:"arguments"`
}

// functionTool is a tool in the form that Ollama and OpenAI share.
type functionTool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"function"`
}

func specs(tools []functionTool) []chat.Spec {
	var out []chat.Spec
	for _, t := range tools {
		out = append(out, chat.Spec{Name: t.Function.Name, Description: t.Function.Description, Parameters: t.Function.Parameters})
	}
	return out
}

func (r *nativeRequest) chat() chat.Request {
	req := chat.Request{Tools: specs(r.Tools), Format: r.Format, Options: r.Options}
	if n, ok := r.Options["num_ctx"].(float64); ok {
		req.Window = int(n)
	}
	if n, ok := r.Options["num_predict"].(float64); ok {
		req.Output = int(n)
	}
	var on bool
	if json.Unmarshal(r.Think, &on) == nil && len(r.Think) > 0 && string(r.Think) != "null" {
		if req.Effort = "none"; on {
			req.Effort = "on"
		}
	} else {
		json.Unmarshal(r.Think, &req.Effort)
	}
	for _, m := range r.Messages {
		out := chat.Message{Role: chat.Role(m.Role), Text: m.Content, Thinking: m.Thinking}
		for _, data := range m.Images {
			out.Images = append(out.Images, chat.Image{Data: data})
		}
		for _, c := range m.Calls {
			out.Calls = append(out.Calls, chat.Call{ID: c.ID, Name: c.Function.Name, Args: c.Function.Args})
		}
		if out.Role == chat.Tool {
			out.Text, out.Result = "", &chat.Result{CallID: m.ToolCallID, Name: m.ToolName, Text: m.Content}
		}
		req.Messages = append(req.Messages, out)
	}
	return req
}

// chatNative is Ollama's own wire. No messages means: load, or unload.
func (s *Server) chatNative(w http.ResponseWriter, r *http.Request) {
	var in nativeRequest
	body, ok := s.read(w, r, &in)
	if !ok {
		return
	}
	req := in.chat()
	keep := keepAlive(in.KeepAlive)
	if len(in.Messages) == 0 {
		s.loadNative(w, r, in, req.Window, keep)
		return
	}
	a, ok := s.take(w, r, Received{Wire: "native", Body: body, Request: req}, in.Model)
	if !ok {
		return
	}
	asked := req.Window
	if asked == 0 {
		asked = 4096
	}
	window := s.load(asked, keep)
	if keep == 0 {
		defer s.unload()
	}
	if size := Estimate(req); size > window {
		if in.Truncate != nil && !*in.Truncate {
			s.refuse(w, r, http.StatusBadRequest, "the input length exceeds the context length")
			return
		}
		a.usage.Input = min(a.usage.Input, window)
	}
	v := &nativeVoice{stream: stream{w}, model: in.Model, from: time.Now()}
	if in.Stream == nil || *in.Stream {
		s.perform(w, r, a, v)
		return
	}
	s.perform(w, r, a, s.collect(w, r, func(got whole, finish chat.Finish, usage chat.Usage) {
		line := v.last(finish, usage)
		line.Message.Content, line.Message.Thinking = got.said, got.thought
		for i, c := range got.calls {
			if c.Raw != "" {
				line.Message.Content += leaked(c)
				continue
			}
			line.Message.Calls = append(line.Message.Calls, nativeCall{c.ID, nativeFunction{i, c.Name, c.Args}})
		}
		reply(w, http.StatusOK, line)
	}))
}

func (s *Server) loadNative(w http.ResponseWriter, r *http.Request, in nativeRequest, window int, keep time.Duration) {
	if !s.known(in.Model) {
		s.refuse(w, r, http.StatusNotFound, fmt.Sprintf("model '%s' not found", in.Model))
		return
	}
	reason := "load"
	if keep == 0 {
		reason = "unload"
		s.unload()
	} else {
		if window == 0 {
			window = 4096
		}
		s.load(window, keep)
	}
	reply(w, http.StatusOK, nativeLine{
		Model: in.Model, Created: time.Now().UTC(), Message: nativeMessage{Role: "assistant"}, Done: true, Reason: reason,
	})
}

// keepAlive reads a number of seconds or a duration; 5 minutes when there is none, 0 unloads.
func keepAlive(raw json.RawMessage) time.Duration {
	const forever = 100 * 365 * 24 * time.Hour
	var seconds float64
	var text string
	d := 5 * time.Minute
	if json.Unmarshal(raw, &seconds) == nil && len(raw) > 0 && string(raw) != "null" {
		d = time.Duration(seconds * float64(time.Second))
	} else if json.Unmarshal(raw, &text) == nil {
		if parsed, err := time.ParseDuration(text); err == nil {
			d = parsed
		}
	}
	if d < 0 {
		return forever
	}
	return d
}

// nativeLine is a line of the answer.
type nativeLine struct {
	Model    string        `json:"model"`
	Created  time.Time     `json:"created_at"`
	Message  nativeMessage `json:"message"`
	Done     bool          `json:"done"`
	Reason   string        `json:"done_reason,omitempty"`
	Total    time.Duration `json:"total_duration,omitempty"`
	Load     time.Duration `json:"load_duration,omitempty"`
	Input    int           `json:"prompt_eval_count,omitempty"`
	Prefill  time.Duration `json:"prompt_eval_duration,omitempty"`
	Output   int           `json:"eval_count,omitempty"`
	Decoding time.Duration `json:"eval_duration,omitempty"`
}

type nativeVoice struct {
	stream
	model string
	from  time.Time
	calls int
}

func (v *nativeVoice) begin() { v.open("application/x-ndjson") }

func (v *nativeVoice) message(m nativeMessage) {
	m.Role = "assistant"
	v.line(nativeLine{Model: v.model, Created: time.Now().UTC(), Message: m})
}

func (v *nativeVoice) line(l any)           { v.send(string(encode(l)) + "\n") }
func (v *nativeVoice) text(piece string)    { v.message(nativeMessage{Content: piece}) }
func (v *nativeVoice) think(piece string)   { v.message(nativeMessage{Thinking: piece}) }
func (v *nativeVoice) malformed(raw string) { v.send(raw + "\n") }
func (v *nativeVoice) fault(text string)    { v.line(plainError{text}) }

func (v *nativeVoice) call(c chat.Call) {
	if c.Raw != "" { // this wire carries objects only: what is none stays in the text, as on a real server
		v.text(leaked(c))
		return
	}
	v.message(nativeMessage{Calls: []nativeCall{{c.ID, nativeFunction{v.calls, c.Name, c.Args}}}})
	v.calls++
}

func leaked(c chat.Call) string {
	return "<tool_call>\n{\"name\": \"" + c.Name + "\", \"arguments\": " + c.Raw + "}\n</tool_call>"
}

func (v *nativeVoice) end(finish chat.Finish, usage chat.Usage) { v.line(v.last(finish, usage)) }

func (v *nativeVoice) last(finish chat.Finish, usage chat.Usage) nativeLine {
	took := max(time.Since(v.from), 1)
	return nativeLine{
		Model: v.model, Created: time.Now().UTC(), Message: nativeMessage{Role: "assistant"}, Done: true, Reason: string(finish),
		Total: took, Load: 1, Input: usage.Input, Prefill: 1, Output: usage.Output, Decoding: took,
	}
}
