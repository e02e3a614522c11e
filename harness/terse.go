package harness

import (
	"fmt"
	"strings"
	"time"

	"interpreter/sandbox/action"
)

// The terse tools are read, bash, edit, write, grep, find and ls as the pi family knows them: text as it is, without
// numbers before the lines, and what is to be said about it in brackets below. Each has parameters whose Plan is the
// action, and words for its facts.

// TerseBytes bounds one result, in bytes: a twelfth of the smallest window worth working in.
const TerseBytes = 20_000

// TersePatience is how long a command may run when the model names no limit.
const TersePatience = 10 * time.Minute

const (
	tersePage    = 2000 // lines that come at once
	terseColumns = 2000 // characters of a line
)

// TerseRead are the parameters of read.
type TerseRead struct {
	Path   string  `json:"path"`
	Offset float64 `json:"offset,omitempty" default:"1"`
	Limit  float64 `json:"limit,omitempty" default:"2000"`
}

// Plan is the action.
func (p TerseRead) Plan() action.Read {
	a := action.Read{Path: p.Path, Offset: max(int(p.Offset), 1), Limit: max(int(p.Limit), 0), MaxBytes: TerseBytes, Columns: terseColumns}
	if a.Limit == tersePage {
		a.Limit = 0 // the action's own limit, so that the words do not speak of one the model never gave
	}
	return a
}

// SayTerseRead gives a file as it is, and tells where to go on.
func SayTerseRead(s action.Seen) string {
	switch {
	case s.MIME != "":
		return fmt.Sprintf("Image %s (%s). It follows below if you can see images.", s.Path, s.MIME)
	case s.Total == 0:
		return "(empty file)"
	case s.Cut && s.ByLimit:
		return fmt.Sprintf("%s\n\n[%d more lines; continue with offset=%d.]", untailed(s.Text), s.Total-s.Last, s.Last+1) + terseLonger(s)
	case s.Cut:
		return fmt.Sprintf("%s\n\n[Lines %d-%d of %d shown; continue with offset=%d.]", untailed(s.Text), s.First, s.Last, s.Total, s.Last+1) + terseLonger(s)
	case len(s.Longer) > 0:
		return untailed(s.Text) + terseLonger(s)
	}
	return s.Text
}

// terseLonger tells how to see the rest of lines that were cut.
func terseLonger(s action.Seen) string {
	if len(s.Longer) == 0 {
		return ""
	}
	which := fmt.Sprintf("Line %d is", s.Longer[0])
	if len(s.Longer) > 1 {
		which = fmt.Sprintf("%d lines are", len(s.Longer))
	}
	return fmt.Sprintf("\n\n[%s cut at %d characters; see more with: sed -n '%dp' %s | cut -c %d-%d]",
		which, terseColumns, s.Longer[0], shellWord(s.Path), terseColumns+1, 4*terseColumns)
}

func untailed(text string) string { return strings.TrimRight(text, "\n") }

// TerseBash are the parameters of bash.
type TerseBash struct {
	Command string  `json:"command"`
	Timeout float64 `json:"timeout,omitempty" unit:"s"`
}

// Run is the action. It has a limit of time even when the model names none.
func (p TerseBash) Run() action.Run {
	run := action.Run{Script: p.Command, Timeout: time.Duration(p.Timeout * float64(time.Second)), Limit: TerseBytes}
	if run.Timeout <= 0 {
		run.Timeout = TersePatience
	}
	return run
}

// Plan is the step.
func (p TerseBash) Plan() (Step, error) {
	run := p.Run()
	return Do(run, func(r action.Ran) string { return SayTerseRan(r, run.Timeout) }), nil
}

// SayTerseRan gives what a command printed, and below it what else there is to know: what was cut, how it ended when
// not well.
func SayTerseRan(r action.Ran, limit time.Duration) string {
	text := untailed(r.Output)
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
	for _, n := range Unsignalled(r) {
		tail = append(tail, "["+n+"]")
	}
	for _, line := range tail {
		text += "\n\n" + line
	}
	return text
}

// TerseWrite are the parameters of write.
type TerseWrite struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

// Plan is the action.
func (p TerseWrite) Plan() action.Write { return action.Write{Path: p.Path, Content: p.Content} }

// SayTerseWritten counts the bytes.
func SayTerseWritten(c action.Changed) string {
	f := c.Files[0]
	if c.Same {
		return f.Path + " has this content already; nothing was written." + ChangeNotes(c)
	}
	return fmt.Sprintf("Wrote %d bytes to %s.", len(f.After), f.Path) + ChangeNotes(c)
}
