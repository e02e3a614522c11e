// Package minimal is the harness for models of no known family and for small contexts: eight tools with short names
// and a prompt of a few sentences. It has no customs of its own beyond the shapes of its results.
package minimal

import (
	"embed"

	"interpreter/harness"
	"interpreter/sandbox/action"
)

//go:embed *.md
var prose embed.FS

// Harness is the value.
var Harness = harness.Harness{
	Name:  "minimal",
	About: "unknown models, small contexts, quick comparisons",
	Prose: prose,
	Tools: tools,
	Fault: harness.TerseFault,
}

var tools = []harness.Tool{
	harness.Row("read", harness.TerseRead.Plan, harness.SayTerseRead),
	harness.Choice("bash", harness.TerseBash.Plan),
	harness.Row("edit", edit, harness.SayTerseEdited),
	harness.Row("write", harness.TerseWrite.Plan, harness.SayTerseWritten),
	harness.Row("grep", harness.TerseGrep.Plan, harness.SayTerseLines),
	harness.Row("find", harness.TerseFind.Plan, harness.SayTerseFiles),
	harness.Row("ls", harness.TerseList.Plan, harness.SayTerseEntries),
	harness.Row("update_plan", harness.UpdatePlan, func(action.Planned) string { return "Plan updated" }),
}

type editParams struct {
	Path string `json:"path"`
	Old  string `json:"old_text"`
	New  string `json:"new_text"`
	All  bool   `json:"replace_all,omitempty" default:"false"`
}

func edit(p editParams) action.Edit {
	return action.Edit{Path: p.Path, Old: p.Old, New: p.New, All: p.All}
}
