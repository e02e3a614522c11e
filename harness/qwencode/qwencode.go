// Package qwencode is the harness of Qwen models: the tools and shapes of results they were trained on, in the
// profile that fits local models. It writes no example of a call as text, because weak models imitate those.
package qwencode

import (
	"embed"

	"interpreter/harness"
	"interpreter/local/chat"
)

//go:embed *.md
var prose embed.FS

// Harness is the value.
var Harness = harness.Harness{
	Name:  "qwen-code",
	About: "Qwen and QwQ",
	Suits: harness.Suits{
		Models:        []string{"*qwen*", "qwq*", "*/qwq*"},
		Vendors:       []string{"qwen", "dashscope"},
		Addresses:     []string{"dashscope.aliyuncs.com/compatible-mode", "dashscope-intl.aliyuncs.com/compatible-mode"},
		Architectures: []string{"qwen"},
	},
	Prose:    prose,
	Tools:    tools,
	Parallel: true,
	Open:     open,
	Shape:    shape,
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
	harness.Row("web_fetch", fetch, sayFetched).If(harness.Fetch),
	harness.Row("exit_plan_mode", exitPlan, sayPlan).If(harness.Interactive),
	harness.Row("ask_user_question", ask, sayAnswers).If(harness.Interactive),
	harness.Row("search_file_content", grep, sayLines).Hide(),
	harness.Row("replace", edit, sayEdited).Hide(),
}

// shape asks the server to leave earlier thoughts in the prompt: templates that drop them change what was already
// read, and the whole conversation is read again.
func shape(_ harness.Environment, req *chat.Request) {
	req.Extra = map[string]any{"chat_template_kwargs": map[string]any{"preserve_thinking": true}}
}
