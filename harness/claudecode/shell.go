package claudecode

import (
	"errors"

	"interpreter/harness"
	"interpreter/sandbox/action"
)

type bashParams struct {
	harness.BashParams
	Outside bool `json:"dangerouslyDisableSandbox,omitempty"`
}

// outputMost bounds what a command may say, in bytes: head and tail stay, and lines from between that tell what went
// wrong.
const outputMost = 30_000

func bash(p bashParams) action.Run {
	run := p.Action(outputMost)
	run.Escalate = p.Outside
	return run
}

type lookParams struct {
	ID string `json:"bash_id" also:"task_id,shell_id,id"`
}

// look is how older models of the family look at a command in the background: they do not wait for its end.
func look(p lookParams) (harness.Step, error) {
	return harness.TaskOutput(harness.TaskOutputParams{ID: p.ID})
}

// fault says what the tools said, inside the tag by which this family knows that a call did not work. A command that
// failed is no such thing.
func fault(tool string, err error) string {
	if errors.Is(err, action.ErrNoTask) {
		return tagged("There is no such task; TaskList shows which there are.")
	}
	return harness.FileFault(tool, err, tag)
}

const tag = "tool_use_error"

func tagged(text string) string { return "<" + tag + ">" + text + "</" + tag + ">" }
