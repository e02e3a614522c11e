package textcall

import (
	"reflect"
	"strings"
	"testing"

	"interpreter/local/chat"
)

// A file about calls holds calls. They are part of the value, and the value ends with its own closing tag.
func TestCallsInsideValues(t *testing.T) {
	qwen := func(content string) string {
		return "<tool_call>\n<function=write>\n<parameter=file_path>\nx.md\n</parameter>\n<parameter=content>\n" + content + "\n</parameter>\n</function>\n</tool_call>"
	}
	invoke := func(content string) string {
		return `<invoke name="write"><parameter name="file_path">x.md</parameter><parameter name="content">` + content + `</parameter></invoke>`
	}
	glm := func(content string) string {
		return "<tool_call>write\n<arg_key>file_path</arg_key>\n<arg_value>x.md</arg_value>\n<arg_key>content</arg_key>\n<arg_value>\n" + content + "\n</arg_value>\n</tool_call>"
	}
	inner := []string{
		"Use:\n<tool_call>\n<function=ls>\n<parameter=path>\nq\n</parameter>\n</function>\n</tool_call>\nend",
		"<function=ls>\n</function>\n<function=read>\n<parameter=path>\na\n</parameter>\n</function>\nend",
		`<invoke name="ls"><parameter name="path">a</parameter></invoke>` + "\nend",
		"<tool_call>{\"name\":\"ls\",\"arguments\":{}}</tool_call>\n<tool_call>{\"name\":\"ls\",\"arguments\":{}}</tool_call>",
		"<tool_call>ls\n<arg_key>path</arg_key>\n<arg_value>q</arg_value>\n</tool_call>\nend",
		"the tag <function=ls> opens a call",
	}
	for _, content := range inner {
		for name, write := range map[string]func(string) string{"function": qwen, "invoke": invoke, "glm": glm} {
			for _, second := range []string{"", "\n" + write("second")} {
				r, err := Read(Answer{Message: chat.Message{Text: write(content) + second}, Finish: chat.Stopped, Tools: many})
				want := []string{`write {"file_path":"x.md","content":` + quote(content) + `}`}
				if second != "" {
					want = append(want, `write {"file_path":"x.md","content":"second"}`)
				}
				if got := callsOf(t, r.Message); err != nil || len(got) != len(want) || !reflect.DeepEqual(got, wants(want, t)) || r.Message.Text != "" {
					t.Errorf("%s with %q: %+v, %q, %v", name, content, got, r.Message.Text, err)
				}
			}
		}
	}
	// Without an end of its own a value was cut off, whatever ends stand in it.
	for _, text := range []string{qwen("\x00"), glm("\x00")} {
		head, _, _ := strings.Cut(text, "\x00")
		text = head + inner[0] + inner[4]
		if r, err := Read(Answer{Message: chat.Message{Text: text}, Finish: chat.Stopped, Tools: many}); err == nil || len(r.Message.Calls) > 0 {
			t.Errorf("cut: %+v", r.Message.Calls)
		}
	}
}

// Values whose closing tags are missing, and values that say nothing.
func TestUntidyValues(t *testing.T) {
	check(t, []row{
		{"the last closing tag is missing", "<function=edit>\n<parameter=file_path> a.go\n<parameter=old_string> x\n<parameter=new_string> y\n</function>", []string{`edit {"file_path":"a.go","old_string":"x","new_string":"y"}`}, "", nil},
		{"indentation stays", "<function=edit>\n<parameter=file_path>\na.go\n<parameter=old_string>\n  x\n<parameter=new_string>\n  y\n</function>", []string{`edit {"file_path":"a.go","old_string":"  x","new_string":"  y"}`}, "", nil},
		{"None for a number", "<function=read>\n<parameter=path>\na\n</parameter>\n<parameter=limit>\nNone\n</parameter>\n</function>", []string{`read {"path":"a"}`}, "", nil},
		{"None as a text for a number", `<tool_call>{"name":"read","arguments":{"path":"None","limit":"None"}}</tool_call>`, []string{`read {"path":"None"}`}, "", nil},
		{"a byte order mark", "\ufeff" + `{"name":"ls","arguments":{}};`, []string{`ls {}`}, "", nil},
	})
}

// A tool as an element takes parameters by the names the harness understands, and no others.
func TestElementSpellings(t *testing.T) {
	spells := func(tool, key string) bool { return tool == "write" && key == "path" }
	text := "<write><path>a</path><content>\nb\n</content></write>"
	r, err := Read(Answer{Message: chat.Message{Text: text}, Tools: many, Spells: spells})
	if err != nil || len(r.Message.Calls) != 1 || string(r.Message.Calls[0].Args) != `{"path":"a","content":"b"}` {
		t.Errorf("%+v, %v", r.Message, err)
	}
	if r, err = Read(Answer{Message: chat.Message{Text: text}, Tools: many}); err != nil || len(r.Message.Calls) != 0 || r.Message.Text != text {
		t.Errorf("without: %+v, %v", r.Message, err)
	}
}

// Wrappers and ends that models leave around calls.
func TestLeftovers(t *testing.T) {
	check(t, []row{
		{"a fence between tags", "<tool_call>\n```json\n{\"name\":\"ls\",\"arguments\":{\"path\":\"a\"}}\n```\n</tool_call>", []string{`ls {"path":"a"}`}, "", nil},
		{"function_call around it", `{"function_call":{"name":"ls","arguments":"{\"path\":\"a\"}"}}`, []string{`ls {"path":"a"}`}, "", nil},
		{"a closing tag that is not finished", "<tool_call>\n{\"name\":\"ls\",\"arguments\":{\"path\":\"a\"}}\n</tool_c", []string{`ls {"path":"a"}`}, "", nil},
		{"the end of a function that is not finished", "<function=ls>\n<parameter=path>\na\n</parameter>\n</funct", []string{`ls {"path":"a"}`}, "", nil},
		{"a list for the only parameter", `<tool_call>{"name":"todo","arguments":[{"content":"a"},{"content":"b"}]}</tool_call>`, []string{`todo {"todos":[{"content":"a"},{"content":"b"}]}`}, "", nil},
		{"a list around the arguments", `<tool_call>{"name":"todo","arguments":[{"todos":[{"content":"a"}]}]}</tool_call>`, []string{`todo {"todos":[{"content":"a"}]}`}, "", nil},
	})
	d := thoughts("<|START_THINKING|>hm<|END_THINKING|>Yes.")
	if d.answer != "Yes." || len(d.thoughts) != 1 || d.thoughts[0] != "hm" {
		t.Errorf("%+v", d)
	}
}
