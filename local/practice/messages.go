package practice

import (
	"encoding/json"
	"fmt"
	"net/http"

	"interpreter/local/chat"
)

// messagesRequest is what POST /v1/messages takes.
type messagesRequest struct {
	Model    string          `json:"model"`
	Output   int             `json:"max_tokens"`
	System   json.RawMessage `json:"system"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
	Tools []struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Schema      json.RawMessage `json:"input_schema"`
	} `json:"tools"`
	Thinking *struct {
		Type string `json:"type"`
	} `json:"thinking"`
	Stream bool `json:"stream"`
}

type messagesBlock struct {
	Type     string          `json:"type"`
	Text     string          `json:"text"`
	Thinking string          `json:"thinking"`
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Input    json.RawMessage `json:"input"`
	CallID   string          `json:"tool_use_id"`
	Content  json.RawMessage `json:"content"`
	Failed   bool            `json:"is_error"`
}

func (r *messagesRequest) chat() (chat.Request, error) {
	req := chat.Request{Output: r.Output}
	if r.Thinking != nil && r.Thinking.Type == "disabled" {
		req.Effort = "none"
	}
	for _, t := range r.Tools {
		req.Tools = append(req.Tools, chat.Spec{Name: t.Name, Description: t.Description, Parameters: t.Schema})
	}
	if system := content(r.System); system != "" {
		req.Messages = append(req.Messages, chat.Message{Role: chat.System, Text: system})
	}
	for n, m := range r.Messages {
		var text string
		if json.Unmarshal(m.Content, &text) == nil {
			req.Messages = append(req.Messages, chat.Message{Role: chat.Role(m.Role), Text: text})
			continue
		}
		var blocks []messagesBlock
		if err := json.Unmarshal(m.Content, &blocks); err != nil {
			return req, fmt.Errorf("messages.%d.content is neither a text nor a list of blocks: %w", n, err)
		}
		out := chat.Message{Role: chat.Role(m.Role)}
		for _, b := range blocks {
			switch b.Type {
			case "text":
				out.Text += b.Text
			case "thinking":
				out.Thinking += b.Thinking
			case "tool_use":
				out.Calls = append(out.Calls, chat.Call{ID: b.ID, Name: b.Name, Args: b.Input})
			case "tool_result":
				req.Messages = append(req.Messages, chat.Message{
					Role: chat.Tool, Result: &chat.Result{CallID: b.CallID, Text: content(b.Content), Failed: b.Failed},
				})
			}
		}
		if out.Text != "" || out.Thinking != "" || len(out.Calls) > 0 {
			req.Messages = append(req.Messages, out)
		}
	}
	return req, nil
}

func (s *Server) messages(w http.ResponseWriter, r *http.Request) {
	var in messagesRequest
	body, ok := s.read(w, r, &in)
	if !ok {
		return
	}
	req, err := in.chat()
	if err == nil && in.Output < 1 {
		err = fmt.Errorf("max_tokens is required")
	}
	if err != nil {
		s.refuse(w, r, http.StatusBadRequest, err.Error())
		return
	}
	a, ok := s.take(w, r, Received{Wire: "messages", Body: body, Request: req}, in.Model)
	if !ok || !s.fits(w, r, in.Model, req) {
		return
	}
	v := &messagesVoice{stream: stream{w}, id: fmt.Sprintf("msg_%d", a.position+1), model: in.Model, input: a.usage.Input}
	if in.Stream {
		s.perform(w, r, a, v)
		return
	}
	s.perform(w, r, a, s.collect(w, r, func(got whole, finish chat.Finish, usage chat.Usage) {
		var blocks []any
		if got.thought != "" {
			blocks = append(blocks, map[string]any{"type": "thinking", "thinking": got.thought})
		}
		if got.said != "" || len(got.calls) == 0 {
			blocks = append(blocks, map[string]any{"type": "text", "text": got.said})
		}
		for _, c := range got.calls {
			blocks = append(blocks, map[string]any{"type": "tool_use", "id": c.ID, "name": c.Name, "input": c.Args})
		}
		message := v.message(blocks, usage)
		message["stop_reason"] = stopReason(finish, len(got.calls))
		reply(w, http.StatusOK, message)
	}))
}

type messagesVoice struct {
	stream
	id, model string
	input     int
	block     int
	open      string // kind of the open block
	calls     int
}

func (v *messagesVoice) message(blocks []any, usage chat.Usage) map[string]any {
	if blocks == nil {
		blocks = []any{}
	}
	return map[string]any{
		"id": v.id, "type": "message", "role": "assistant", "model": v.model, "content": blocks, "stop_reason": nil, "stop_sequence": nil,
		"usage": map[string]int{
			"input_tokens": usage.Input, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": usage.Output,
		},
	}
}

func (v *messagesVoice) event(kind string, fields map[string]any) {
	fields["type"] = kind
	v.send("event: " + kind + "\ndata: " + string(encode(fields)) + "\n\n")
}

func (v *messagesVoice) begin() {
	v.stream.open("text/event-stream")
	v.event("message_start", map[string]any{"message": v.message(nil, chat.Usage{Input: v.input})})
}

// start opens a block unless one of its kind is open.
func (v *messagesVoice) start(kind string, block map[string]any) {
	if v.open == kind && kind != "tool_use" {
		return
	}
	v.close()
	v.open = kind
	block["type"] = kind
	v.event("content_block_start", map[string]any{"index": v.block, "content_block": block})
}

func (v *messagesVoice) close() {
	if v.open != "" {
		v.event("content_block_stop", map[string]any{"index": v.block})
		v.open = ""
		v.block++
	}
}

func (v *messagesVoice) delta(kind, field, text string) {
	v.event("content_block_delta", map[string]any{"index": v.block, "delta": map[string]any{"type": kind, field: text}})
}

func (v *messagesVoice) text(piece string) {
	v.start("text", map[string]any{"text": ""})
	v.delta("text_delta", "text", piece)
}

func (v *messagesVoice) think(piece string) {
	v.start("thinking", map[string]any{"thinking": ""})
	v.delta("thinking_delta", "thinking", piece)
}

func (v *messagesVoice) call(c chat.Call) {
	v.start("tool_use", map[string]any{"id": c.ID, "name": c.Name, "input": map[string]any{}})
	v.delta("input_json_delta", "partial_json", arguments(c))
	v.close()
	v.calls++
}

func (v *messagesVoice) malformed(raw string) { v.send("data: " + raw + "\n\n") }
func (v *messagesVoice) fault(text string) {
	v.event("error", map[string]any{"error": map[string]any{"type": "api_error", "message": text}})
}

func (v *messagesVoice) end(finish chat.Finish, usage chat.Usage) {
	v.close()
	v.event("message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": stopReason(finish, v.calls), "stop_sequence": nil},
		"usage": map[string]int{"input_tokens": usage.Input, "output_tokens": usage.Output},
	})
	v.event("message_stop", map[string]any{})
}

// stopReason names the finish of an answer as this wire does.
func stopReason(finish chat.Finish, calls int) string {
	switch {
	case finish == chat.CutShort:
		return "max_tokens"
	case calls > 0:
		return "tool_use"
	}
	return "end_turn"
}

func messagesError(status int, text string) any {
	kind := "api_error"
	switch {
	case status == http.StatusNotFound:
		kind = "not_found_error"
	case status == http.StatusTooManyRequests:
		kind = "rate_limit_error"
	case status == 529:
		kind = "overloaded_error"
	case status < 500:
		kind = "invalid_request_error"
	}
	type detail struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	}
	return struct {
		Type  string `json:"type"`
		Error detail `json:"error"`
	}{"error", detail{kind, text}}
}
