package exec

import (
	"fmt"
	"io"
	"strconv"
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

// Human tells a run to a person, on standard error. The zero value of each field but Out is usable.
type Human struct {
	Out           io.Writer
	Version       string
	Colour        bool
	Terminal      bool // Out can rewrite a line
	Quiet         bool // news only: --json has told the rest on standard output
	HideReasoning bool
	ShowFinal     bool   // the final message is shown here and not on standard output
	GoOn          string // the command that goes on with the session, "" when it is not kept

	session string
	header  bool
	dir     string
	actions map[string]event.Started
	held    string // an answer without a call: final, unless something follows
	pulled  int64  // tenths of a download that were told
	rewrote bool   // the last line on the terminal will be written over
	tight   bool   // the last block has no blank line after it
	told    bool   // the held answer is on the screen already
	live    live
}

// UseColour decides on colour: --color says always, never or auto, and NO_COLOR speaks for auto.
func UseColour(choice string, terminal bool, noColour string) (bool, error) {
	switch choice {
	case "always":
		return true, nil
	case "never":
		return false, nil
	case "", "auto":
		return terminal && noColour == "", nil
	}
	return false, fmt.Errorf("--color %s: want always, never or auto", choice)
}

const (
	plainText = ""
	bold      = "1"
	dim       = "2"
	red       = "31"
	green     = "32"
	yellow    = "33"
	cyan      = "36"
)

func (h *Human) paint(style, text string) string {
	if !h.Colour || style == "" || text == "" {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}

// print writes a whole block at once, so that two programs on one terminal do not mix inside it. A person who went
// away does not stop the work: the error is dropped.
func (h *Human) print(lines ...string) {
	if len(lines) == 0 {
		return
	}
	text := strings.Join(lines, "\n") + "\n"
	if h.rewrote {
		text, h.rewrote = "\r\x1b[K"+text, false
	}
	h.tight = lines[len(lines)-1] != ""
	_, _ = io.WriteString(h.Out, text)
}

// entry is "word  text": the word that says what kind of line it is, in a column.
func (h *Human) entry(style, word, text string) string {
	return h.paint(style, fmt.Sprintf("%-5s", word)) + " " + text
}

// Warn shows news that stops nothing.
func (h *Human) Warn(text, remedy string) {
	lines := []string{h.paint(yellow, "warning: ") + strict(text)}
	if remedy != "" {
		lines = append(lines, "  try: "+strict(remedy))
	}
	h.print(lines...)
}

// Notice shows one line about the run itself.
func (h *Human) Notice(text string) { h.print(h.paint(dim, strict(text))) }

// Event shows one event of the run.
func (h *Human) Event(e event.Event) {
	if begun, ok := e.Body.(event.Begun); ok {
		h.session = begun.ID
		if h.Version == "" {
			h.Version = begun.Version
		}
		return
	}
	if h.Quiet {
		if ended, ok := e.Body.(event.TurnEnded); ok && ended.Reason != event.Finished {
			h.failure(ended)
		}
		return
	}
	if _, ended := e.Body.(event.TurnEnded); !ended && h.held != "" && event.Kept(e.Body) {
		h.say(h.held)
		h.held = ""
	}
	h.wait(e)
	if _, whole := e.Body.(event.Said); !whole && event.Kept(e.Body) {
		h.settle()
	}
	switch b := e.Body.(type) {
	case event.TurnStarted:
		h.turnStarted(b)
	case event.Prompted:
		if text := strings.TrimSpace(b.Message.Text); text != "" {
			h.print(h.paint(bold, "user"), clean(text), "")
		}
	case event.Said:
		h.said(b)
	case event.Waited:
		h.print(h.entry(yellow, "wait", fmt.Sprintf("%s, try %s", single(b.Why), tries(b))))
	case event.Started:
		h.started(b)
	case event.Did:
		h.did(b)
	case event.Asked:
		h.print(h.entry(yellow, "ask", single(b.Title)+": "+single(b.Why)))
	case event.Answered:
		h.print(h.entry(yellow, "ask", strings.TrimSuffix("answered "+single(b.Decision)+": "+single(b.Note), ": ")))
	case event.Warned:
		h.Warn(b.Text, b.Remedy)
	case event.Recovered:
		h.print(h.paint(dim, fmt.Sprintf("%-5s %s", "mend", strings.TrimSuffix(single(b.What)+": "+single(b.Detail), ": "))))
	case event.Compacted:
		h.print(h.entry(dim, "room", fmt.Sprintf("the conversation was summed up: %s tokens, were %s", thousands(b.After), thousands(b.Before))))
	case event.TurnEnded:
		h.turnEnded(b)
	case event.Heard:
		h.heard(b)
	case event.Begun, event.Opened, event.Injected, event.Printed, event.Foreign:
		// What only the model reads, and pieces of what is shown whole.
	}
}

func tries(w event.Waited) string {
	text := strconv.Itoa(w.Attempt + 1)
	if w.Limit > 0 {
		text += " of " + strconv.Itoa(w.Limit+1)
	}
	if w.For > 0 {
		text += " in " + span(w.For)
	}
	return text
}

func (h *Human) turnStarted(b event.TurnStarted) {
	h.dir = b.Dir
	if h.header {
		return
	}
	h.header = true
	rule := h.paint(dim, strings.Repeat("─", 40))
	confined := b.Sandbox
	if b.Backend != "" {
		confined += " (" + b.Backend + ")"
	}
	if b.Network {
		confined += ", with network"
	}
	harness := b.Harness
	if b.Why != "" {
		harness += " (" + b.Why + ")"
	}
	lines := []string{h.paint(bold, strings.TrimSpace("interpreter "+h.Version)), rule}
	window := ""
	if b.Window > 0 {
		window = thousands(b.Window) + " tokens"
	}
	for _, row := range [][2]string{{"workdir", b.Dir}, {"model", b.Model}, {"provider", b.Provider}, {"window", window}, {"harness", harness},
		{"approval", b.Approval}, {"sandbox", confined}, {"session id", h.session}} {
		if row[1] != "" {
			lines = append(lines, h.paint(dim, fmt.Sprintf("%-11s", row[0]))+single(row[1]))
		}
	}
	h.print(append(lines, rule)...)
}

func (h *Human) said(b event.Said) {
	streamed := h.Terminal && (h.live.kind != "" || h.live.shown != "")
	told := h.settle()
	if thinking := strings.TrimSpace(b.Message.Thinking); thinking != "" && !h.HideReasoning && !streamed {
		h.print(h.paint(dim, clean(thinking)), "")
	}
	text := strings.TrimSpace(b.Message.Text)
	if len(b.Message.Calls) == 0 {
		h.held, h.told = text, told
		return
	}
	if !told {
		h.say(text)
	}
}

func (h *Human) say(text string) {
	if h.told {
		h.told = false
		return
	}
	if text == "" {
		return
	}
	if h.tight {
		text = "\n" + text
	}
	h.print(clean(text), "")
}

func (h *Human) started(b event.Started) {
	if h.actions == nil {
		h.actions = map[string]event.Started{}
	}
	h.actions[b.CallID] = b
	if b.Need.Effect != action.Runs {
		return // told with its result
	}
	command := b.Need.Script
	if command == "" {
		command = quoteAll(b.Need.Argv)
	}
	if command == "" {
		command = b.Title
	}
	dir := b.Need.Dir
	if dir == "" {
		dir = h.dir
	}
	command = strings.ReplaceAll(strict(config.Redact(strings.TrimSpace(command))), "\n", "\n      ")
	h.print(h.entry(cyan, "run", command+h.paint(dim, "   (cwd "+single(dir)+")")))
}

func (h *Human) did(b event.Did) {
	begun, known := h.actions[b.CallID]
	delete(h.actions, b.CallID)
	switch out := b.Outcome.(type) {
	case action.Ran:
		h.ran(out, b)
		return
	case action.Changed:
		h.changed(out)
		return
	case action.Planned:
		h.planned(out)
		return
	}
	what := b.Tool
	if known && begun.Title != "" {
		what = begun.Title
	}
	word, rest, spaced := strings.Cut(single(what), " ")
	if !spaced {
		word, rest = "call", single(what)
	}
	if known && begun.Need.Effect == action.Runs {
		word, rest = "", "" // the line above says what
	}
	switch b.Status {
	case event.Completed:
		h.print(h.ending(dim, word, rest+found(b.Outcome)))
	case event.Declined:
		h.print(h.ending(yellow, word, rest, strings.TrimSuffix("declined: "+single(b.Error), ": ")))
	case event.Aborted:
		h.print(h.ending(yellow, word, rest, "stopped after "+span(b.Took)))
	default:
		h.print(h.ending(red, word, rest, strings.TrimSuffix(string(b.Status)+": "+single(b.Error), ": ")))
	}
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

func (h *Human) ran(out action.Ran, b event.Did) {
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
	case out.Session != 0:
		style, verdict = cyan, fmt.Sprintf("still running as %d after %s", out.Session, took)
	case out.Exit.TimedOut:
		style, verdict = red, "timed out after "+took
	case out.Exit.Signal != "":
		style, verdict = red, "killed by "+out.Exit.Signal+", "+took
	case out.Exit.Code != 0:
		style, verdict = red, fmt.Sprintf("exit %d, %s", out.Exit.Code, took)
	}
	lines := []string{h.paint(style, verdict)}
	for _, line := range shorten(clean(out.Output), outputLines) {
		lines = append(lines, h.paint(dim, line))
	}
	for _, denial := range out.Denied {
		lines = append(lines, h.paint(yellow, "sandbox: ")+single(denial))
	}
	h.print(lines...)
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

func (h *Human) turnEnded(b event.TurnEnded) {
	final := strings.TrimSpace(b.Final)
	switch {
	case b.Reason == event.Finished && (h.held == final || h.held == ""):
		if h.ShowFinal {
			h.say(final)
		}
	default:
		h.say(h.held)
	}
	h.held, h.told = "", false
	if b.Reason != event.Finished {
		h.failure(b)
	}
	total := b.Usage.Input - b.Usage.CachedInput + b.Usage.Output
	h.print(h.paint(dim, "total "+thousands(total)+" tokens"))
}

func (h *Human) failure(b event.TurnEnded) {
	if b.Reason == event.Interrupted {
		h.print(append([]string{h.paint(yellow, "interrupted")}, h.goOn()...)...)
		return
	}
	text := b.Error
	if text == "" {
		text = "the turn ended: " + string(b.Reason)
	}
	lines := []string{h.paint(red, "interpreter: ") + strict(text)}
	if b.Remedy != "" {
		lines = append(lines, "  try: "+strict(b.Remedy))
	}
	h.print(append(lines, h.goOn()...)...)
}

// goOn says how a turn that did not finish is continued.
func (h *Human) goOn() []string {
	if h.GoOn == "" || h.Quiet {
		return nil
	}
	return []string{"  go on: " + h.GoOn}
}

// thousands writes a count with separators.
func thousands(n int) string {
	if n < 0 {
		return "-" + thousands(-n)
	}
	text := strconv.Itoa(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}
