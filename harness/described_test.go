package harness

import (
	"encoding/json"
	"errors"
	"testing"

	"interpreter/local/chat"
)

// A call of a tool that is only described is put into the words of the description.
func TestAsDescribed(t *testing.T) {
	var specs []chat.Spec
	for name, schema := range map[string]string{
		"bash":       `{"type":"object","properties":{"command":{"type":"string"},"timeout":{"type":"number"}},"required":["command"]}`,
		"read":       `{"type":"object","properties":{"filePath":{"type":"string"},"limit":{"type":"integer"},"note":{"type":["string","null"]}},"required":["filePath"]}`,
		"edit":       `{"type":"object","properties":{"filePath":{"type":"string"},"oldString":{"type":"string"},"newString":{"type":"string"}},"required":["filePath","oldString","newString"]}`,
		"set_status": `{"type":"object","properties":{"status":{"type":"string","enum":["pending","in_progress","completed"]}},"required":["status"]}`,
		"batch":      `{"type":"object","properties":{"edits":{"type":"array","items":{"type":"object","properties":{"old":{"type":"string"}},"required":["old"]}},"any":{},"either":{"anyOf":[{"type":"string"},{"type":"integer"}]}},"required":["edits"]}`,
		"open_ended": `{"type":"object"}`,
	} {
		specs = append(specs, chat.Spec{Name: name, Parameters: json.RawMessage(schema)})
	}
	h := Described(specs)
	for _, tt := range []struct{ name, args, want string }{
		{"bash", `{"cmd":["bash","-lc","ls | wc"]}`, `bash {"command":"ls | wc"}`},
		{"execute_bash", `{"command":"ls","timeout":0.5}`, `bash {"command":"ls","timeout":0.5}`},
		{"ReadFile", `{"path":"a<b>&c","limit":"5","bogus":1,"note":null}`, `read {"filePath":"a<b>&c","limit":5}`},
		{"str_replace_editor", `{"command":"view","path":"a"}`, `read {"filePath":"a"}`},
		{"str_replace_editor", `{"command":"str_replace","path":"a","old_str":"x","new_str":"y"}`, `edit {"filePath":"a","oldString":"x","newString":"y"}`},
		{"set-status", `{"status":"Done"}`, `set_status {"status":"completed"}`},
		{"batch", `{"edits":{"old":"x"},"any":[1,{"a":null}],"either":7}`, `batch {"edits":[{"old":"x"}],"any":[1,{"a":null}],"either":7}`},
		{"open_ended", `{"whatever":[1]}`, `open_ended {"whatever":[1]}`},
	} {
		step, err := h.Step(chat.Call{Name: tt.name, Args: json.RawMessage(tt.args)})
		if err != nil {
			t.Errorf("%s %s: %v", tt.name, tt.args, err)
			continue
		}
		if name, args, ok := AsDescribed(step); !ok || name+" "+string(args) != tt.want {
			t.Errorf("%s %s: %s %s, want %s", tt.name, tt.args, name, args, tt.want)
		}
	}
	var bad *ArgumentsError
	if _, err := h.Step(chat.Call{Name: "read", Args: json.RawMessage(`{"limit":"x"}`)}); !errors.As(err, &bad) || len(bad.Problems) != 2 || len(bad.Expected) != 3 {
		t.Errorf("%v", err)
	}
	var unknown *UnknownToolError
	if _, err := h.Step(chat.Call{Name: "fly", Args: json.RawMessage(`{}`)}); !errors.As(err, &unknown) {
		t.Errorf("%v", err)
	}
	if _, _, ok := AsDescribed(Step{}); ok {
		t.Error("a step of nothing was described")
	}
}

// A schema that makes no sense refuses no call.
func FuzzDescribed(f *testing.F) {
	f.Add(`{"properties":{"a":{"type":"string","enum":["x,y"]},"b":{"type":["integer","null"]},"":{},"c,d":{}}}`, `{"a":1}`)
	f.Add(`{"properties":{"a":{"type":"object","properties":{"b":{"type":"array"}}}},"required":["a"]}`, `{"a":{"b":[1]}}`)
	f.Add(`[]`, `[]`)
	f.Fuzz(func(t *testing.T, schema, args string) {
		if len(schema) > 2000 || !json.Valid([]byte(args)) {
			t.Skip()
		}
		step, err := Described([]chat.Spec{{Name: "a", Parameters: json.RawMessage(schema)}}).Step(chat.Call{Name: "a", Args: json.RawMessage(args)})
		if err != nil {
			return
		}
		if _, made, ok := AsDescribed(step); !ok || !json.Valid(made) {
			t.Errorf("%q of %s", made, args)
		}
	})
}
