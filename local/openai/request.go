package openai

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"interpreter/local"
	"interpreter/local/chat"
)

// field is a member of a request beside its messages and tools.
type field struct {
	name  string
	value json.RawMessage
}

// encode writes the body of a request by hand, for two reasons: arguments of earlier calls must keep the bytes that
// the model wrote, and the messages of one request must be the first bytes of those of the next.
func (m *model) encode(req chat.Request, f form) []byte {
	b := []byte(`{"model":`)
	b = local.AppendJSON(b, m.id)
	b = append(b, `,"messages":[`...)
	for i, message := range f.arrange(req.Messages) {
		if i > 0 {
			b = append(b, ',')
		}
		b = message.append(b, f)
	}
	b = append(b, ']')
	if len(req.Tools) > 0 {
		b = append(b, `,"tools":[`...)
		for i, tool := range req.Tools {
			if i > 0 {
				b = append(b, ',')
			}
			b = local.AppendTool(b, tool)
		}
		b = append(b, ']')
	}
	for _, member := range m.fields(req, f) {
		b = append(b, ',')
		b = local.AppendJSON(b, member.name)
		b = append(b, ':')
		b = append(b, member.value...)
	}
	return append(b, '}')
}

// sampling are the options this wire knows, by their names in chat.Request, in the order they are written in.
var sampling = [...]string{
	"temperature", "top_p", "top_k", "min_p", "typical_p", "repeat_penalty", "repeat_last_n", "presence_penalty",
	"frequency_penalty", "seed", "stop",
}

// fields are all members beside messages and tools. The same request always has the same, in the same order.
func (m *model) fields(req chat.Request, f form) []field {
	var all []field
	add := func(name string, value any) {
		if f.without[name] || slices.ContainsFunc(all, func(have field) bool { return have.name == name }) {
			return
		}
		raw, ok := value.(json.RawMessage)
		if !ok {
			raw = local.AppendJSON(nil, value)
		}
		all = append(all, field{name, raw})
	}
	if len(req.Tools) > 0 {
		add("parallel_tool_calls", true)
	}
	for _, name := range sampling {
		value, ok := req.Options[name]
		if name == "seed" && f.stumbled > 0 { // the same one would write the same answer again
			value, ok = seed(value)+int64(f.stumbled), true
		}
		if ok && value != nil {
			if name == "repeat_penalty" && m.provider.kind.Load() == "vllm" {
				name = "repetition_penalty"
			}
			add(name, value)
		}
	}
	if req.Output > 0 {
		add("max_tokens", req.Output)
	} else if n, ok := req.Options["num_predict"]; ok {
		add("max_tokens", n)
	}
	extra := maps.Clone(req.Extra)
	if effort, none := m.effort(req.Effort); effort != "" {
		add("reasoning_effort", effort)
		if none {
			extra = withoutThinking(extra)
		}
	}
	if len(req.Format) > 0 && json.Valid(req.Format) {
		strict := `"strict":true,`
		if f.lax {
			strict = ""
		}
		schema := append([]byte(`{"type":"json_schema","json_schema":{"name":"answer",`+strict+`"schema":`), req.Format...)
		add("response_format", json.RawMessage(append(schema, "}}"...)))
	}
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		switch name {
		case "model", "messages", "tools", "stream", "stream_options": // not anybody's to change
		default:
			add(name, extra[name])
		}
	}
	add("stream", true)
	add("stream_options", json.RawMessage(`{"include_usage":true}`))
	return all
}

// seed is an option of that name as a number, 0 when there is none.
func seed(value any) int64 {
	n, _ := strconv.ParseInt(fmt.Sprint(value), 10, 64)
	return n
}

// effort is a reasoning effort in the words of this wire, and whether it means no thinking at all. A model that is
// known not to think is told nothing.
func (m *model) effort(effort string) (word string, none bool) {
	if effort == "" || len(m.info.Capabilities) > 0 && !m.info.Can("thinking") {
		return "", false
	}
	switch effort {
	case "none":
		return "none", true
	case "minimal":
		return "low", false
	case "xhigh", "max", "ultra":
		return "high", false
	}
	return effort, false
}

// withoutThinking asks the template itself not to have the model think: servers that render templates pass it on.
func withoutThinking(extra map[string]any) map[string]any {
	const member = "chat_template_kwargs"
	settings := map[string]any{"enable_thinking": false}
	if given, ok := extra[member].(map[string]any); ok {
		maps.Copy(settings, given)
	}
	if extra == nil {
		extra = map[string]any{}
	}
	extra[member] = settings
	return extra
}
