package qwencode

import (
	"encoding/json"
	"strings"
	"testing"

	"interpreter/harness/harnesstest"
	"interpreter/local/chat"
)

func TestNewer(t *testing.T) {
	messages, tools, err := Newer.Begin(harnesstest.Plain())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range tools {
		names = append(names, s.Name)
		if s.Name == "todo_write" || !json.Valid(s.Parameters) {
			t.Errorf("%s is offered", s.Name)
		}
	}
	if got := strings.Join(names, " "); got != "edit glob grep_search read_file run_shell_command write_file" {
		t.Errorf("offered %s", got)
	}
	text := messages[0].Text
	if strings.Contains(text, "todo_write") || strings.Contains(text, "\n\n\n") || !strings.Contains(text, "\n\n# Asking\n") {
		t.Error("the instructions speak of a tool that is not offered, or have a hole")
	}
	step, err := Newer.Step(chat.Call{Name: "tool_call", Args: json.RawMessage(`{"name":"todo_write","arguments":{"todos":[{"content":"a","status":"pending","id":"1"}]}}`)})
	if err != nil || step.Title() != "plan, 0 of 1 done" {
		t.Errorf("a call inside a call: %+v, %v", step, err)
	}
	if _, err := Newer.Step(chat.Call{Name: "tool_call", Args: json.RawMessage(`{"name":"tool_call","arguments":{}}`)}); err == nil {
		t.Error("a call of itself is taken")
	}
}
