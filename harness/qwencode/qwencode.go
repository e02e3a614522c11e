// Package qwencode is the harness of Qwen models: the tools and shapes of results they were trained on, in the
// profile that fits local models. It writes no example of a call as text, because weak models imitate those.
package qwencode

import (
	"embed"

	"interpreter/harness"
	"interpreter/harness/textcall"
	"interpreter/local/chat"
	"interpreter/sandbox/action"
)

//go:embed *.md
var prose embed.FS

// Harness is the value.
var Harness = harness.Harness{
	Name:     "qwen-code",
	About:    "Qwen and QwQ",
	Models:   []string{"*qwen*", "qwq*", "*/qwq*"},
	Prose:    prose,
	Tools:    tools,
	Parallel: true,
	Open:     open,
	Shape:    shape,
	Decode:   decode,
	Digest:   digest,
	Fault:    fault,
}

var tools = []harness.Tool{
	harness.Row("list_directory", list, sayEntries),
	harness.Choice("read_file", read),
	harness.Row("grep_search", grep, sayLines),
	harness.Row("glob", glob, sayFiles),
	harness.Row("edit", edit, sayEdited),
	harness.Row("write_file", write, sayWritten),
	harness.Choice("run_shell_command", shell),
	harness.Row("todo_write", todo, sayTodo),
	harness.Row("ask_user_question", ask, sayAnswers).If(func(e harness.Environment) bool { return e.Interactive }),
	harness.Row("search_file_content", grep, sayLines).Hide(),
	harness.Row("replace", edit, sayEdited).Hide(),
}

// shape asks the server to leave earlier thoughts in the prompt: templates that drop them change what was already
// read, and the whole conversation is read again.
func shape(_ harness.Environment, req *chat.Request) {
	req.Extra = map[string]any{"chat_template_kwargs": map[string]any{"preserve_thinking": true}}
}

func decode(m chat.Message) (chat.Message, error) {
	return textcall.Message(m, harness.Specs(tools), func(c chat.Call) bool {
		step, err := harness.Harness{Tools: tools}.Step(c)
		return err != nil || step.Need().Effect == action.Reads || step.Need().Effect == action.Thinks
	})
}
