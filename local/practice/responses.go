package practice

import (
	"encoding/json"
	"fmt"
	"net/http"

	"interpreter/local/chat"
)

// responsesRequest is what POST /v1/responses takes.
type responsesRequest struct {
	Model        string          `json:"model"`
	Instructions string          `json:"instructions"`
	Input        json.RawMessage `json:"input"`
	Tools        []struct {
		Type        string          `json:"type"`
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"tools"`
	Stream    bool `json:"stream"`
	Output    int  `json:"max_output_tokens"`
	Reasoning struct {
		Effort string `json:"effort"`
	} `json:"reasoning"`
}

type responsesItem struct {
	Type    string          `json:"type"`
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	CallID  string          `json:"call_id"`
	Name    string          `json:"name"`
	Args    string          `json:"arguments"`
	Output  json.RawMessage `json:"output"`
	Summary json.RawMessage `json:"summary"`
}

func (r *responsesRequest) chat() (chat.Request, error) {
	req := chat.Request{Effort: r.Reasoning.Effort, Output: r.Output}
	for _, t := range r.Tools {
		req.Tools = append(req.Tools, chat.Spec{Name: t.Name, Description: t.Description, Parameters: t.Parameters})
	}
	add := func(m chat.Message) { req.Messages = append(req.Messages, m) }
	if r.Instructions != "" {
		add(chat.Message{Role: chat.System, Text: r.Instructions})
	}
	var text string
	if json.Unmarshal(r.Input, &text) == nil {
		add(chat.Message{Role: chat.User, Text: text})
		return req, nil
	}
	var items []responsesItem
	if err := json.Unmarshal(r.Input, &items); err != nil {
		return req, fmt.Errorf("input is neither a text nor a list of items: %w", err)
	}
	for _, i := range items {
		switch i.Type {
		case "function_call":
			add(chat.Message{Role: chat.Assistant, Calls: []chat.Call{{ID: i.CallID, Name: i.Name, Args: object(i.Args), Raw: raw(i.Args)}}})
		case "function_call_output":
			add(chat.Message{Role: chat.Tool, Result: &chat.Result{CallID: i.CallID, Text: content(i.Output)}})
		case "reasoning":
			add(chat.Message{Role: chat.Assistant, Thinking: content(i.Summary)})
		case "message", "":
			role := chat.Role(i.Role)
			if role == "developer" {
				role = chat.System
			}
			add(chat.Message{Role: role, Text: content(i.Content)})
		}
	}
	return req, nil
}

func (s *Server) responses(w http.ResponseWriter, r *http.Request) {
	var in responsesRequest
	body, ok := s.read(w, r, &in)
	if !ok {
		return
	}
	req, err := in.chat()
	if err != nil {
		s.refuse(w, r, http.StatusBadRequest, err.Error())
		return
	}
	a, ok := s.take(w, r, Received{Wire: "responses", Body: body, Request: req}, in.Model)
	if !ok || !s.fits(w, r, in.Model, req) {
		return
	}
	v := &responsesVoice{stream: stream{w}, id: fmt.Sprintf("resp_%d", a.position+1), model: in.Model}
	if in.Stream {
		s.perform(w, r, a, v)
		return
	}
	s.perform(w, r, a, s.collect(w, r, func(got whole, finish chat.Finish, usage chat.Usage) {
		v.silent = true
		if got.thought != "" {
			v.think(got.thought)
		}
		if got.said != "" {
			v.text(got.said)
		}
		for _, c := range got.calls {
			v.call(c)
		}
		v.close()
		reply(w, http.StatusOK, v.response("completed", usage, nil))
	}))
}

// responsesVoice sends one item after the other: thinking, text and calls each are one.
type responsesVoice struct {
	stream
	id, model string
	silent    bool // collect the items, send nothing
	sequence  int
	items     []any
	open      string // kind of the item that is being written, "" when none
	written   string
	calls     int
}

func (v *responsesVoice) event(kind string, fields map[string]any) {
	if v.silent {
		return
	}
	fields["type"], fields["sequence_number"] = kind, v.sequence
	v.sequence++
	v.send("event: " + kind + "\ndata: " + string(encode(fields)) + "\n\n")
}

func (v *responsesVoice) itemID() string { return fmt.Sprintf("%s_%d", v.id, len(v.items)) }

func (v *responsesVoice) response(status string, usage chat.Usage, fault any) map[string]any {
	items := v.items
	if items == nil {
		items = []any{}
	}
	out := map[string]any{"id": v.id, "object": "response", "model": v.model, "status": status, "output": items, "error": fault, "incomplete_details": nil}
	if status == "completed" {
		out["usage"] = map[string]any{
			"input_tokens": usage.Input, "input_tokens_details": map[string]int{"cached_tokens": usage.CachedInput},
			"output_tokens": usage.Output, "output_tokens_details": map[string]int{"reasoning_tokens": usage.Reasoning},
			"total_tokens": usage.Input + usage.Output,
		}
	}
	return out
}

func (v *responsesVoice) begin() {
	v.stream.open("text/event-stream")
	v.event("response.created", map[string]any{"response": v.response("in_progress", chat.Usage{}, nil)})
	v.event("response.in_progress", map[string]any{"response": v.response("in_progress", chat.Usage{}, nil)})
}

// start opens an item of a kind unless it is open already.
func (v *responsesVoice) start(kind string) {
	if v.open == kind {
		return
	}
	v.close()
	v.open, v.written = kind, ""
	v.event("response.output_item.added", map[string]any{"output_index": len(v.items), "item": v.item("in_progress")})
	if kind == "message" {
		v.event("response.content_part.added", map[string]any{
			"item_id": v.itemID(), "output_index": len(v.items), "content_index": 0, "part": map[string]any{"type": "output_text", "text": "", "annotations": []any{}},
		})
	}
}

// item is the open item as it stands.
func (v *responsesVoice) item(status string) map[string]any {
	if v.open == "reasoning" {
		return map[string]any{
			"type": "reasoning", "id": v.itemID(), "encrypted_content": v.written,
			"summary": []any{map[string]any{"type": "summary_text", "text": v.written}},
		}
	}
	parts := []any{}
	if status == "completed" {
		parts = append(parts, map[string]any{"type": "output_text", "text": v.written, "annotations": []any{}})
	}
	return map[string]any{"type": "message", "id": v.itemID(), "role": "assistant", "status": status, "content": parts}
}

// close ends the open item.
func (v *responsesVoice) close() {
	switch v.open {
	case "":
		return
	case "message":
		v.event("response.output_text.done", map[string]any{"item_id": v.itemID(), "output_index": len(v.items), "content_index": 0, "text": v.written})
		v.event("response.content_part.done", map[string]any{
			"item_id": v.itemID(), "output_index": len(v.items), "content_index": 0, "part": map[string]any{"type": "output_text", "text": v.written, "annotations": []any{}},
		})
	case "reasoning":
		v.event("response.reasoning_summary_text.done", map[string]any{"item_id": v.itemID(), "output_index": len(v.items), "summary_index": 0, "text": v.written})
	}
	v.finishItem(v.item("completed"))
	v.open = ""
}

func (v *responsesVoice) finishItem(item map[string]any) {
	v.event("response.output_item.done", map[string]any{"output_index": len(v.items), "item": item})
	v.items = append(v.items, item)
}

func (v *responsesVoice) text(piece string) {
	v.start("message")
	v.written += piece
	v.event("response.output_text.delta", map[string]any{"item_id": v.itemID(), "output_index": len(v.items), "content_index": 0, "delta": piece})
}

func (v *responsesVoice) think(piece string) {
	v.start("reasoning")
	v.written += piece
	v.event("response.reasoning_summary_text.delta", map[string]any{"item_id": v.itemID(), "output_index": len(v.items), "summary_index": 0, "delta": piece})
}

func (v *responsesVoice) call(c chat.Call) {
	v.close()
	item := func(status, args string) map[string]any {
		return map[string]any{"type": "function_call", "id": v.itemID(), "call_id": c.ID, "name": c.Name, "arguments": args, "status": status}
	}
	at := map[string]any{"item_id": v.itemID(), "output_index": len(v.items)}
	v.event("response.output_item.added", map[string]any{"output_index": len(v.items), "item": item("in_progress", "")})
	v.event("response.function_call_arguments.delta", map[string]any{"item_id": at["item_id"], "output_index": at["output_index"], "delta": arguments(c)})
	v.event("response.function_call_arguments.done", map[string]any{"item_id": at["item_id"], "output_index": at["output_index"], "arguments": arguments(c)})
	v.finishItem(item("completed", arguments(c)))
	v.calls++
}

func (v *responsesVoice) malformed(raw string) { v.send("data: " + raw + "\n\n") }

func (v *responsesVoice) fault(text string) {
	v.event("response.failed", map[string]any{"response": v.response("failed", chat.Usage{}, map[string]any{"code": "server_error", "message": text})})
}

// end says completed even after a stop at the limit, as Ollama does.
func (v *responsesVoice) end(_ chat.Finish, usage chat.Usage) {
	v.close()
	v.event("response.completed", map[string]any{"response": v.response("completed", usage, nil)})
}
