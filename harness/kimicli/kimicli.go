// Package kimicli is the harness of the older Kimi command line: plain names, small schemas, and results that begin
// with their status. It also suits instruct models of no special training. It writes no call as text.
package kimicli

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
	Name:     "kimi-cli",
	About:    "older Kimi K2 models, and plain instruct models; only on request",
	Prose:    prose,
	Tools:    tools,
	Parallel: true,
	Shape:    shape,
	Remind:   remind,
	Repeat:   harness.Streak,
	Ended:    func(r action.Ran) string { return harness.JobNotice(r, kind, "task-notification") },
	Fault:    fault,
}

var tools = []harness.Tool{
	harness.Choice("AskUserQuestion", harness.Choices.Step).If(harness.Interactive),
	harness.Choice("SetTodoList", todo),
	harness.Choice("Shell", shell),
	harness.Row("TaskList", taskList, sayTasks).If(harness.Background),
	harness.Choice("TaskOutput", taskOutput).If(harness.Background),
	harness.Choice("TaskStop", taskStop).If(harness.Background),
	harness.Choice("ReadFile", read),
	harness.Choice("ReadMediaFile", media).If(harness.Vision),
	harness.Choice("Glob", glob),
	harness.Choice("Grep", grep),
	harness.Choice("WriteFile", write),
	harness.Choice("StrReplaceFile", replace),
	harness.Row("FetchURL", fetch, sayFetched).If(harness.Fetch),
	harness.Choice("ExitPlanMode", exitPlan).If(harness.Interactive),
	harness.Choice("EnterPlanMode", enterPlan).If(harness.Interactive),
}

// shape asks the server to leave earlier thoughts in the prompt, and gives calls the ids that the template prints as the
// model knows them.
func shape(_ harness.Environment, req *chat.Request) {
	req.Extra = map[string]any{"chat_template_kwargs": map[string]any{"preserve_thinking": true}}
	harness.NumberCalls(req.Messages)
}

func remind(p harness.Progress) string {
	text := ""
	if len(p.Touched) > 0 {
		text = harness.ChangedReminder(p.Touched) + "\n\n"
	}
	return strings.TrimRight(text+harness.StaleTitled(p, "SetTodoList"), "\n")
}

// budget bounds one result, in bytes.
const budget = 30_000

// after is a result: the status first, then the body.
func after(status, body string) string {
	if body == "" {
		return "<system>" + status + "</system>"
	}
	return "<system>" + status + "</system>\n" + body
}

// alone is a status without a body.
func alone(status string) string { return after(status, "") }
