// Package claudecode is the harness of Claude models, of every server that speaks the Messages wire, and of models that
// learned its surface: file tools beside a shell, a task list, questions and plans, and reminders from the client in
// <system-reminder>. It shapes the conversation itself, so every wire shows the same text. It imitates what a model
// sees, and never poses as the product towards a server.
package claudecode

import (
	"embed"

	"interpreter/harness"
)

//go:embed *.md
var prose embed.FS

// Harness is the value.
var Harness = harness.Harness{
	Name:  "claude-code",
	About: "Claude, and servers that speak the Messages wire",
	Suits: harness.Suits{
		Models:    []string{"*anthropic/*", "*claude*"},
		Vendors:   []string{"anthropic"},
		Addresses: []string{"api.anthropic.com"},
		Wire:      "messages",
	},
	Prose:     prose,
	Tools:     tools,
	Parallel:  true,
	Escalates: harness.Escalation{Set: "dangerouslyDisableSandbox true"},
	Git:       true,
	Messages:  true,
	Join:      true,
	Open:      harness.Begun,
	Wrap:      harness.Dated,
	Remind:    remind,
	Ended:     harness.TaskEnded,
	Digest:    harness.SummaryDigest,
	Retain:    harness.Retained(read),
	Fault:     fault,
}

var tools = []harness.Tool{
	harness.Choice("AskUserQuestion", harness.AskQuestions).If(harness.Interactive),
	harness.Row("Bash", bash, harness.BashWords),
	harness.Choice("Edit", harness.EditParams.Step),
	harness.Choice("EnterPlanMode", enterPlan).If(harness.Interactive),
	harness.Choice("ExitPlanMode", exitPlan).If(harness.Interactive),
	harness.Row("Glob", glob, sayFiles),
	harness.Choice("Grep", grep),
	harness.Choice("Read", read),
	harness.Row("TaskCreate", createTask, sayCreated).If(harness.Large),
	harness.Choice("TaskGet", getTask).If(harness.Large),
	harness.Row("TaskList", listTasks, sayTasks).If(harness.Large),
	harness.Choice("TaskOutput", harness.TaskOutput).If(harness.Background),
	harness.Choice("TaskStop", harness.TaskStop).If(harness.Background),
	harness.Choice("TaskUpdate", updateTask).If(harness.Large),
	harness.Row("TodoWrite", todo, sayTodo).If(harness.NotLarge),
	harness.Row("WebFetch", fetch, harness.FetchWords).If(harness.Fetch),
	harness.Choice("Write", harness.WriteParams.Step),
	harness.Row("LS", list, sayEntries).Hide(),
	harness.Choice("MultiEdit", harness.EditParams.Step).Hide(),
	harness.Choice("BashOutput", look).Hide(),
	harness.Choice("KillShell", harness.TaskStop).Hide(),
}
