package main

import (
	"fmt"

	"interpreter/agent/event"
)

// earlier is what a session that goes on worked with before.
type earlier struct {
	opened event.Opened
	turn   event.TurnStarted
	any    bool
}

func earlierIn(log *event.Log) earlier {
	var e earlier
	if log == nil {
		return e
	}
	for _, one := range log.Events() {
		switch b := one.Body.(type) {
		case event.Opened:
			e.opened, e.any = b, true
		case event.TurnStarted:
			e.turn = b
		}
	}
	return e
}

// differences tells a person what is not as it was when the session was left.
func (e earlier) differences(model, sandbox string) []string {
	var found []string
	if e.any && e.opened.Model != "" && e.opened.Model != model {
		found = append(found, fmt.Sprintf("this session used %s and goes on with %s; the new model reads all of it anew", e.opened.Model, model))
	}
	if e.turn.Sandbox != "" && e.turn.Sandbox != sandbox {
		found = append(found, fmt.Sprintf("the sandbox was %s in this session's last turn and is %s now; -s %s goes back", e.turn.Sandbox, sandbox, e.turn.Sandbox))
	}
	return found
}
