// Package littlecoder is the harness of little-coder, which was made for models of up to 35 billion parameters in small
// windows: the tools of pi, a guard against rewriting whole files, and short cards of advice where something failed.
package littlecoder

import (
	"embed"

	"interpreter/harness"
)

//go:embed *.md
var prose embed.FS

// Harness is the value.
var Harness = harness.Harness{
	Name:  "little-coder",
	About: "Qwen3.x and other models of up to 35B in windows of 16k to 64k",
	Prose: prose,
	Tools: tools,
	Fault: fault,
}

var tools = []harness.Tool{
	harness.Row("read", harness.TerseRead.Plan, harness.SayTerseRead),
	harness.Choice("bash", harness.TerseBash.Plan),
	harness.Choice("edit", edit),
	harness.Row("write", write, sayWritten),
	harness.Row("glob", glob, sayFiles),
	harness.Row("webfetch", fetch, sayFetched).If(harness.Fetch),
	harness.Choice("ShellSession", session).Asked(),
	harness.Row("ShellSessionCwd", where, sayWhere).Asked(),
	harness.Row("ShellSessionReset", reset, sayReset).Asked(),
}
