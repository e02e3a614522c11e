package harness

import (
	"encoding/json"
	"testing"
)

func TestRoles(t *testing.T) {
	for name, want := range map[string]string{
		"Bash": "shell", "container.exec": "shell", "run_terminal_cmd": "shell", "ReadFile": "read", "get_file": "read", "WriteFile": "write",
		"create_new_file": "write", "StrReplaceFile": "edit", "replace_string_in_file": "edit", "MultiEdit": "edit", "ApplyPatch": "patch", "ListFiles": "list",
		"LS": "list", "codebase_search": "grep", "ripgrep": "grep", "file_search": "glob", "TodoWrite": "plan", "SetTodoList": "plan", "WebFetch": "fetch",
		"FetchURL": "fetch", "ask_followup_question": "ask", "attempt_completion": "finish", "inspect_blob": "",
	} {
		if got := roleOf(name, nil); got != want {
			t.Errorf("%s is for %q, want %q", name, got, want)
		}
	}
	for command, want := range map[string]string{"view": "read", "create": "write", "str_replace": "edit", "insert": "edit"} {
		if got := roleOf("str_replace_editor", json.RawMessage(`{"command":"`+command+`"}`)); got != want {
			t.Errorf("%s is for %q, want %q", command, got, want)
		}
	}
}

func TestFinishing(t *testing.T) {
	for _, tt := range []struct {
		name, args, text string
		ok               bool
	}{
		{"finish", `{"message":"All done."}`, "All done.", true},
		{"functions.attempt_completion", `{"result":"It works.","command":"open x"}`, "It works.", true},
		{"TaskComplete", `{}`, "", true},
		{"submit", `"Done."`, "Done.", true},
		{"final_answer", `{"verdict":"42"}`, "42", true},
		{"done", `nonsense`, "", true},
		{"bash", `{"command":"x"}`, "", false},
	} {
		if text, ok := Finishing(tt.name, json.RawMessage(tt.args)); text != tt.text || ok != tt.ok {
			t.Errorf("%s %s: %q, %v", tt.name, tt.args, text, ok)
		}
	}
}
