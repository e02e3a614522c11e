package event

import (
	"encoding/json"
	"fmt"
	"strings"

	"interpreter/local/chat"
)

// readBegun accepts our first line and a Codex rollout's, whose git facts are nested and whose source may be an
// object.
func readBegun(raw json.RawMessage) (Body, error) {
	var in struct {
		Begun
		Source json.RawMessage `json:"source"`
		Git    struct {
			Commit     string `json:"commit_hash"`
			Branch     string `json:"branch"`
			Repository string `json:"repository_url"`
		} `json:"git"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, err
	}
	b := in.Begun
	if json.Unmarshal(in.Source, &b.Source) != nil {
		b.Source = strings.TrimSpace(string(in.Source))
	}
	for _, f := range []struct {
		to   *string
		from string
	}{{&b.Commit, in.Git.Commit}, {&b.Branch, in.Git.Branch}, {&b.Repository, in.Git.Repository}} {
		if *f.to == "" {
			*f.to = f.from
		}
	}
	return b, nil
}

// item is a Codex response item, the parts that carry a conversation.
type item struct {
	Type      string          `json:"type"`
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	Summary   json.RawMessage `json:"summary"`
	Name      string          `json:"name"`
	Arguments string          `json:"arguments"`
	Input     string          `json:"input"`
	CallID    string          `json:"call_id"`
	Output    json.RawMessage `json:"output"`
}

// readItem turns a Codex response item into the event that says the same. Items of the other program's own
// scaffolding (developer messages, context blocks) stay foreign: our harness brings its own.
func readItem(raw json.RawMessage) (Body, error) {
	var it item
	if err := json.Unmarshal(raw, &it); err != nil {
		return nil, err
	}
	switch it.Type {
	case "message":
		text, images := content(it.Content)
		switch {
		case it.Role == "user" && !scaffolding(text):
			return Prompted{Message: chat.Message{Role: chat.User, Text: text, Images: images}}, nil
		case it.Role == "assistant" && text != "":
			return Said{Message: chat.Message{Role: chat.Assistant, Text: text}}, nil
		}
	case "reasoning":
		text, _ := content(it.Content)
		if text == "" {
			text, _ = content(it.Summary)
		}
		if text != "" {
			return Said{Message: chat.Message{Role: chat.Assistant, Thinking: text}}, nil
		}
	case "function_call", "custom_tool_call":
		return Said{Message: chat.Message{Role: chat.Assistant, Calls: []chat.Call{it.call()}}}, nil
	case "function_call_output", "custom_tool_call_output":
		words, _ := content(it.Output)
		return Did{CallID: it.CallID, Status: Completed, Words: words}, nil
	}
	return nil, nil
}

func (it item) call() chat.Call {
	if it.Type == "custom_tool_call" {
		args, err := marshal(map[string]string{"input": it.Input})
		if err != nil {
			args = []byte("{}")
		}
		return chat.Call{ID: it.CallID, Name: it.Name, Args: args}
	}
	c := chat.Call{ID: it.CallID, Name: it.Name, Args: json.RawMessage(it.Arguments)}
	var object map[string]json.RawMessage
	if json.Unmarshal(c.Args, &object) != nil || object == nil {
		c.Args, c.Raw = json.RawMessage("{}"), it.Arguments
	}
	return c
}

// content reads what Codex puts where text is meant: a string, a list of parts, or an object around either.
func content(raw json.RawMessage) (string, []chat.Image) {
	var text string
	if len(raw) == 0 || json.Unmarshal(raw, &text) == nil {
		return text, nil
	}
	var parts []struct {
		Text  string `json:"text"`
		Image string `json:"image_url"`
	}
	if json.Unmarshal(raw, &parts) == nil {
		var texts []string
		var images []chat.Image
		for _, p := range parts {
			if p.Text != "" {
				texts = append(texts, p.Text)
			}
			if img, ok := dataURL(p.Image); ok {
				images = append(images, img)
			}
		}
		return strings.Join(texts, "\n"), images
	}
	var object struct {
		Content json.RawMessage `json:"content"`
		Output  string          `json:"output"`
	}
	if json.Unmarshal(raw, &object) != nil {
		return "", nil
	}
	if object.Output != "" {
		return object.Output, nil
	}
	return content(object.Content)
}

func dataURL(url string) (chat.Image, bool) {
	rest, ok := strings.CutPrefix(url, "data:")
	mime, data, found := strings.Cut(rest, ";base64,")
	if !ok || !found {
		return chat.Image{}, false
	}
	var img chat.Image
	if json.Unmarshal(fmt.Appendf(nil, "%q", data), &img.Data) != nil {
		return chat.Image{}, false
	}
	img.MIME = mime
	return img, true
}

// scaffolding tells a context block from what a person said, by how it starts.
func scaffolding(text string) bool {
	text = strings.TrimSpace(text)
	for _, mark := range []string{
		"<environment_context>", "<user_instructions>", "<permissions", "<skill", "<turn_aborted>",
		"<user_shell_command>", "# AGENTS.md instructions", "<INSTRUCTIONS>",
	} {
		if strings.HasPrefix(text, mark) {
			return true
		}
	}
	return false
}

// readCompacted accepts our messages and a Codex rollout's items or bare summary.
func readCompacted(raw json.RawMessage) (Body, error) {
	var in struct {
		Compacted
		Message  string            `json:"message"`
		Messages []json.RawMessage `json:"replacement_history"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, err
	}
	b := in.Compacted
	b.Messages = nil
	var fold Fold
	for _, m := range in.Messages {
		var probe item
		if json.Unmarshal(m, &probe) == nil && probe.Type != "" {
			if body, err := readItem(m); err == nil && body != nil {
				fold.Add(Event{Body: body})
			}
			continue
		}
		var s storedMessage
		if err := json.Unmarshal(m, &s); err != nil {
			return nil, err
		}
		b.Messages = append(b.Messages, s.message())
	}
	b.Messages = append(b.Messages, fold.Messages()...)
	if len(in.Messages) == 0 && in.Message != "" {
		b.Messages = []chat.Message{{Role: chat.User, Text: in.Message}}
	}
	return b, nil
}

// rolledBack reads from a Codex record how many turns the person took back.
func rolledBack(f Foreign) int {
	if f.Type != "event_msg" {
		return 0
	}
	var in struct {
		Type  string `json:"type"`
		Turns int    `json:"num_turns"`
	}
	if json.Unmarshal(f.Payload, &in) != nil || in.Type != "thread_rolled_back" {
		return 0
	}
	return in.Turns
}
