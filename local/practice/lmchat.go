package practice

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"interpreter/local/chat"
)

// lmChatRequest is what POST /api/v1/chat takes. The server keeps the conversation, and there are no tools of the
// client in it.
type lmChatRequest struct {
	Model    string          `json:"model"`
	Input    json.RawMessage `json:"input"`
	System   string          `json:"system_prompt"`
	Stream   bool            `json:"stream"`
	Output   int             `json:"max_output_tokens"`
	Effort   string          `json:"reasoning"`
	Window   int             `json:"context_length"`
	Store    *bool           `json:"store"`
	Previous string          `json:"previous_response_id"`
	Tools    json.RawMessage `json:"tools"`
}

// lmInput reads a text, or a list of parts.
func lmInput(body json.RawMessage) (string, error) {
	var text string
	if json.Unmarshal(body, &text) == nil && text != "" {
		return text, nil
	}
	var parts []struct {
		Type    string `json:"type"`
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	if json.Unmarshal(body, &parts) != nil || len(parts) == 0 {
		return "", fmt.Errorf("input wants a text or a list of parts")
	}
	var all []string
	for _, p := range parts {
		if p.Role != "" && p.Role != "user" {
			return "", fmt.Errorf("input has no messages of the role %s; previous_response_id goes on with a conversation", p.Role)
		}
		if p.Content != "" {
			all = append(all, p.Content)
		}
	}
	return strings.Join(all, "\n"), nil
}

// lmRequest makes of a request and the conversation it goes on with what the script is asked.
func (s *Server) lmRequest(in lmChatRequest) (chat.Request, error) {
	text, err := lmInput(in.Input)
	if err != nil {
		return chat.Request{}, err
	}
	if len(in.Tools) > 0 && string(in.Tools) != "null" {
		return chat.Request{}, fmt.Errorf("tools is no field of this call")
	}
	req := chat.Request{Output: in.Output, Effort: map[string]string{"off": "none", "on": ""}[in.Effort]}
	if in.Effort != "off" && in.Effort != "on" {
		req.Effort = in.Effort
	}
	if in.System != "" {
		req.Messages = append(req.Messages, chat.Message{Role: chat.System, Text: in.System})
	}
	if in.Previous != "" {
		s.mu.Lock()
		before, ok := s.chats[in.Previous]
		s.mu.Unlock()
		if !ok {
			return chat.Request{}, fmt.Errorf("no response %q is kept", in.Previous)
		}
		req.Messages = append(req.Messages, before...)
	}
	req.Messages = append(req.Messages, chat.Message{Role: chat.User, Text: text})
	return req, nil
}

// lmChat is LM Studio's own chat call. Its stream tells of the load and of reading the prompt.
func (s *Server) lmChat(w http.ResponseWriter, r *http.Request) {
	var in lmChatRequest
	body, ok := s.read(w, r, &in)
	if !ok {
		return
	}
	req, err := s.lmRequest(in)
	if err != nil {
		s.refuse(w, r, http.StatusBadRequest, err.Error())
		return
	}
	a, ok := s.take(w, r, Received{Wire: "lmstudio", Body: body, Request: req}, in.Model)
	if !ok {
		return
	}
	i, loaded := s.instance(in.Model)
	if !loaded {
		if in.Window == 0 {
			in.Window = lmSmall
		}
		i = s.addInstance(lmConfig{Window: in.Window})
	}
	if !s.fits(w, r, i.ID, req) {
		return
	}
	v := &lmVoice{stream: stream{w}, instance: i.ID, loads: !loaded}
	keep := in.Store == nil || *in.Store
	v.keep = func(said string) string {
		if !keep {
			return ""
		}
		return s.remember(append(req.Messages, chat.Message{Role: chat.Assistant, Text: said}))
	}
	if in.Stream {
		s.perform(w, r, a, v)
		return
	}
	s.perform(w, r, a, s.collect(w, r, func(got whole, _ chat.Finish, usage chat.Usage) {
		if got.thought != "" {
			v.add("reasoning", got.thought)
		}
		if got.said != "" || len(got.calls) == 0 {
			v.add("message", got.said)
		}
		reply(w, http.StatusOK, v.result(usage))
	}))
}

// remember keeps a conversation and names it.
func (s *Server) remember(messages []chat.Message) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers++
	id := fmt.Sprintf("resp_%d", s.answers)
	delete(s.chats, fmt.Sprintf("resp_%d", s.answers-mostReceived))
	s.chats[id] = messages
	return id
}

type lmPart struct {
	Type    string `json:"type"`
	Content string `json:"content"`
}

// lmVoice writes the events of a chat. A part of the answer is open until one of another kind begins.
type lmVoice struct {
	stream
	instance string
	loads    bool
	keep     func(said string) string
	open     string
	calls    int
	output   []lmPart
}

func (v *lmVoice) event(kind string, fields map[string]any) {
	if fields == nil {
		fields = map[string]any{}
	}
	fields["type"] = kind
	v.send("event: " + kind + "\ndata: " + string(encode(fields)) + "\n\n")
}

func (v *lmVoice) begin() {
	v.stream.open("text/event-stream")
	v.event("chat.start", map[string]any{"model_instance_id": v.instance})
	if v.loads {
		v.event("model_load.start", map[string]any{"model_instance_id": v.instance})
		for _, at := range []float64{0.5, 1} {
			v.event("model_load.progress", map[string]any{"model_instance_id": v.instance, "progress": at})
		}
		v.event("model_load.end", map[string]any{"model_instance_id": v.instance, "load_time_seconds": 0.001})
	}
	v.event("prompt_processing.start", nil)
	for _, at := range []float64{0, 0.5, 1} {
		v.event("prompt_processing.progress", map[string]any{"progress": at})
	}
	v.event("prompt_processing.end", nil)
}

func (v *lmVoice) turn(kind string) {
	if v.open == kind {
		return
	}
	if v.open != "" {
		v.event(v.open+".end", nil)
	}
	if v.open = kind; kind != "" {
		v.event(kind+".start", nil)
	}
}

func (v *lmVoice) add(kind, piece string) {
	if n := len(v.output); n > 0 && v.output[n-1].Type == kind {
		v.output[n-1].Content += piece
		return
	}
	v.output = append(v.output, lmPart{kind, piece})
}

func (v *lmVoice) piece(kind, text string) {
	v.turn(kind)
	v.add(kind, text)
	v.event(kind+".delta", map[string]any{"content": text})
}

func (v *lmVoice) text(piece string)    { v.piece("message", piece) }
func (v *lmVoice) think(piece string)   { v.piece("reasoning", piece) }
func (v *lmVoice) malformed(raw string) { v.send("event: message.delta\ndata: " + raw + "\n\n") }

// call tells of a tool of the server's own, which it does not have.
func (v *lmVoice) call(c chat.Call) {
	v.turn("")
	v.event("tool_call.start", map[string]any{"tool": c.Name})
	v.event("tool_call.arguments", map[string]any{"tool": c.Name, "arguments": arguments(c)})
	v.event("tool_call.failure", map[string]any{"tool": c.Name, "reason": "no tool of this name is set up in the server"})
}

func (v *lmVoice) fault(text string) {
	v.event("error", map[string]any{"error": map[string]string{"type": "unknown", "message": text}})
}

func (v *lmVoice) end(_ chat.Finish, usage chat.Usage) {
	v.turn("")
	v.event("chat.end", map[string]any{"result": v.result(usage)})
}

func (v *lmVoice) result(usage chat.Usage) any {
	type stats struct {
		Input     int     `json:"input_tokens"`
		Output    int     `json:"total_output_tokens"`
		Reasoning int     `json:"reasoning_output_tokens"`
		Speed     float64 `json:"tokens_per_second"`
		First     float64 `json:"time_to_first_token_seconds"`
		Load      float64 `json:"model_load_time_seconds,omitempty"`
	}
	said := ""
	for _, p := range v.output {
		if p.Type == "message" {
			said += p.Content
		}
	}
	out := stats{Input: usage.Input, Output: usage.Output, Reasoning: usage.Reasoning, Speed: 1000, First: 0.001}
	if v.loads {
		out.Load = 0.001
	}
	return struct {
		Instance string   `json:"model_instance_id"`
		Output   []lmPart `json:"output"`
		Stats    stats    `json:"stats"`
		Response string   `json:"response_id,omitempty"`
	}{v.instance, append([]lmPart{}, v.output...), out, v.keep(said)}
}

// lmStats is what the chat call before 0.4 adds to an answer in the OpenAI style.
type lmStats struct {
	Speed  float64 `json:"tokens_per_second"`
	First  float64 `json:"time_to_first_token"`
	Time   float64 `json:"generation_time"`
	Reason string  `json:"stop_reason"`
}

// lmModelInfo is what it says of the model.
type lmModelInfo struct {
	Arch   string `json:"arch"`
	Quant  string `json:"quant"`
	Format string `json:"format"`
	Window int    `json:"context_length"`
}

// lmExtra is what the chat call before 0.4 adds to the end of an answer.
func (s *Server) lmExtra(model string) func(finish chat.Finish) (*lmStats, *lmModelInfo) {
	return func(finish chat.Finish) (*lmStats, *lmModelInfo) {
		reason := "eosFound"
		switch finish {
		case "tool_calls":
			reason = "toolCalls"
		case chat.CutShort:
			reason = "maxPredictedTokensReached"
		}
		i, _ := s.instance(model)
		return &lmStats{1000, 0.001, 0.001, reason}, &lmModelInfo{s.player.script.Architecture, "F32", "gguf", i.Config.Window}
	}
}
