package opencode

import (
	"fmt"
	"strings"
	"time"

	"interpreter/harness"
	"interpreter/sandbox/action"
)

type bashParams struct {
	Command string `json:"command"`
	Timeout int    `json:"timeout,omitempty" default:"120000" unit:"ms"`
	Dir     string `json:"workdir,omitempty"`
	About   string `json:"description" absent:"ok"`
}

func bash(p bashParams) (harness.Step, error) {
	if p.Timeout < 0 {
		return harness.Step{}, &harness.RefusedError{Words: fmt.Sprintf("Not run: timeout %d is negative. Give milliseconds, or leave it out.", p.Timeout)}
	}
	if p.Timeout == 0 {
		p.Timeout = 120_000
	}
	run := action.Run{Script: p.Command, Dir: p.Dir, Reason: p.About, Timeout: time.Duration(p.Timeout) * time.Millisecond, Limit: budget}
	return harness.Do(run, func(r action.Ran) string { return sayRan(r, run.Timeout) }), nil
}

// sayRan gives what was printed, and in a block below it what there is to know besides: models overlook a failure that
// is not written down.
func sayRan(r action.Ran, limit time.Duration) string {
	text := strings.TrimRight(r.Output, "\n")
	if text == "" {
		text = "(no output)"
	}
	var facts []string
	if r.Gap != nil && r.Full != "" {
		facts = append(facts, fmt.Sprintf("the output has %d lines; all of it is in %s: search that with grep, or read it with offset and limit", r.Gap.Total, r.Full))
	}
	switch {
	case r.Exit.TimedOut:
		facts = append(facts, fmt.Sprintf("stopped at the limit of %d ms; timeout allows more, if it is only slow", limit.Milliseconds()))
	case r.Exit.Signal != "":
		facts = append(facts, "ended by "+r.Exit.Signal, fmt.Sprintf("exit code: %d", r.Exit.Code))
	case r.Exit.Code != 0:
		facts = append(facts, fmt.Sprintf("exit code: %d", r.Exit.Code))
	}
	for _, d := range r.Denied {
		facts = append(facts, "refused by the sandbox: "+d)
	}
	facts = append(facts, harness.Unsignalled(r)...)
	if len(facts) == 0 {
		return text
	}
	return text + "\n\n" + metadata(facts...)
}

func metadata(facts ...string) string {
	return "<bash_metadata>\n" + strings.Join(facts, "\n") + "\n</bash_metadata>"
}
