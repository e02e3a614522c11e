// Package minimal is the harness for models of no known family and for small contexts: eight tools with short names
// and a prompt of a few sentences. It has no customs of its own beyond the shapes of its results.
package minimal

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
	Name:   "minimal",
	About:  "unknown models, small contexts, quick comparisons",
	Prose:  prose,
	Tools:  tools,
	Decode: decode,
	Fault:  fault,
}

var tools = []harness.Tool{
	harness.Row("read", read, saySeen),
	harness.Choice("bash", bash),
	harness.Row("edit", edit, sayEdited),
	harness.Row("write", write, sayWritten),
	harness.Row("grep", grep, sayLines),
	harness.Row("find", find, sayFiles),
	harness.Row("ls", ls, sayEntries),
	harness.Row("update_plan", harness.UpdatePlan, func(action.Planned) string { return "Plan updated" }),
}

// budget bounds one result, in bytes: a twelfth of the smallest window worth working in.
const budget = 20_000

func decode(m chat.Message) (chat.Message, error) {
	return textcall.Message(m, harness.Specs(tools), func(c chat.Call) bool {
		step, err := harness.Harness{Tools: tools}.Step(c)
		return err != nil || step.Need().Effect == action.Reads || step.Need().Effect == action.Thinks
	})
}
