package exec

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"interpreter/agent/event"
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
	held    string   // an answer without a call: final, unless something follows
	rewrote bool     // the last line on the terminal will be written over
	tight   bool     // the last block has no blank line after it
	told    bool     // the held answer is on the screen already
	beside  string   // what was last said beside a call
	refused []string // calls of this turn that were declined, with the reasons
	notices []string // what commands of this turn left behind
	live    live
	reading reading

	download Download
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
	h.reading.event(e)
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
		h.print(h.entry(yellow, "wait", single(b.Why)+tries(b)))
	case event.Started:
		h.started(b)
	case event.Did:
		h.did(b)
	case event.Tried:
		h.ran(b.Outcome, event.Did{CallID: b.CallID, Status: event.Failing}, h.actions[b.CallID].Need)
	case event.Asked:
		h.asked(b)
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
	if w.Attempt == 0 {
		return ""
	}
	text := ", try " + strconv.Itoa(w.Attempt+1)
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
	lines = append(lines, rule)
	if b.Sandbox == "danger-full-access" {
		asks := "and asks nobody"
		if b.Approval != "never" {
			asks = "except for what it asks you first"
		}
		lines = append(lines, h.paint(red, "no sandbox: ")+"whatever the model runs has all your rights, "+asks)
	}
	h.print(lines...)
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
	if h.beside = text; !told {
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

func (h *Human) turnEnded(b event.TurnEnded) {
	final := strings.TrimSpace(b.Final)
	switch {
	case b.Reason == event.Finished && (h.held == final || h.held == ""):
		if h.held == "" && h.beside != "" { // a call had the last word, and this was shown beside it
			final = unsaid(final, h.beside)
		}
		if h.ShowFinal {
			h.say(final)
		}
	default:
		h.say(h.held)
	}
	h.held, h.told, h.beside = "", false, ""
	if b.Reason != event.Finished {
		h.failure(b)
	}
	h.declined()
	if tally := event.Tally(b.Recovered); tally != "" {
		h.print(h.paint(dim, "recovered: "+tally))
	}
	total := b.Usage.Input - b.Usage.CachedInput + b.Usage.Output
	h.print(h.paint(dim, "total "+thousands(total)+" tokens"))
}

// unsaid is what of a last word is new behind what was said just before, of which it may leave out the beginning.
func unsaid(final, said string) string {
	for rest := said; rest != ""; _, rest, _ = strings.Cut(rest, "\n") {
		if more, ok := strings.CutPrefix(final, rest); ok {
			return strings.TrimSpace(more)
		}
	}
	return final
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
