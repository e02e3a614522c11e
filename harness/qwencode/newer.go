package qwencode

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"

	"interpreter/harness"
	"interpreter/local/chat"
)

// Newer is the surface of Qwen Code 0.24, which later models know: neither a listing nor a todo list among the tools
// offered from the start. A call of one of those, or of the tool that reaches them there, is carried out all the same.
var Newer = newer()

func newer() harness.Harness {
	h := Harness
	h.Name, h.About, h.Suits = "qwen-code@0.24", "Qwen models made for Qwen Code 0.24; only by name", harness.Suits{}
	h.Prose = newerProse{prose}
	h.Tools = []harness.Tool{
		harness.Row("edit", edit, sayEdited),
		harness.Row("glob", glob, sayFiles),
		harness.Row("grep_search", grep, sayLines),
		harness.Choice("read_file", read),
		harness.Choice("run_shell_command", shell),
		harness.Row("write_file", write, sayWritten),
		harness.Row("list_directory", list, sayEntries).Hide(),
		harness.Row("todo_write", todo, sayTodo).Hide(),
		{Spec: chat.Spec{Name: "tool_call"}, Plan: viaSearch, Hidden: true},
	}
	return h
}

// newerProse is the prose without what it says of tools that are not offered.
type newerProse struct{ fs.FS }

// ReadFile is how package harness reads a page.
func (p newerProse) ReadFile(name string) ([]byte, error) {
	raw, err := fs.ReadFile(p.FS, name)
	if name != "system.md" || err != nil {
		return raw, err
	}
	before, rest, ok := bytes.Cut(raw, []byte("# Todo list\n"))
	_, after, closed := bytes.Cut(rest, []byte("\n# "))
	if !ok || !closed {
		return nil, errors.New("system.md has no section about the todo list")
	}
	return append(bytes.Clone(before), append([]byte("# "), after...)...), nil
}

// viaSearch carries out the call that stands inside a call of the tool by which deferred ones are reached.
func viaSearch(args json.RawMessage) (harness.Step, error) {
	var inside struct {
		Name string          `json:"name"`
		Args json.RawMessage `json:"arguments"`
	}
	if err := json.Unmarshal(args, &inside); err != nil || inside.Name == "" || inside.Name == "tool_call" {
		return harness.Step{}, &harness.RefusedError{Words: "tool_call takes the name of a tool and an object of its arguments. Call the tool itself instead."}
	}
	return harness.Harness{Tools: tools}.Step(chat.Call{Name: inside.Name, Args: inside.Args})
}
