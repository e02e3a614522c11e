package harness

import "fmt"

// Escalation is how a model asks for a command to run outside the sandbox. The zero value: its tools have no way to.
type Escalation struct {
	Set    string // the parameter with its value, as these models read it: `sandbox_permissions "require_escalated"`
	Reason string // the parameter that tells the person why, and must not be empty then; "": none must be given
}

// Ask says what to do to ask.
func (e Escalation) Ask() string {
	if e.Reason == "" {
		return "run it again with " + e.Set
	}
	return "run it again with " + e.Set + " and a " + e.Reason
}

// Unreasoned is the answer to a call that asks without a reason.
func (e Escalation) Unreasoned() error {
	return &RefusedError{Words: fmt.Sprintf("Not run: %s needs a %s, one sentence that tells the user why. Make the same call again with it.", e.Set, e.Reason)}
}
