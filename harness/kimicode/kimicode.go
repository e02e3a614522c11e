// Package kimicode is the harness of Kimi models: the tools of Kimi Code, in the subset that runs here, and results
// with their note behind them. It writes no call as text and numbers calls as the models do themselves.
package kimicode

import (
	"embed"
	"strings"

	"interpreter/harness"
	"interpreter/local/chat"
	"interpreter/sandbox/action"
)

//go:embed *.md
var prose embed.FS

// Harness is the value.
var Harness = harness.Harness{
	Name:  "kimi-code",
	About: "Kimi K2, K2.5, K2.6 and K3, and other models of Moonshot",
	Suits: harness.Suits{
		Models:        []string{"*kimi*", "*moonshot*"},
		Vendors:       []string{"kimi", "moonshot"},
		Addresses:     []string{"api.kimi.com", "api.moonshot.ai", "api.moonshot.cn"},
		Architectures: []string{"kimi"},
		Templates:     []string{"<|tool_calls_section_begin|>", "<|im_middle|>", "<|open|>"},
	},
	Prose:    prose,
	Tools:    tools,
	Parallel: true,
	Shape:    shape,
	Remind:   remind,
	Repeat:   harness.Streak,
	Ended:    func(r action.Ran) string { return harness.JobNotice(r, kind, "") },
	Fault:    fault,
}

var tools = []harness.Tool{
	harness.Choice("AskUserQuestion", ask).If(harness.Interactive),
	harness.Choice("Bash", bash),
	harness.Choice("Edit", edit),
	harness.Choice("EnterPlanMode", enterPlan).If(harness.Interactive),
	harness.Choice("ExitPlanMode", exitPlan).If(harness.Interactive),
	harness.Row("FetchURL", fetch, sayFetched).If(harness.Fetch),
	harness.Choice("Glob", glob),
	harness.Choice("Grep", grep),
	harness.Choice("Read", read),
	harness.Choice("ReadMediaFile", media).If(harness.Vision),
	harness.Row("TaskList", taskList, sayTasks).If(harness.Background),
	harness.Choice("TaskOutput", taskOutput).If(harness.Background),
	harness.Choice("TaskStop", taskStop).If(harness.Background),
	harness.Choice("TodoList", todo),
	harness.Choice("Write", write),
}

// shape asks the server to leave earlier thoughts in the prompt, and gives calls the ids that the template prints as the
// model knows them.
func shape(_ harness.Environment, req *chat.Request) {
	req.Extra = map[string]any{"chat_template_kwargs": map[string]any{"preserve_thinking": true}}
	harness.NumberCalls(req.Messages)
}

// remind brings up a list that was forgotten, and files that others changed.
func remind(p harness.Progress) string {
	text := ""
	if len(p.Touched) > 0 {
		text = harness.ChangedReminder(p.Touched) + "\n\n"
	}
	return strings.TrimRight(text+harness.StaleTitled(p, "TodoList"), "\n")
}

// budget bounds one result, in bytes.
const budget = 30_000

// noted is a result with a note of the system behind it; one without a body is the note alone.
func noted(body, note string) string {
	if body == "" {
		return "<system>" + note + "</system>"
	}
	if note == "" {
		return body
	}
	return body + "\n<system>" + note + "</system>"
}
