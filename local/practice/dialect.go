package practice

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"interpreter/local/chat"
)

// dialect is how a family of models writes calls, thoughts and prose, and what makes an Ollama server read it. The forms
// are those of the families' chat templates; the readers are those of Ollama 0.24, model/parsers.
type dialect struct {
	name  string
	calls func(calls []chat.Call, at spot) []string // of one answer, a piece each; nil: calls cannot be written
	// prose is text, before a call or as an answer; nil: as it is.
	prose func(text string, calls bool) string
	// thought is what comes before it; nil: in the tags that most templates know.
	thought func(text string) string
	tag     string // how a call begins in a template, for a server that has no reader for it; "": nothing stands there
	foreign string // what the leaking template shows instead; "": nothing
	parser  string // what the server calls its reader; "": it goes by the tag
	silent  string // its reader for a model without thoughts; "": the same
	opened  string // the condition of a template under which that reader takes an answer to begin amid thoughts
	alone   bool   // an answer ends with its first call
}

// spot is where in a conversation calls stand.
type spot struct {
	before int  // calls that the conversation already holds: some families count on
	prose  bool // the answer begins with prose
	leak   bool // the server reads nothing, and shows the token that ends a call
}

// Dialects names the forms in which a practice GGUF can write calls.
func Dialects() []string {
	var names []string
	for _, d := range dialects() {
		names = append(names, d.name)
	}
	return names
}

// speaks finds a dialect by its name; "" is the first.
func speaks(name string) (dialect, error) {
	all := dialects()
	for _, d := range all {
		if d.name == name || name == "" {
			return d, nil
		}
	}
	return dialect{}, fmt.Errorf("dialect %q: not known; there are %s", name, strings.Join(Dialects(), ", "))
}

func dialects() []dialect {
	each := func(write func(chat.Call) string) func([]chat.Call, spot) []string {
		return func(calls []chat.Call, _ spot) []string {
			var out []string
			for _, c := range calls {
				out = append(out, write(c))
			}
			return out
		}
	}
	return []dialect{
		{
			name:  "hermes",
			calls: each(func(c chat.Call) string { return hermes(c.Name, string(c.Args)) }),
			tag:   "<tool_call>\n{\"name\": \"{{ .Function.Name }}\", \"arguments\": {{ .Function.Arguments }}}\n</tool_call>",
		},
		{name: "qwen-xml", calls: each(qwenXML), parser: "qwen3-coder"},
		{name: "glm", calls: each(glm), parser: "glm-4.7", opened: "or (not .IsThinkSet) .Think"},
		{name: "kimi", calls: kimi, tag: "<|tool_calls_section_begin|>"},
		{name: "dsml", calls: block("<｜DSML｜tool_calls>\n", dsml, "\n</｜DSML｜tool_calls>"), tag: "<｜DSML｜tool_calls>"},
		{
			name:   "deepseek",
			calls:  block("<｜tool▁calls▁begin｜>", deepseek, "<｜tool▁calls▁end｜>"),
			parser: "deepseek3", opened: ".Think",
		},
		{
			name:   "mistral",
			calls:  each(func(c chat.Call) string { return "[TOOL_CALLS]" + c.Name + "[ARGS]" + compact(c.Args) }),
			parser: "ministral", thought: func(t string) string { return "[THINK]" + t + "[/THINK]" },
		},
		{
			name: "harmony", calls: harmony, parser: "harmony", alone: true,
			prose: func(text string, calls bool) string {
				if calls {
					return "<|channel|>commentary<|message|>" + text + "<|end|><|start|>assistant"
				}
				return "<|channel|>final<|message|>" + text
			},
			thought: func(t string) string { return "<|channel|>analysis<|message|>" + t + "<|end|><|start|>assistant" },
		},
		{
			name: "gemma4", calls: each(gemma), parser: "gemma4", silent: "gemma4-no-thinking",
			thought: func(t string) string { return "<|channel>thought\n" + t + "<channel|>" },
		},
		{
			name:  "minimax",
			calls: block("<minimax:tool_call>\n", minimax, "\n</minimax:tool_call>"), tag: "<minimax:tool_call>",
		},
		// A server takes any answer that begins with a brace for a call, unless its template shows another form.
		{name: "llama-json", calls: llama, foreign: "<tool_call>"},
		{name: "text"},
	}
}

// reader is the name of the server's reader for a script, "" where there is none or it must not be used.
func (d dialect) reader(s *Script, o GGUFOptions) string {
	switch {
	case o.Leak || !s.can("tools"):
		return ""
	case d.silent != "" && !s.can("thinking"):
		return d.silent
	}
	return d.parser
}

// says is prose in this dialect.
func (d dialect) says(text string, calls bool) string {
	if d.prose == nil || text == "" {
		return text
	}
	return d.prose(text, calls)
}

func (d dialect) thinks(text string) string {
	if d.thought == nil {
		return "<think>" + text + "</think>"
	}
	return d.thought(text)
}

// member is a part of a JSON object in the order it was written.
type member struct {
	key   string
	value json.RawMessage
}

// text is the value without quotes, and whether it had them.
func (m member) text() (string, bool) {
	var s string
	if json.Unmarshal(m.value, &s) == nil && m.value[0] == '"' {
		return s, true
	}
	return compact(m.value), false
}

// members takes an object apart. The script has been parsed, so it is one.
func members(object json.RawMessage) []member {
	d := json.NewDecoder(bytes.NewReader(object))
	d.Token() // the brace
	var out []member
	for d.More() {
		key, err := d.Token()
		var value json.RawMessage
		if err != nil || d.Decode(&value) != nil {
			break
		}
		out = append(out, member{key.(string), value})
	}
	return out
}

func compact(v json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, v) != nil {
		return string(v)
	}
	return b.String()
}

// hermes is the call format of the Hermes family, the one most templates know.
func hermes(name, args string) string {
	return "<tool_call>\n{\"name\": \"" + name + "\", \"arguments\": " + args + "}\n</tool_call>"
}

func qwenXML(c chat.Call) string {
	var b strings.Builder
	b.WriteString("<tool_call>\n<function=" + c.Name + ">\n")
	for _, m := range members(c.Args) {
		value, _ := m.text()
		b.WriteString("<parameter=" + m.key + ">\n" + value + "\n</parameter>\n")
	}
	return b.String() + "</function>\n</tool_call>"
}

func glm(c chat.Call) string {
	var b strings.Builder
	b.WriteString("<tool_call>" + c.Name + "\n")
	for _, m := range members(c.Args) {
		value, _ := m.text()
		b.WriteString("<arg_key>" + m.key + "</arg_key>\n<arg_value>" + value + "</arg_value>\n")
	}
	return b.String() + "</tool_call>"
}

// block puts the calls of an answer between two markers.
func block(begin string, write func(chat.Call) string, end string) func([]chat.Call, spot) []string {
	return func(calls []chat.Call, _ spot) []string {
		var out []string
		for _, c := range calls {
			out = append(out, write(c))
		}
		if len(out) > 0 {
			out[0] = begin + out[0]
			out[len(out)-1] += end
		}
		return out
	}
}

// kimi numbers the calls of a conversation from 0 and keeps counting.
func kimi(calls []chat.Call, at spot) []string {
	return block("<|tool_calls_section_begin|>", func(c chat.Call) string {
		id := "functions." + c.Name + ":" + strconv.Itoa(at.before)
		at.before++
		return "<|tool_call_begin|>" + id + "<|tool_call_argument_begin|>" + compact(c.Args) + "<|tool_call_end|>"
	}, "<|tool_calls_section_end|>")(calls, at)
}

func dsml(c chat.Call) string {
	var b strings.Builder
	b.WriteString("<｜DSML｜invoke name=\"" + c.Name + "\">\n")
	for _, m := range members(c.Args) {
		value, raw := m.text()
		fmt.Fprintf(&b, "<｜DSML｜parameter name=%q string=\"%t\">%s</｜DSML｜parameter>\n", m.key, raw, value)
	}
	return b.String() + "</｜DSML｜invoke>"
}

func deepseek(c chat.Call) string {
	return "<｜tool▁call▁begin｜>" + c.Name + "<｜tool▁sep｜>" + compact(c.Args) + "<｜tool▁call▁end｜>"
}

func minimax(c chat.Call) string {
	var b strings.Builder
	b.WriteString("<invoke name=\"" + c.Name + "\">\n")
	for _, m := range members(c.Args) {
		value, _ := m.text()
		b.WriteString("<parameter name=\"" + m.key + "\">" + value + "</parameter>\n")
	}
	return b.String() + "</invoke>"
}

// llama writes a call bare when the answer is nothing else, and after prose behind a token of its own.
func llama(calls []chat.Call, at spot) []string {
	var out []string
	for i, c := range calls {
		text := "{\"name\": \"" + c.Name + "\", \"parameters\": " + compact(c.Args) + "}"
		switch {
		case i > 0:
			text = "; " + text
		case at.prose:
			text = "<|python_tag|>" + text
		}
		out = append(out, text)
	}
	return out
}

// harmony is one call: the token that ends it ends the answer, and a server does not show it.
func harmony(calls []chat.Call, at spot) []string {
	var out []string
	for _, c := range calls {
		text := "<|channel|>commentary to=functions." + c.Name + " <|constrain|>json<|message|>" + compact(c.Args)
		if at.leak {
			text += "<|call|>"
		}
		out = append(out, text)
	}
	return out
}

func gemma(c chat.Call) string {
	return "<|tool_call>call:" + c.Name + gemmaValue(c.Args) + "<tool_call|>"
}

// gemmaValue writes JSON without the quotes of its keys, and with markers for those of its texts.
func gemmaValue(v json.RawMessage) string {
	const quote = `<|"|>`
	var parts []string
	switch m := (member{value: bytes.TrimSpace(v)}); m.value[0] {
	case '{':
		for _, m := range members(m.value) {
			parts = append(parts, m.key+":"+gemmaValue(m.value))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case '[':
		var items []json.RawMessage
		if json.Unmarshal(m.value, &items) == nil {
			for _, item := range items {
				parts = append(parts, gemmaValue(item))
			}
		}
		return "[" + strings.Join(parts, ",") + "]"
	case '"':
		text, _ := m.text()
		return quote + text + quote
	default:
		return string(m.value)
	}
}
