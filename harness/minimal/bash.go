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
	if r.Omitted > 0 {
		line := fmt.Sprintf("[Cut to %d of %d bytes, %d lines", len(r.Output), r.Bytes, r.Lines)
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
