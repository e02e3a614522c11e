package harness

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"interpreter/local/chat"
)

// Size is how much something weighs: bytes on the chat wire, and tokens at four bytes each.
type Size struct {
	Bytes  int `json:"bytes"`
	Tokens int `json:"tokens"`
}

// Sizes split a request by what it is made of. Instructions is the system message, Context everything else said.
type Sizes struct {
	Instructions Size `json:"instructions"`
	Tools        Size `json:"tools"`
	Context      Size `json:"context"`
	Total        Size `json:"total"` // of the whole, brackets included
}

// Stats measures a request as the chat wire would carry it. A schema that is not JSON is a broken invariant.
func Stats(messages []chat.Message, tools []chat.Spec) Sizes {
	var s Sizes
	for _, m := range messages {
		if m.Role == chat.System {
			s.Instructions.Bytes += len(mustMarshal(wireMessage(m)))
		} else {
			s.Context.Bytes += len(mustMarshal(wireMessage(m)))
		}
	}
	if len(tools) > 0 {
		s.Tools.Bytes = len(mustMarshal(wireTools(tools)))
	}
	s.Total.Bytes = len(mustMarshal(wire(chat.Request{Messages: messages, Tools: tools})))
	for _, size := range []*Size{&s.Instructions, &s.Tools, &s.Context, &s.Total} {
		size.Tokens = (size.Bytes + 3) / 4
	}
	return s
}

// WireJSON shows a request as {"messages":[…],"tools":[…]} in the shape of the chat-completions wire.
func WireJSON(req chat.Request) ([]byte, error) {
	return marshal(wire(req))
}

func wire(req chat.Request) wireBody {
	body := wireBody{Messages: []wireChat{}, Tools: wireTools(req.Tools)}
	var shown []chat.Image // by the results of this group: a result is text on this wire
	for i, m := range req.Messages {
		if m.Result != nil {
			shown = append(shown, m.Images...)
			m.Images = nil
		}
		body.Messages = append(body.Messages, wireMessage(m))
		last := i == len(req.Messages)-1 || req.Messages[i+1].Result == nil
		if len(shown) > 0 && last {
			body.Messages = append(body.Messages, wireMessage(chat.Message{Role: chat.User, Images: shown}))
			shown = nil
		}
	}
	return body
}

type wireBody struct {
	Messages []wireChat `json:"messages"`
	Tools    []wireTool `json:"tools,omitempty"`
}

type wireChat struct {
	Role     chat.Role  `json:"role"`
	Thinking string     `json:"reasoning_content,omitempty"`
	Content  any        `json:"content"`
	Calls    []wireCall `json:"tool_calls,omitempty"`
	CallID   string     `json:"tool_call_id,omitempty"`
}

type wireCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function wireFunction `json:"function"`
}

type wireFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type wireTool struct {
	Type     string    `json:"type"`
	Function chat.Spec `json:"function"`
}

type wirePart struct {
	Type  string     `json:"type"`
	Text  string     `json:"text,omitempty"`
	Image *wireImage `json:"image_url,omitempty"`
}

type wireImage struct {
	URL string `json:"url"`
}

func wireMessage(m chat.Message) wireChat {
	w := wireChat{Role: m.Role, Thinking: m.Thinking, Content: m.Text}
	if m.Result != nil {
		w.CallID, w.Content = m.Result.CallID, m.Result.Text
	}
	for _, c := range m.Calls {
		w.Calls = append(w.Calls, wireCall{c.ID, "function", wireFunction{c.Name, string(c.Args)}})
	}
	if len(m.Images) > 0 {
		parts := []wirePart{}
		if m.Text != "" {
			parts = append(parts, wirePart{Type: "text", Text: m.Text})
		}
		for _, i := range m.Images {
			url := "data:" + i.MIME + ";base64," + base64.StdEncoding.EncodeToString(i.Data)
			parts = append(parts, wirePart{Type: "image_url", Image: &wireImage{url}})
		}
		w.Content = parts
	}
	return w
}

func wireTools(specs []chat.Spec) []wireTool {
	var tools []wireTool
	for _, s := range specs {
		tools = append(tools, wireTool{"function", s})
	}
	return tools
}

func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode a request: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func mustMarshal(v any) []byte {
	raw, err := marshal(v)
	if err != nil {
		panic(err.Error())
	}
	return raw
}
