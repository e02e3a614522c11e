package textcall

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"interpreter/local/chat"
)

// The least that must hold, in the numbers of section 21 of the specification of formats. Row 17 is TestScreenAgrees and
// every row of TestFamilies; 21 and 22 belong to the wires and to the requests; 6 is completed by package harness.
func TestAcceptance(t *testing.T) {
	qwen := "<function=read_file>\n<parameter=file_path>\n/w/a.go\n</parameter>\n<parameter=limit>\n20\n</parameter>\n</function>\n</tool_call>"
	hermes := func(path string) string {
		return `<tool_call>{"name":"ls","arguments":{"path":"` + path + `"}}</tool_call>`
	}
	kimi := `<|tool_calls_section_begin|><|tool_call_begin|>functionsexec5<|tool_call_argument_begin|>{"cmd":"ls"}<|tool_call_end|><|tool_calls_section_end|>`
	structured := []chat.Call{{ID: "1", Name: "ls", Args: json.RawMessage(`{"path":"z"}`)}}
	for _, tt := range []struct {
		row    int
		in     chat.Message
		finish chat.Finish
		shown  string
		calls  []string
		said   string
		err    error
	}{
		{row: 1, in: chat.Message{Text: "<tool_call>\n" + qwen}, calls: []string{`read_file {"file_path":"/w/a.go","limit":20}`}},
		{row: 2, in: chat.Message{Text: "I look.\n" + qwen}, calls: []string{`read_file {"file_path":"/w/a.go","limit":20}`}, said: "I look."},
		{row: 3, in: chat.Message{Text: "<function=bash>\n<parameter=command>\necho '</parameter>' # x\n</parameter>\n</function>"}, calls: []string{`bash {"command":"echo '</parameter>' # x"}`}},
		{row: 4, in: chat.Message{Text: hermes("a") + hermes("b") + "<tool_response>x</tool_response>" + hermes("c")}, calls: []string{`ls {"path":"a"}`, `ls {"path":"b"}`}},
		{row: 5, in: chat.Message{Text: "For example:\n```json\n{\"name\":\"ls\",\"arguments\":{}}\n```"}, said: "For example:\n```json\n{\"name\":\"ls\",\"arguments\":{}}\n```"},
		{row: 6, in: chat.Message{Text: `{"name":"Write","arguments":{"file_path":"x","content":"y"}}`}, calls: []string{`write {"file_path":"x","content":"y"}`}},
		{row: 7, in: chat.Message{Text: kimi}, calls: []string{`exec {"cmd":"ls"}`}},
		{row: 8, in: chat.Message{Thinking: "Hm. " + strings.Replace(kimi, "functionsexec5", "functions.exec:5", 1)}, calls: []string{`exec {"cmd":"ls"}`}},
		{row: 9, in: chat.Message{Thinking: hermes("a"), Calls: structured}, calls: []string{`ls {"path":"z"}`}},
		{row: 10, in: chat.Message{Text: "bashcommand</arg_key><arg_value>ls</arg_value></tool_call>"}, calls: []string{`bash {"command":"ls"}`}},
		{row: 11, in: chat.Message{Text: "<tool_call>bash<arg_key>command</arg_key><arg_value>ls</arg_value><arg_key>timeout</arg_key><arg_value>5</arg_value></tool_call>"}, calls: []string{`bash {"command":"ls","timeout":5}`}},
		{row: 12, in: chat.Message{Text: "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"ls\">\n<｜DSML｜parameter name=\"path\" string=\"true\">a</｜DSML｜parameter>\n</｜DSML｜invoke>"}, calls: []string{`ls {"path":"a"}`}},
		{row: 13, in: chat.Message{Text: `[TOOL_CALLS]read[ARGS]{"path":"a"}[TOOL_CALLS]glob[ARGS]{"pattern":"*"}`}, calls: []string{`read {"path":"a"}`, `glob {"pattern":"*"}`}},
		{row: 14, in: chat.Message{Text: `One writes [ls(path="x")] for it.`}, said: `One writes [ls(path="x")] for it.`},
		{row: 15, in: chat.Message{Calls: []chat.Call{{ID: "1", Name: "ls<|channel|>commentary", Args: json.RawMessage(`{}`)}}}, calls: []string{`ls {}`}},
		{row: 16, in: chat.Message{Text: `<tool_call>{"name":"bash","arguments":{"command":"echo`}, finish: chat.CutShort, err: ErrCut},
		{row: 18, in: chat.Message{Text: `{"name":"todo","arguments":{"todos":"[{\"content\":\"a\"}]"}}`}, calls: []string{`todo {"todos":[{"content":"a"}]}`}},
		{row: 19, in: chat.Message{Text: `{"name":"bash","arguments":{"command":"echo "hi" > f"}}`}, calls: []string{`bash {"command":"echo \"hi\" > f"}`}},
		{row: 20, in: chat.Message{Text: "It holds\n" + hermes("src")}, shown: "# notes\n" + hermes("src") + "\n", said: "It holds\n" + hermes("src")},
	} {
		r, err := Read(Answer{Message: tt.in, Finish: tt.finish, Tools: many, Sure: reads, Shown: []string{tt.shown}})
		if !errors.Is(err, tt.err) || err != nil && tt.err == nil {
			t.Errorf("row %d: %v", tt.row, err)
			continue
		}
		if got, want := callsOf(t, r.Message), wants(tt.calls, t); len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
			t.Errorf("row %d: %v, want %v", tt.row, got, want)
		}
		if r.Message.Text != tt.said {
			t.Errorf("row %d: %q, want %q", tt.row, r.Message.Text, tt.said)
		}
	}
}

// An id of Kimi that is well formed is kept: the model counts on it.
func TestKimiKeepsItsID(t *testing.T) {
	r, err := Read(Answer{Message: chat.Message{Text: `<|tool_call_begin|>functions.ls:7<|tool_call_argument_begin|>{}<|tool_call_end|>`}, Tools: many})
	if err != nil || len(r.Message.Calls) != 1 || r.Message.Calls[0].ID != "functions.ls:7" {
		t.Errorf("%+v, %v", r.Message.Calls, err)
	}
}

// Another product's name for a tool counts as known where the harness says so.
func TestNamesOfOtherProducts(t *testing.T) {
	means := func(name string, _ json.RawMessage) string {
		if name == "Shell" {
			return "bash"
		}
		return ""
	}
	text := "```json\n{\"name\":\"Shell\",\"arguments\":{\"command\":\"ls\"}}\n```"
	r, err := Read(Answer{Message: chat.Message{Text: text}, Tools: many, Sure: readsAll, Means: means})
	if err != nil || len(r.Message.Calls) != 1 || r.Message.Calls[0].Name != "Shell" {
		t.Errorf("%+v, %v", r.Message, err)
	}
	if r, _ = Read(Answer{Message: chat.Message{Text: text}, Tools: many, Sure: readsAll}); len(r.Message.Calls) != 0 {
		t.Errorf("without it: %+v", r.Message)
	}
}

// What had to be mended in values is told, for a person to be asked.
func TestMendedIsTold(t *testing.T) {
	for text, mended := range map[string]int{
		`{"name":"bash","arguments":{"command":"echo "hi" > f"}}`: 1,
		`{"name":"bash","arguments":{"command":"echo hi"}}`:       0,
		"<function=bash>\n<parameter=command>\nls\n</function>":   1,
	} {
		r, err := Read(Answer{Message: chat.Message{Text: text}, Tools: many})
		if err != nil || len(r.Message.Calls) != 1 || len(r.Mended) != mended || mended > 0 && r.Mended[0] != r.Message.Calls[0].ID {
			t.Errorf("%q: %+v, %v", text, r, err)
		}
	}
}
