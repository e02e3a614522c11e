package exec

import (
	"cmp"
	"fmt"
	"strings"

	"interpreter/agent/event"
	"interpreter/cmd/config"
	"interpreter/sandbox/action"
)

// How much of an output or a diff a person is shown; the session file has all of it.
const (
	outputLines = 40
	diffLines   = 200
)

func (h *Human) started(b event.Started) {
	if h.actions == nil {
		h.actions = map[string]event.Started{}
	}
	h.actions[b.CallID] = b
	if !announced(b.Need) {
		return // told with its result
	}
	command := cmp.Or(b.Need.Typed, b.Need.Script, quoteAll(b.Need.Argv), b.Title)
	dir := b.Need.Dir
	if dir == "" {
		dir = h.dir
	}
	command = strings.ReplaceAll(whole(config.Redact(strings.TrimSpace(command))), "\n", "\n      ")
	h.print(h.entry(cyan, "run", command+h.paint(dim, "   (cwd "+single(dir)+")")))
}

// announced reports whether an action is told of when it begins: what runs, and what is typed.
func announced(n action.Need) bool { return n.Effect == action.Runs || n.Typed != "" }

// inTerminal reports whether facts are of a terminal that programs are typed into. Its shell goes on after each look.
func inTerminal(n action.Need, out action.Ran) bool {
	return n.TTY && len(n.Argv) == 0 || out.Screen != "" || out.Claims > 0 && out.Script == ""
}

// printed is what a command printed, or what the terminal shows when it cannot be told what of that is new: the model is
// given the one or the other as well.
func printed(out action.Ran) string {
	if screen := strings.TrimRight(out.Screen, " \n"); strings.TrimSpace(out.Output) == "" && screen != "" {
		return screen + "\n"
	}
	return out.Output
}

func (h *Human) did(b event.Did) {
	begun, known := h.actions[b.CallID]
	delete(h.actions, b.CallID)
	if b.Status == event.Declined && b.By != "" {
		why := strings.TrimSuffix(" ("+single(config.Redact(b.Error))+")", " ()")
		h.refused = append(h.refused, single(whole(config.Redact(cmp.Or(begun.Title, b.Tool))))+why)
	}
	switch out := b.Outcome.(type) {
	case action.Ran:
		if known && !announced(begun.Need) {
			h.print(h.heading(begun, b))
		}
		h.ran(out, b, begun.Need)
		return
	case action.Changed:
		h.changed(out)
		return
	case action.Planned:
		h.planned(out)
		return
	}
	word, rest := named(begun, b)
	if known && announced(begun.Need) {
		word, rest = "", "" // the line above says what
	}
	switch b.Status {
	case event.Completed:
		h.print(h.ending(dim, word, rest+found(b.Outcome)))
	case event.Declined:
		lines := []string{h.ending(yellow, word, rest, strings.TrimSuffix("declined: "+single(b.Error), ": "))}
		if b.Remedy != "" {
			lines = append(lines, "  try: "+single(toAllow(b.Remedy)))
		}
		h.print(lines...)
	case event.Aborted:
		h.print(h.ending(yellow, word, rest, "stopped after "+span(b.Took)))
	default:
		h.print(h.ending(red, word, rest, strings.TrimSuffix(string(b.Status)+": "+single(b.Error), ": ")))
	}
}

// named is an action in a word and the rest: "read", "habits.go".
func named(begun event.Started, b event.Did) (word, rest string) {
	what := single(whole(cmp.Or(begun.Title, b.Tool)))
	if word, rest, spaced := strings.Cut(what, " "); spaced {
		return word, rest
	}
	return "call", what
}

// heading says what the facts below are of, when nothing was said before them.
func (h *Human) heading(begun event.Started, b event.Did) string {
	if out, ok := b.Outcome.(action.Ran); ok && out.Claims > 0 {
		return h.entry(cyan, "done", single(begun.Title))
	}
	word, rest := named(begun, b)
	return h.entry(cyan, word, rest)
}

// ending is the line of an action that has no facts to show; one that was announced has only its verdict left to tell.
func (h *Human) ending(style, word, rest string, verdict ...string) string {
	said := h.paint(style, strings.Join(verdict, ""))
	if word == "" {
		return said
	}
	if said != "" {
		rest += "  " + said
	}
	return h.entry(style, word, rest)
}

// found says how much a look at the workspace brought.
func found(out action.Outcome) string {
	switch out := out.(type) {
	case action.Seen:
		if out.Last > 0 {
			return fmt.Sprintf("  (lines %d to %d of %d)", out.First, out.Last, out.Total)
		}
	case action.Found:
		more := ""
		if out.More != 0 {
			more = " and more"
		}
		return fmt.Sprintf("  (%d%s)", len(out.Hits), more)
	case action.Fetched:
		return fmt.Sprintf("  (HTTP %d)", out.Status)
	}
	return ""
}

func (h *Human) ran(out action.Ran, b event.Did, need action.Need) {
	took := span(out.Took)
	if out.Took == 0 {
		took = span(b.Took)
	}
	style, verdict := green, "ok "+took
	switch {
	case b.Status == event.Declined:
		style, verdict = yellow, "declined"
	case b.Status == event.Aborted:
		style, verdict = yellow, "stopped after "+span(b.Took)
	case inTerminal(need, out) && out.Session != 0:
		style, verdict = cyan, "looked after "+took
	case out.Session != 0:
		style, verdict = cyan, fmt.Sprintf("still running as %d after %s", out.Session, took)
	case out.Exit.TimedOut:
		style, verdict = red, "timed out after "+took
	case out.Exit.Signal != "":
		style, verdict = red, "killed by "+out.Exit.Signal+", "+took
	case out.Exit.Code != 0:
		style, verdict = red, fmt.Sprintf("exit %d, %s", out.Exit.Code, took)
	}
	lines := []string{h.paint(style, verdict+beyond(out, b.By))}
	for _, line := range shorten(clean(printed(out)), outputLines) {
		lines = append(lines, h.paint(dim, line))
	}
	for _, denial := range out.Denied {
		lines = append(lines, h.paint(yellow, "sandbox: ")+single(denial))
	}
	if b.Remedy != "" {
		lines = append(lines, "  try: "+single(toAllow(b.Remedy)))
	}
	h.notices = append(h.notices, out.Exit.Notices...)
	h.print(lines...)
}

// toAllow says how a person lets pass what the sandbox refused.
func toAllow(flags string) string { return "interpreter exec " + flags + ", to allow it" }

// beyond tells that a command ran with more rights than the others, and who said so.
func beyond(out action.Ran, by string) string {
	how := ""
	switch {
	case out.Outside:
		how = ", outside the sandbox"
	case out.Opened.Network && len(out.Opened.Paths) > 0:
		how = ", with the network and " + single(strings.Join(out.Opened.Paths, ", "))
	case out.Opened.Network:
		how = ", with the network"
	case len(out.Opened.Paths) > 0:
		how = ", with " + single(strings.Join(out.Opened.Paths, ", "))
	default:
		return ""
	}
	switch by {
	case event.ByRule:
		how += " as a rule allows"
	case event.ByGrant:
		how += " as allowed before"
	}
	return how
}

// asked shows a question, to the letter.
func (h *Human) asked(b event.Asked) {
	lines := b.Lines()
	for i, line := range lines {
		if line = config.Redact(line); i == 0 {
			lines[i] = h.entry(yellow, "ask", line)
		} else {
			lines[i] = "      " + line
		}
	}
	h.print(lines...)
}

// mostDeclined bounds what is repeated at the end of a turn.
const mostDeclined = 5

// declined sums up at the end of a turn what was not allowed to happen, and what commands left behind.
func (h *Human) declined() {
	if n := len(h.refused); n > 0 {
		what, more := fmt.Sprintf("%d calls were declined: ", n), ""
		if n == 1 {
			what = "1 call was declined: "
		}
		if n > mostDeclined {
			more = fmt.Sprintf("; and %d more", n-mostDeclined)
		}
		h.print(h.paint(yellow, what) + strings.Join(h.refused[:min(n, mostDeclined)], "; ") + more)
	}
	for _, notice := range h.notices {
		h.Warn(notice, "look at it before you use git there")
	}
	h.refused, h.notices = nil, nil
}

// shorten keeps the first and the last lines of a text.
func shorten(text string, most int) []string {
	text = strings.TrimRight(text, "\n")
	if text == "" {
		return nil
	}
	lines := strings.Split(text, "\n")
	if len(lines) <= most {
		return lines
	}
	first := most / 2
	cut := append([]string(nil), lines[:first]...)
	cut = append(cut, fmt.Sprintf("… %s more lines …", thousands(len(lines)-most)))
	return append(cut, lines[len(lines)-(most-first):]...)
}

func (h *Human) changed(out action.Changed) {
	letters := map[action.ChangeKind]string{action.Added: "A", action.Deleted: "D", action.Modified: "M", action.Moved: "R"}
	var lines []string
	for _, f := range out.Files {
		name := single(f.Path)
		if f.To != "" {
			name += " → " + single(f.To)
		}
		lines = append(lines, h.entry(cyan, "edit", fmt.Sprintf("%s %s  +%d −%d", letters[f.Kind], name, f.Added, f.Removed)))
		for _, line := range shorten(strict(f.Diff), diffLines) {
			lines = append(lines, h.diffLine(line))
		}
	}
	status := h.paint(green, "done")
	if out.Same {
		status = h.paint(dim, "nothing to change")
	}
	h.print(append(lines, status)...)
}

func (h *Human) diffLine(line string) string {
	switch {
	case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"):
		return h.paint(bold, line)
	case strings.HasPrefix(line, "@@"):
		return h.paint(cyan, line)
	case strings.HasPrefix(line, "+"):
		return h.paint(green, line)
	case strings.HasPrefix(line, "-"):
		return h.paint(red, line)
	}
	return line
}

func (h *Human) planned(out action.Planned) {
	steps := make([]string, 0, len(out.Items))
	for _, i := range out.Items {
		sign, style := "•", plainText
		switch i.Status {
		case "completed":
			sign, style = "✓", green
		case "in_progress":
			sign, style = "→", cyan
		}
		steps = append(steps, h.paint(style, sign+" "+single(i.Text)))
	}
	h.print(h.entry(cyan, "plan", strings.Join(steps, "  ")))
}
