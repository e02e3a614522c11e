package practice

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"interpreter/local/chat"
)

// completionsRequest is what POST /v1/chat/completions takes.
type completionsRequest struct {
	Model    string `json:"model"`
	Messages []struct {
		Role      string          `json:"role"`
		Content   json.RawMessage `json:"content"`
		Reasoning string          `json:"reasoning"`
		Thought   string          `json:"reasoning_content"`
		CallID    string          `json:"tool_call_id"`
		Name      string          `json:"name"`
		Calls     []struct {
			ID       string `json:"id"`
			Function struct {
				Name string `json:"name"`
				Args string `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	} `json:"messages"`
	Tools         []functionTool `json:"tools"`
	Stream        bool           `json:"stream"`
	StreamOptions struct {
		Usage bool `json:"include_usage"`
	} `json:"stream_options"`
	Effort string          `json:"reasoning_effort"`
	Format json.RawMessage `json:"response_format"`
	Output int             `json:"max_tokens"`
}

func (r *completionsRequest) chat() chat.Request {
	req := chat.Request{Tools: specs(r.Tools), Effort: r.Effort, Format: r.Format, Output: r.Output}
	for _, m := range r.Messages {
		out := chat.Message{Role: chat.Role(m.Role), Text: content(m.Content), Thinking: m.Reasoning + m.Thought}
		if out.Role == "developer" {
			out.Role = chat.System
		}
		for _, c := range m.Calls {
			out.Calls = append(out.Calls, chat.Call{ID: c.ID, Name: c.Function.Name, Args: object(c.Function.Args), Raw: raw(c.Function.Args)})
		}
		if out.Role == chat.Tool {
			out.Result, out.Text = &chat.Result{CallID: m.CallID, Name: m.Name, Text: out.Text}, ""
		}
		req.Messages = append(req.Messages, out)
	}
	return req
}

// content reads a text or a list of parts, of which only the text counts here.
func content(body json.RawMessage) string {
	var text string
	if len(body) == 0 || json.Unmarshal(body, &text) == nil {
		return text
	}
	var parts []struct {
		Text string `json:"text"`
	}
	json.Unmarshal(body, &parts)
	var all []string
	for _, p := range parts {
		if p.Text != "" {
			all = append(all, p.Text)
		}
	}
	return strings.Join(all, "\n")
}

// object and raw tell arguments that are a JSON object from others.
func object(args string) json.RawMessage {
	if raw(args) != "" || strings.TrimSpace(args) == "" {
		return json.RawMessage("{}")
	}
	return json.RawMessage(args)
}

func raw(args string) string {
	var fields map[string]json.RawMessage
	if strings.TrimSpace(args) != "" && json.Unmarshal([]byte(args), &fields) != nil {
		return args
	}
	return ""
}

func (s *Server) completions(w http.ResponseWriter, r *http.Request) {
	var in completionsRequest
	body, ok := s.read(w, r, &in)
	if !ok {
		return
	}
	req := in.chat()
	a, ok := s.take(w, r, Received{Wire: "completions", Body: body, Request: req}, in.Model)
	if !ok || !s.fits(w, r, in.Model, req) {
		return
	}
	v := &completionsVoice{
		stream: stream{w}, id: fmt.Sprintf("chatcmpl-%d", a.position+1), model: in.Model, created: time.Now().Unix(),
		usage: in.StreamOptions.Usage, parts: s.wire == "chat" || s.wire == "lmstudio", thought: "reasoning",
	}
	if s.wire == "chat" {
		v.thought = "reasoning_content"
	}
	if strings.HasPrefix(r.URL.Path, "/api/v0/") {
		v.extra = s.lmExtra(in.Model)
	}
	if in.Stream {
		s.perform(w, r, a, v)
		return
	}
	s.perform(w, r, a, s.collect(w, r, func(got whole, finish chat.Finish, usage chat.Usage) {
		message := map[string]any{"role": "assistant", "content": got.said}
		if got.thought != "" {
			message[v.thought] = got.thought
		}
		var calls []completionsCall
		for i, c := range got.calls {
			calls = append(calls, completionsCall{Index: i, ID: c.ID, Type: "function", Function: completionsFunction{c.Name, arguments(c)}})
		}
		if calls != nil {
			message["tool_calls"] = calls
			finish = ended(finish, len(calls))
		}
		out := v.chunk("chat.completion", []completionsChoice{{Message: message, Finish: &finish}}, counts(usage))
		if v.extra != nil {
			out.Stats, out.Info = v.extra(finish)
		}
		reply(w, http.StatusOK, out)
	}))
}

// fits turns away what is too long for the window, in the words of the servers that do. Ollama's wires never do.
func (s *Server) fits(w http.ResponseWriter, r *http.Request, model string, req chat.Request) bool {
	window, lm := s.jit(model)
	size := Estimate(req)
	if size <= window {
		return true
	}
	switch {
	case s.wire == "chat":
		text := fmt.Sprintf("the request exceeds the available context size: %d tokens, the context holds %d", size, window)
		reply(w, http.StatusBadRequest, map[string]any{"error": map[string]any{
			"code": http.StatusBadRequest, "type": "exceed_context_size_error", "message": text, "n_prompt_tokens": size, "n_ctx": window,
		}})
		return false
	case lm:
		s.refuse(w, r, http.StatusBadRequest, fmt.Sprintf(
			"cannot keep the first %d tokens of the prompt: the model was loaded with a context of only %d tokens", size, window))
		return false
	}
	return true
}

type completionsCall struct {
	Index    int                 `json:"index"`
	ID       string              `json:"id,omitempty"`
	Type     string              `json:"type,omitempty"`
	Function completionsFunction `json:"function"`
}

type completionsFunction struct {
	Name string `json:"name,omitempty"`
	Args string `json:"arguments"`
}

type completionsChoice struct {
	Index   int            `json:"index"`
	Delta   any            `json:"delta,omitempty"`
	Message map[string]any `json:"message,omitempty"`
	Finish  *chat.Finish   `json:"finish_reason"`
}

type completionsChunk struct {
	ID      string              `json:"id"`
	Object  string              `json:"object"`
	Created int64               `json:"created"`
	Model   string              `json:"model"`
	Choices []completionsChoice `json:"choices"`
	Usage   any                 `json:"usage,omitempty"`
	Stats   *lmStats            `json:"stats,omitempty"`
	Info    *lmModelInfo        `json:"model_info,omitempty"`
}

type completionsVoice struct {
	stream
	id, model, thought string
	created            int64
	usage, parts       bool
	calls              int
	extra              func(chat.Finish) (*lmStats, *lmModelInfo) // nil: a wire that adds nothing at the end
}

func (v *completionsVoice) chunk(object string, choices []completionsChoice, usage any) completionsChunk {
	return completionsChunk{ID: v.id, Object: object, Created: v.created, Model: v.model, Choices: choices, Usage: usage}
}

func (v *completionsVoice) data(x any) { v.send("data: " + string(encode(x)) + "\n\n") }

func (v *completionsVoice) delta(d map[string]any, finish *chat.Finish) {
	v.data(v.chunk("chat.completion.chunk", []completionsChoice{{Delta: d, Finish: finish}}, nil))
}

func (v *completionsVoice) begin() {
	v.open("text/event-stream")
	v.delta(map[string]any{"role": "assistant", "content": ""}, nil)
}
func (v *completionsVoice) text(piece string)    { v.delta(map[string]any{"content": piece}, nil) }
func (v *completionsVoice) think(piece string)   { v.delta(map[string]any{v.thought: piece}, nil) }
func (v *completionsVoice) malformed(raw string) { v.send("data: " + raw + "\n\n") }
func (v *completionsVoice) fault(text string) {
	v.data(completionsError(http.StatusInternalServerError, text))
}

// call sends a call whole, as Ollama does, or in fragments as the other servers do.
func (v *completionsVoice) call(c chat.Call) {
	args := arguments(c)
	half := len(args)
	if v.parts {
		for half = len(args) / 2; half > 0 && !utf8.RuneStart(args[half]); half-- {
		}
	}
	send := func(call completionsCall) { v.delta(map[string]any{"tool_calls": []completionsCall{call}}, nil) }
	send(completionsCall{Index: v.calls, ID: c.ID, Type: "function", Function: completionsFunction{c.Name, args[:half]}})
	if half < len(args) {
		send(completionsCall{Index: v.calls, Function: completionsFunction{Args: args[half:]}})
	}
	v.calls++
}

func (v *completionsVoice) end(finish chat.Finish, usage chat.Usage) {
	finish = ended(finish, v.calls)
	last := v.chunk("chat.completion.chunk", []completionsChoice{{Delta: map[string]any{}, Finish: &finish}}, nil)
	if v.extra != nil {
		last.Stats, last.Info = v.extra(finish)
		last.Usage = counts(usage)
	}
	v.data(last)
	if v.usage {
		v.data(v.chunk("chat.completion.chunk", []completionsChoice{}, counts(usage)))
	}
	v.send("data: [DONE]\n\n")
}

// ended names the finish of an answer as this wire does.
func ended(finish chat.Finish, calls int) chat.Finish {
	if calls > 0 && finish == chat.Stopped {
		return "tool_calls"
	}
	return finish
}

// arguments are the text of a call's arguments, bad ones included.
func arguments(c chat.Call) string {
	if c.Raw != "" {
		return c.Raw
	}
	return string(c.Args)
}

func counts(u chat.Usage) any {
	type some struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Total      int `json:"total_tokens"`
	}
	return some{u.Input, u.Output, u.Input + u.Output}
}

func completionsError(status int, text string) any {
	kind := "api_error"
	switch {
	case status == http.StatusNotFound:
		kind = "not_found_error"
	case status < 500:
		kind = "invalid_request_error"
	}
	type detail struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    *string `json:"code"`
	}
	return struct {
		Error detail `json:"error"`
	}{detail{Message: text, Type: kind}}
}
