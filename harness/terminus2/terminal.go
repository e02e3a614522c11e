package terminus2

import (
	"fmt"
	"strings"
	"time"

	"interpreter/harness"
	"interpreter/sandbox/action"
)

// Seconds of waiting: for one of a reply's elements, when it does not say, and for all of them.
const (
	usual    = 1.0
	most     = 60.0
	together = 180.0
)

// half is how many bytes of each end of a long output are shown.
const half = 5000

type params struct {
	Commands []stroke `json:"commands" absent:"ok"`
	Complete bool     `json:"task_complete" absent:"ok"`
	Warnings []string `json:"warnings,omitempty" hidden:"yes"`
	Command  string   `json:"command,omitempty" hidden:"yes"` // of models that call a shell
}

type stroke struct {
	Keys     string  `json:"keystrokes"`
	Duration float64 `json:"duration" absent:"ok" default:"1"`
}

// terminal types what a reply asks for, and looks. A reply that reports the task as done is asked once whether it is.
func terminal(p params) (harness.Step, error) {
	if len(p.Commands) == 0 && p.Command != "" {
		p.Commands = []stroke{{strings.TrimSuffix(p.Command, "\n") + "\n", usual}}
	}
	strokes, late := typing(p.Commands)
	if !p.Complete {
		return harness.Do(action.Keys{Strokes: strokes}, func(r action.Ran) string { return say(r, p.Warnings, late) }), nil
	}
	return harness.Do(action.Claim{Strokes: strokes}, func(r action.Ran) string { return sayComplete(r, p.Warnings, late) }).Ending(ends), nil
}

// overdue is an element whose wait was cut short, because the ones of the reply are too long together.
type overdue struct {
	keys string
	wait float64
}

func typing(commands []stroke) (strokes []action.Stroke, late *overdue) {
	left := together
	for _, c := range commands {
		wait := min(max(c.Duration, 0), most)
		if wait > left && late == nil {
			late = &overdue{c.Keys, wait}
		}
		wait = min(wait, left)
		left -= wait
		strokes = append(strokes, action.Stroke{Text: c.Keys, Wait: time.Duration(wait * float64(time.Second))})
	}
	return strokes, late
}

// enough is how often in a row a task must be reported as done.
const enough = 2

func ends(o action.Outcome) (final string, ended bool) {
	r, ok := o.(action.Ran)
	return "", ok && r.Claims >= enough
}

// say is what the terminal shows after a reply.
func say(r action.Ran, warnings []string, late *overdue) string {
	var b strings.Builder
	if len(warnings) > 0 {
		b.WriteString("Your reply was carried out, with these warnings:\n" + listed(warnings) + "\n\n")
	}
	if late != nil {
		fmt.Fprintf(&b, "Timed out: all waits of a reply together may take %g seconds, so the %g seconds behind %q were cut short. What runs may still be running: wait on with empty keystrokes, or press C-c.\n\n", together, late.wait, cut(late.keys))
		b.WriteString(screen(r))
	} else {
		b.WriteString(state(r))
	}
	for _, n := range r.Notes {
		b.WriteString("\n[" + n + "]")
	}
	return strings.TrimRight(b.String(), "\n")
}

func listed(lines []string) string { return "- " + strings.Join(lines, "\n- ") }

// state is what is new in the terminal; its screen, when nothing is or nobody can tell.
func state(r action.Ran) string {
	if strings.TrimSpace(r.Output) == "" {
		return screen(r)
	}
	return "New Terminal Output:\n\n" + limited(r.Output, r.Omitted)
}

func screen(r action.Ran) string {
	shown := strings.TrimRight(r.Screen, "\n")
	if shown == "" {
		shown = "(it is empty)"
	}
	return "Current Terminal Screen:\n\n" + limited(shown, 0)
}

// limited keeps both ends of a text. omitted bytes of its middle were left out before.
func limited(text string, omitted int64) string {
	text = strings.TrimRight(text, "\n")
	if len(text) <= 2*half {
		return text
	}
	ends, gap := harness.Clip(text, 2*half, 0, 0.5)
	return strings.TrimSuffix(ends[:gap.At], "\n") + fmt.Sprintf("\n[... %d bytes left out here, only %d of an output are shown ...]\n", int64(gap.Bytes)+omitted, 2*half) + ends[gap.At:]
}

// sayComplete asks whether the task is done, and takes the second word for it.
func sayComplete(r action.Ran, warnings []string, late *overdue) string {
	if r.Claims >= enough {
		return "The task is reported as done twice; it ends here.\n\n" + say(r, nil, late)
	}
	return say(r, warnings, late) + "\n\nYou reported the task as done. Is it? Look at the terminal, and at each thing the task asks for: after the end nothing can be mended. " +
		"If it is, reply with task_complete true once more, and say in analysis what was found and done. If not, go on with task_complete false."
}

func cut(text string) string {
	text = strings.TrimRight(text, "\n")
	if runes := []rune(text); len(runes) > 80 {
		return string(runes[:80]) + "…"
	}
	return text
}
