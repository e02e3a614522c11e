package messages

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"interpreter/local"
	"interpreter/local/chat"
	"interpreter/local/openai"
)

// mostOutput is how many tokens an answer may have when nobody says: this wire demands a number.
const mostOutput = 32000

// leastOutput is asked for however full the window seems: how many tokens a prompt has is only estimated.
const leastOutput = 1024

// What messages can do without, where a server does not know it: the mark of a result that failed, and thoughts that
// are given back.
const (
	isError  = "is_error"
	thoughts = "thinking"
)

// encode writes the body of a request by hand, for two reasons: arguments of earlier calls keep the bytes that the
// model wrote, and a longer conversation begins with the bytes of the shorter one. What can change from request to
// request therefore stands behind the messages.
func (m *model) encode(req chat.Request) ([]byte, *openai.List) {
	list := m.members.List()
	b := []byte(`{"model":`)
	b = local.AppendJSON(b, m.id)
	system, said := opening(req.Messages)
	if len(system) > 0 {
		b = append(b, `,"system":[`...)
		for i, text := range system {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendText(b, text)
		}
		b = append(b, ']')
	}
	b = append(b, `,"messages":[`...)
	b = m.arrange(said, list).append(b)
	b = append(b, ']')
	if len(req.Tools) > 0 {
		b = append(b, `,"tools":[`...)
		for i, tool := range req.Tools {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendTool(b, tool)
		}
		b = append(b, ']')
	}
	m.add(list, req, len(b))
	return append(list.Append(b), '}'), list
}

// taken are the members of Request.Extra that this wire has; others belong to another one.
var taken = []string{"tool_choice", "thinking", "temperature", "top_p", "top_k", "stop_sequences", "chat_template_kwargs"}

// add adds the members beside model, system, messages and tools. size is what stands before them, in bytes.
func (m *model) add(list *openai.List, req chat.Request, size int) {
	output := m.output(req, size)
	list.Add("max_tokens", output)
	for _, name := range slices.Sorted(maps.Keys(req.Extra)) {
		if slices.Contains(taken, name) {
			list.Add(name, req.Extra[name])
		}
	}
	thinks := m.addThinking(list, req.Effort, output)
	for _, name := range []string{"temperature", "top_p", "top_k"} {
		if value, ok := req.Options[name]; ok && value != nil && !(thinks && m.provider.vendor) {
			list.Add(name, value)
		}
	}
	if stop, ok := req.Options["stop"]; ok && stop != nil {
		if word, ok := stop.(string); ok {
			stop = []string{word}
		}
		list.Add("stop_sequences", stop)
	}
	list.Add("stream", true)
}

// output is the number of tokens that an answer may have: what is asked for, or much, but no more than the window
// leaves beside a prompt of so many bytes.
func (m *model) output(req chat.Request, size int) int {
	output := req.Output
	if n, ok := req.Options["num_predict"].(int); ok && n > 0 && output <= 0 {
		output = n
	}
	if output <= 0 {
		output = mostOutput
	}
	if m.window <= 0 {
		return output
	}
	return min(output, max(m.window-local.Tokens(size), min(leastOutput, m.window/2), 1))
}

// leastBudget is the smallest that the wire allows for thoughts, in tokens.
const leastBudget = 1024

// budgets are what the words for an effort come to, in tokens.
var budgets = map[string]int{"minimal": 2048, "low": 4096, "medium": 8192, "high": 16384, "xhigh": 24576, "max": 24576, "ultra": 24576}

// addThinking says what a person wants of the model's thoughts, nothing where they said nothing. A model that is known
// not to think is told nothing. At least half of the answer stays for what is said.
func (m *model) addThinking(list *openai.List, effort string, output int) bool {
	if effort == "" || len(m.info.Capabilities) > 0 && !m.info.Can("thinking") {
		return false
	}
	if effort == "none" {
		list.Add("thinking", json.RawMessage(`{"type":"disabled"}`))
		return false
	}
	budget := min(budgets[effort], output/2)
	if budget < leastBudget {
		return false
	}
	list.Add("thinking", json.RawMessage(fmt.Sprintf(`{"type":"enabled","budget_tokens":%d}`, budget)))
	return list.Takes("thinking")
}

// appendTool writes a tool, its schema in the bytes it came in.
func appendTool(b []byte, tool chat.Spec) []byte {
	b = append(b, `{"name":`...)
	b = local.AppendJSON(b, tool.Name)
	b = append(b, `,"description":`...)
	b = local.AppendJSON(b, tool.Description)
	b = append(b, `,"input_schema":`...)
	if local.IsObject(tool.Parameters) {
		b = append(b, tool.Parameters...)
	} else {
		b = append(b, `{"type":"object","properties":{}}`...)
	}
	return append(b, '}')
}
