// Package native is the harness of models trained on Codex transcripts, gpt-oss above all, and the one for every
// model that no other rule claims: a shell, a patch format, a plan. It offers no tool that has nothing behind it.
package native

import (
	"embed"

	"interpreter/harness"
	"interpreter/sandbox/action"
)

//go:embed *.md
var prose embed.FS

// Harness is the value.
var Harness = harness.Harness{
	Name:      "native",
	About:     "gpt-oss, and models that match nothing else",
	Prose:     prose,
	Tools:     tools,
	Parallel:  true,
	Open:      open,
	Fault:     fault,
	Escalates: harness.Escalation{Set: `sandbox_permissions "require_escalated"`, Reason: "justification"},
}

var tools = []harness.Tool{
	harness.Choice("exec_command", execCommand),
	harness.Choice("write_stdin", writeStdin),
	harness.Row("apply_patch", applyPatch, sayPatched),
	harness.Row("update_plan", harness.UpdatePlan, func(action.Planned) string { return "Plan updated" }),
	harness.Row("view_image", viewImage, sayImage).If(harness.Vision),
	harness.Row("request_user_input", requestInput, sayAnswers).If(harness.Interactive),
	harness.Choice("shell_command", shellCommand).Hide(),
	harness.Choice("shell", shell).Hide(),
	harness.Choice("local_shell", shell).Hide(),
	harness.Choice("container.exec", shell).Hide(),
}
