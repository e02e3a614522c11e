// Package opencode is the harness of OpenCode, which open models of many makers are used with: lower-case names of
// tools, camel-case parameters, results in tags.
package opencode

import (
	"embed"

	"interpreter/harness"
	"interpreter/sandbox/action"
)

//go:embed *.md
var prose embed.FS

// Harness is the value.
var Harness = harness.Harness{
	Name:     "opencode",
	About:    "open models used with OpenCode: GLM, MiniMax, Devstral, Kimi, Qwen coders, gpt-oss",
	Prose:    prose,
	Tools:    tools,
	Parallel: true,
	Repeat:   repeated,
	Fault:    fault,
}

var tools = []harness.Tool{
	harness.Choice("bash", bash),
	harness.Row("edit", edit, sayEdited),
	harness.Row("glob", glob, sayFiles),
	harness.Row("grep", grep, sayLines),
	harness.Choice("read", read),
	harness.Choice("todowrite", todo),
	harness.Choice("webfetch", fetch).If(harness.Fetch),
	harness.Row("write", write, sayWritten),
	harness.Row("list", list, sayListed).Hide(),
	harness.Row("todoread", func(struct{}) action.ShowPlan { return action.ShowPlan{} }, sayTodo).Hide(),
}

// budget bounds one result, in bytes: half of what the original gives, which is a third of a local window.
const budget = 25 << 10
