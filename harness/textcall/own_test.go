package textcall

import (
	"encoding/json"
	"testing"

	"interpreter/local/chat"
)

func TestOwnCallsAreCleaned(t *testing.T) {
	tools := append(caseTools(t), spec("query q"), spec("bash command timeout?:integer"))
	for _, tt := range []struct{ about, name, args, raw, wantName, wantArgs string }{
		{"raw line break", "write_file", "{}", "{\"content\":\"a\nb\"}", "write_file", `{"content":"a\nb"}`},
		{"encoded twice", "read_file", "{}", `"{\"file_path\":\"a\"}"`, "read_file", `{"file_path":"a"}`},
		{"a token in the name", "query<|channel|>commentary", `{"q":"x"}`, "", "query", `{"q":"x"}`},
		{"a tag in the name", "read_file</arg_value>", `{"file_path":"x"}`, "", "read_file", `{"file_path":"x"}`},
		{"arguments that were swallowed", "bash", `{"command":"ls</parameter>\n<parameter=timeout>\n30"}`, "", "bash", `{"command":"ls","timeout":30}`},
		{"and of another family", "bash", `{"command":"ls</arg_value><arg_key>timeout</arg_key><arg_value>30"}`, "", "bash", `{"command":"ls","timeout":30}`},
		{"a tag that is meant", "bash", `{"command":"grep '</parameter>' x"}`, "", "bash", `{"command":"grep '</parameter>' x"}`},
		{"untouched", "write_file", `{ "content" : "a", "file_path":"b" }`, "", "write_file", `{ "content" : "a", "file_path":"b" }`},
	} {
		m := chat.Message{Calls: []chat.Call{{ID: "1", Name: tt.name, Args: json.RawMessage(tt.args), Raw: tt.raw}}}
		r, err := Read(Answer{Message: m, Tools: tools})
		if got := r.Message.Calls[0]; err != nil || got.Name != tt.wantName || string(got.Args) != tt.wantArgs || got.Raw != "" || got.ID != "1" {
			t.Errorf("%s: %+v, %v", tt.about, got, err)
		}
		if m.Calls[0].Name != tt.name || m.Calls[0].Raw != tt.raw {
			t.Errorf("%s: the message given was changed", tt.about)
		}
	}
	m := chat.Message{Calls: []chat.Call{{ID: "1", Name: "bash", Args: json.RawMessage("{}"), Raw: `{"command": "half`}}}
	if r, _ := Read(Answer{Message: m, Tools: tools}); r.Message.Calls[0].Raw == "" {
		t.Error("the end of a string was made up")
	}
}

// Calls of the answer's own win; those in the text are not shown, and count only when the text is nothing else.
func TestOwnCallsWin(t *testing.T) {
	tools := caseTools(t)
	for _, tt := range []struct {
		about, text, said string
		calls             int
	}{
		{"prose", "I look.", "I look.", 1},
		{"prose and a call", "I look.\n" + aCall, "I look.", 1},
		{"the next call", aCall, "", 2},
		{"the same call", `<tool_call>{"name":"list_directory","arguments":{}}</tool_call>`, "", 1},
		{"an unknown one", `<tool_call>{"name":"fly","arguments":{}}</tool_call>`, "", 1},
		{"one that explains", "It is\n```json\n{\"name\":\"read_file\",\"arguments\":{\"file_path\":\"a\"}}\n```", "It is\n```json\n{\"name\":\"read_file\",\"arguments\":{\"file_path\":\"a\"}}\n```", 1},
		{"one that was cut", "I look.\n<tool_call>{\"name\":\"read_file\",\"argu", "I look.", 1},
	} {
		m := chat.Message{Text: tt.text, Calls: []chat.Call{{ID: "1", Name: "list_directory", Args: json.RawMessage("{}")}}}
		r, err := Read(Answer{Message: m, Tools: tools, Sure: reads})
		if err != nil || len(r.Message.Calls) != tt.calls || r.Message.Calls[0].ID != "1" || r.Message.Text != tt.said {
			t.Errorf("%s: %+v, %v", tt.about, r.Message, err)
		}
	}
}
