package textcall

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"interpreter/local/chat"
)

// Wherever an answer is cut off by a limit, nothing of it runs, and nothing of the call is shown once enough of it is
// there to tell.
func TestCutAnywhere(t *testing.T) {
	for name, text := range map[string]string{
		"qwen":     "<tool_call>\n<function=read_file>\n<parameter=file_path>\na\n</parameter>\n</function>\n</tool_call>",
		"hermes":   "<tool_call>\n{\"name\": \"ls\", \"arguments\": {\"path\": \"a\"}}\n</tool_call>",
		"glm":      "<tool_call>read_file\n<arg_key>file_path</arg_key>\n<arg_value>a</arg_value>\n</tool_call>",
		"kimi":     `<|tool_calls_section_begin|><|tool_call_begin|>functions.ls:1<|tool_call_argument_begin|>{"path":"a"}<|tool_call_end|><|tool_calls_section_end|>`,
		"deepseek": "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>ls\n```json\n{\"path\":\"a\"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
		"dsml":     "<｜DSML｜tool_calls>\n<｜DSML｜invoke name=\"ls\">\n<｜DSML｜parameter name=\"path\" string=\"true\">a</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>",
		"mistral":  `[TOOL_CALLS]ls[ARGS]{"path":"a"}`,
		"gemma":    `<|tool_call>call:ls{path:<|"|>a<|"|>}<tool_call|>`,
		"minimax":  "<minimax:tool_call>\n<invoke name=\"ls\">\n<parameter name=\"path\">a</parameter>\n</invoke>\n</minimax:tool_call>",
		"harmony":  `<|start|>assistant<|channel|>commentary to=functions.ls <|constrain|>json<|message|>{"path":"a"}<|call|>`,
	} {
		for at := range text {
			for before, said := range map[string]string{"": "", "I look.\n": "I look."} {
				r, err := Read(Answer{Message: chat.Message{Text: before + text[:at]}, Finish: chat.CutShort, Tools: many})
				if len(r.Message.Calls) > 0 {
					t.Fatalf("%s, cut to %q: %v", name, text[:at], r.Message.Calls)
				}
				if n := utf8.RuneCountInString(text[:at]); name != "harmony" && n > 7 && (name != "minimax" || n > 14) && (!errors.Is(err, ErrCut) || r.Message.Text != said || r.Notice != Truncated) {
					t.Errorf("%s, cut to %q: %q, %q, %v", name, before+text[:at], r.Message.Text, r.Notice, err)
				}
			}
		}
	}
}

// A model that ends in the middle of a call has not made it. One that ends with the word has said it.
func TestEndsWithinACall(t *testing.T) {
	ls := `<tool_call>{"name":"ls","arguments":{"path":"a"}}</tool_call>`
	for _, tt := range []struct {
		text, said string
		calls      int
		err        error
	}{
		{"I look.\n<tool_call>\n<function=read_file>\n<param", "I look.", 0, ErrCut},
		{"<|tool_call_begin|>functions.ls:1<|tool_call_argument_begin|>{\"path\":\"a\"}<|tool_c", "", 0, ErrCut},
		{ls + "\n<tool_call>\n<function=read", "", 1, nil},
		{ls + "\n</tool_", "", 1, nil},
		{ls + "<|im_e", "", 1, nil},
		{"One opens it with <tool_call>", "One opens it with <tool_call>", 0, nil},
		{"One opens it with <tool_", "One opens it with <tool_", 0, nil},
		{"Use <tool_call> with <parameter=key> inside", "Use <tool_call> with <parameter=key> inside", 0, nil},
		{"if a <b", "if a <b", 0, nil},
	} {
		r, err := Read(Answer{Message: chat.Message{Text: tt.text}, Finish: chat.Stopped, Tools: many, Sure: reads})
		if len(r.Message.Calls) != tt.calls || !errors.Is(err, tt.err) || r.Message.Text != tt.said {
			t.Errorf("%q: %v, %q, %v", tt.text, r.Message.Calls, r.Message.Text, err)
		}
		agrees(t, tt.text, tt.text, many)
	}
	if r, err := Read(Answer{Message: chat.Message{Text: "Use " + strings.Repeat("<tool_call> ", 3) + "and"}, Finish: chat.CutShort, Tools: many}); err != nil || r.Notice != "" {
		t.Errorf("prose that was cut off: %v", err)
	}
}
