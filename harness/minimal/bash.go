package minimal

import (
	"fmt"
	"strings"
	"time"

	"interpreter/harness"
	"interpreter/sandbox/action"
)

type bashParams struct {
	Command string  `json:"command"`
	Timeout float64 `json:"timeout,omitempty" unit:"s"`
}

// patience is how long a command may run when the model names no limit.
const patience = 10 * time.Minute

func bash(p bashParams) (harness.Step, error) {
	run := action.Run{Script: p.Command, Timeout: time.Duration(p.Timeout * float64(time.Second)), Limit: budget}
	if run.Timeout <= 0 {
		run.Timeout = patience
	}
	return harness.Do(run, func(r action.Ran) string { return sayRan(r, run.Timeout) }), nil
}

func sayRan(r action.Ran, limit time.Duration) string {
	text := trimmed(r.Output)
	var tail []string
	if g := r.Gap; g != nil {
		line := fmt.Sprintf("[Lines 1-%d and %d-%d of %d shown", g.First-1, g.Last+1, g.Total, g.Total)
		if g.First <= 1 { // the first line alone is too long
			line = fmt.Sprintf("[Lines %d-%d of %d shown", g.Last+1, g.Total, g.Total)
		}
		if r.Full != "" {
			line += "; all of it is in " + r.Full
		}
		tail = append(tail, line+".]")
	}
	if text == "" {
		text = "(no output)"
	}
	switch {
	case r.Exit.TimedOut:
		tail = append(tail, fmt.Sprintf("Timed out after %g s.", limit.Seconds()))
	case r.Exit.Signal != "":
		tail = append(tail, fmt.Sprintf("Ended by %s, exit code %d.", r.Exit.Signal, r.Exit.Code))
	case r.Exit.Code != 0:
		tail = append(tail, fmt.Sprintf("Exit code %d.", r.Exit.Code))
	}
	for _, d := range r.Denied {
		tail = append(tail, "[Refused by the sandbox: "+d+"]")
	}
	for _, n := range r.Notes {
		tail = append(tail, "["+n+"]")
	}
	for _, line := range tail {
		text += "\n\n" + line
	}
	return text
}

func trimmed(text string) string { return strings.TrimRight(text, "\n") }
