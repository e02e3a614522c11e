// Package zcode is the harness of GLM models: the coding agent that they were tuned in. It is close to claude-code, with
// results of its own: long outputs that are kept in a file, readings that are not repeated, a task list as JSON.
package zcode

import (
	"embed"

	"interpreter/harness"
)

//go:embed *.md
var prose embed.FS

// Harness is the value.
var Harness = harness.Harness{
	Name:  "zcode",
	About: "GLM",
	Suits: harness.Suits{
		Models:        []string{"glm*", "*/glm*", "chatglm*", "*/chatglm*"},
		Vendors:       []string{"zai", "zhipu"},
		Addresses:     []string{"api.z.ai", "open.bigmodel.cn"},
		Architectures: []string{"glm", "chatglm"},
		Templates:     []string{"[gMASK]"},
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
	Digest:    digest,
	Retain:    harness.Retained(read),
	Fault:     fault,
}

var tools = []harness.Tool{
	harness.Choice("AskUserQuestion", harness.AskQuestions).If(harness.Interactive),
	harness.Row("Bash", bash, sayRan),
	harness.Choice("Edit", harness.EditParams.Step),
	harness.Choice("EnterPlanMode", enterPlan).If(harness.Interactive),
	harness.Choice("ExitPlanMode", exitPlan).If(harness.Interactive),
	harness.Choice("Glob", glob),
	harness.Choice("Grep", grep),
	harness.Choice("Read", read),
	harness.Row("TodoRead", readTodos, sayTodos),
	harness.Row("TodoWrite", todo, sayWritten),
	harness.Row("WebFetch", fetch, harness.FetchWords).If(harness.Fetch),
	harness.Choice("Write", harness.WriteParams.Step),
	harness.Choice("TaskOutput", harness.TaskOutput).Hide(),
	harness.Choice("TaskStop", harness.TaskStop).Hide(),
}
