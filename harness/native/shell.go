package native

import (
	"fmt"
	"strings"
	"time"

	"interpreter/harness"
	"interpreter/sandbox/action"
)

// escalation is how a model asks to leave the sandbox.
type escalation struct {
	Permissions string   `json:"sandbox_permissions,omitempty" enum:"use_default,require_escalated"`
	Reason      string   `json:"justification,omitempty"`
	Prefix      []string `json:"prefix_rule,omitempty"`
}

func (e escalation) of(r action.Run) action.Run {
	r.Escalate = e.Permissions == "require_escalated"
	if r.Escalate {
		r.Reason, r.Prefix = e.Reason, e.Prefix
	}
	return r
}

type execParams struct {
	Cmd     string  `json:"cmd"`
	Workdir string  `json:"workdir,omitempty"`
	Shell   string  `json:"shell,omitempty"`
	Login   bool    `json:"login,omitempty" default:"true"` // every command has the session's login environment
	TTY     bool    `json:"tty,omitempty" default:"false"`
	Yield   float64 `json:"yield_time_ms,omitempty" default:"10000"`
	Tokens  float64 `json:"max_output_tokens,omitempty" default:"10000"`
	escalation
}

// execCommand runs a script and comes back when it ends or has run long enough to be looked at.
func execCommand(p execParams) (harness.Step, error) {
	if step, ok, err := patchStep(p.Cmd, p.Workdir, func(text string) string { return "Wall time: 0 seconds\nOutput:\n" + text }); ok || err != nil {
		return step, err
	}
	run := p.of(action.Run{
		Script: p.Cmd, Dir: p.Workdir, Shell: p.Shell, TTY: p.TTY,
		Yield: between(p.Yield, 250, 30_000), Limit: allowed(p.Tokens),
	})
	return harness.Do(run, sayExec), nil
}

type stdinParams struct {
	Session float64 `json:"session_id"`
	Chars   string  `json:"chars,omitempty" default:""`
	Yield   float64 `json:"yield_time_ms,omitempty" default:"250"`
	Tokens  float64 `json:"max_output_tokens,omitempty" default:"10000"`
}

func writeStdin(p stdinParams) (harness.Step, error) {
	wait := between(p.Yield, 250, 30_000)
	if p.Chars == "" {
		wait = between(p.Yield, 5_000, 300_000)
	}
	poll := action.Poll{Session: int(p.Session), Chars: p.Chars, Yield: wait, Limit: allowed(p.Tokens)}
	return harness.Do(poll, sayExec), nil
}

func between(ms, least, most float64) time.Duration {
	return time.Duration(min(max(ms, least), most)) * time.Millisecond
}

// budget is how many bytes of output a result may carry, whatever the model asks for.
const budget = 20_000

func allowed(tokens float64) int { return int(min(max(tokens, 50)*4, budget)) }

func sayExec(r action.Ran) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Wall time: %.1f seconds\n", r.Took.Seconds())
	if r.Session != 0 {
		fmt.Fprintf(&b, "Process running with session ID %d\n", r.Session)
	} else {
		fmt.Fprintf(&b, "Process exited with code %d\n", r.Exit.Code)
	}
	tokens := (max(r.Bytes, int64(len(r.Output))) + 3) / 4
	fmt.Fprintf(&b, "Original token count: %d\nOutput:\n", tokens)
	if r.Omitted > 0 {
		fmt.Fprintf(&b, "Warning: truncated output (original token count: %d)\nTotal output lines: %d\n\n", tokens, r.Lines)
	}
	return b.String() + output(r) + remarks(r)
}

// output is what was printed, with the mark these models know where its middle is missing.
func output(r action.Ran) string {
	g := r.Gap
	if g == nil || g.At+g.Mark > len(r.Output) {
		return r.Output
	}
	where := ""
	if r.Full != "" {
		where = fmt.Sprintf(" [lines %d-%d of %d; all of it is in %s]", g.First, g.Last, g.Total, r.Full)
	}
	return fmt.Sprintf("%s…%d tokens truncated…%s\n%s", r.Output[:g.At], (g.Bytes+3)/4, where, r.Output[g.At+g.Mark:])
}

// remarks are facts beside the output: what the sandbox refused, how the command died. A mark in a long output says
// itself what is missing and where it is.
func remarks(r action.Ran) string {
	var lines []string
	for _, d := range r.Denied {
		lines = append(lines, "[sandbox: "+d+"]")
	}
	for _, n := range r.Notes {
		lines = append(lines, "["+n+"]")
	}
	if lines == nil {
		return ""
	}
	start := "\n"
	if strings.HasSuffix(r.Output, "\n") || r.Output == "" {
		start = ""
	}
	return start + strings.Join(lines, "\n")
}

type commandParams struct {
	Command string  `json:"command"`
	Workdir string  `json:"workdir,omitempty"`
	Timeout float64 `json:"timeout_ms,omitempty" default:"10000" unit:"ms"`
	Login   bool    `json:"login,omitempty" default:"true"`
	escalation
}

// shellCommand runs a script to its end.
func shellCommand(p commandParams) (harness.Step, error) {
	if step, ok, err := patchStep(p.Command, p.Workdir, func(text string) string { return "Wall time: 0 seconds\nOutput:\n" + text }); ok || err != nil {
		return step, err
	}
	limit := time.Duration(max(p.Timeout, 1)) * time.Millisecond
	run := p.of(action.Run{Script: p.Command, Dir: p.Workdir, Timeout: limit, Limit: budget})
	return harness.Do(run, func(r action.Ran) string { return sayShell(r, limit) }), nil
}

// shellParams are those of older transcripts: an argument list, which arrives here as a script.
type shellParams struct {
	Command string  `json:"command"`
	Workdir string  `json:"workdir,omitempty"`
	Timeout float64 `json:"timeout_ms,omitempty" default:"10000" unit:"ms"`
}

func shell(p shellParams) (harness.Step, error) {
	return shellCommand(commandParams{Command: p.Command, Workdir: p.Workdir, Timeout: p.Timeout})
}

func sayShell(r action.Ran, limit time.Duration) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Exit code: %d\nWall time: %.1f seconds\n", r.Exit.Code, r.Took.Seconds())
	if r.Omitted > 0 {
		fmt.Fprintf(&b, "Total output lines: %d\n", r.Lines)
	}
	b.WriteString("Output:\n")
	if r.Exit.TimedOut {
		fmt.Fprintf(&b, "command timed out after %d milliseconds\n", limit.Milliseconds())
	}
	return b.String() + output(r) + remarks(r)
}
