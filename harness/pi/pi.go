// Package pi is the harness of the pi coding agent: four tools, three more on request, and a prompt of a few lines. It
// suits any model and was made for nobody in particular.
package pi

import (
	"embed"

	"interpreter/harness"
)

//go:embed *.md
var prose embed.FS

// Harness is the value.
var Harness = harness.Harness{
	Name:     "pi",
	About:    "any model, small and mid-size local ones above all: a very short prompt",
	Prose:    prose,
	Tools:    tools,
	Parallel: true,
	Fault:    harness.TerseEditsFault,
}

var tools = []harness.Tool{
	harness.Row("read", harness.TerseRead.Plan, harness.SayTerseRead),
	harness.Choice("bash", harness.TerseBash.Plan),
	harness.Choice("edit", edit),
	harness.Row("write", harness.TerseWrite.Plan, harness.SayTerseWritten),
	harness.Row("grep", harness.TerseGrep.Plan, harness.SayTerseLines).Asked(),
	harness.Row("find", harness.TerseFind.Plan, harness.SayTerseFiles).Asked(),
	harness.Row("ls", harness.TerseList.Plan, harness.SayTerseEntries).Asked(),
}

func edit(p harness.TerseEdits) (harness.Step, error) {
	return p.Plan("edit", harness.SayTerseEdited)
}
