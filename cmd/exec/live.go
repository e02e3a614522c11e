package exec

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"interpreter/agent/event"
	"interpreter/sandbox/action"
)

// live is what a terminal shows between two whole events: an answer as it comes, and what a silence is about.
type live struct {
	pending string // heard, not shown yet: it ends inside a control sequence or a character
	shown   string // what of the present answer is on the screen
	kind    string // "thinking" or "text": which of the two the screen is in
	doing   string // what is being waited for, "" for nothing
	word    string // the kind of line that tells of it
	since   time.Time
	next    time.Duration // of a silence where lines cannot be written over: when to tell of it again
	takes   time.Duration // what the wait will take as far as is known, 0 otherwise
}

// heldMost bounds what is held back of an answer, in bytes: a control sequence that goes on longer is none.
const heldMost = 4 << 10

// longReading is what a person should know of before they wonder.
const longReading = time.Minute

// firstWord is how long a silence lasts before it is told of where lines cannot be written over.
const firstWord = 30 * time.Second

// await notes what is being waited for from now on, or from the next beat.
func (l *live) await(doing string, since ...time.Time) {
	l.doing, l.word, l.since, l.next, l.takes = doing, "wait", time.Time{}, firstWord, 0
	if len(since) > 0 {
		l.since = since[0]
	}
}

// heard shows a piece of an answer. Whole lines are shown as they are; of an unfinished one only what holds no control
// character, since the rest of a sequence may still come.
func (h *Human) heard(b event.Heard) {
	if !h.Terminal {
		return
	}
	if b.Thinking != "" && !h.HideReasoning {
		h.flow("thinking", b.Thinking)
	}
	if b.Text != "" {
		h.flow("text", b.Text)
	}
}

func (h *Human) flow(kind, piece string) {
	l := &h.live
	if l.kind != kind {
		if l.kind == "" && strings.TrimSpace(piece) == "" {
			return
		}
		h.settle()
		l.kind = kind
	}
	l.pending += piece
	whole := strings.LastIndexByte(l.pending, '\n') + 1
	if rest := l.pending[whole:]; strings.IndexFunc(rest, unicode.IsControl) < 0 && !strings.ContainsRune(rest, unicode.ReplacementChar) || len(rest) > heldMost {
		whole = len(l.pending)
	}
	text := l.pending[:whole]
	l.pending = l.pending[whole:]
	if text == "" {
		return
	}
	if h.rewrote {
		_, _ = io.WriteString(h.Out, "\r\x1b[K")
		h.rewrote = false
	}
	if l.shown == "" {
		if text = strings.TrimLeft(text, "\n"); text == "" {
			return
		}
		if h.tight {
			text = "\n" + text
			h.tight = false
		}
	}
	style := plainText
	if kind == "thinking" {
		style = dim
	}
	_, _ = io.WriteString(h.Out, h.paint(style, clean(text)))
	l.shown += text
	l.doing = ""
}

// settle ends what was shown of an answer, so that the next block starts on its own line. It reports whether the
// answer's text is on the screen.
func (h *Human) settle() (told bool) {
	l := &h.live
	if l.shown == "" && l.pending == "" {
		l.kind = ""
		return false
	}
	text := clean(l.pending)
	if !strings.HasSuffix(l.shown+l.pending, "\n") {
		text += "\n"
	}
	_, _ = io.WriteString(h.Out, text+"\n")
	told = l.kind == "text"
	*l = live{doing: l.doing, word: l.word, since: l.since, next: l.next, takes: l.takes}
	return told
}

// wait notes what a silence from now on is about.
func (h *Human) wait(e event.Event) {
	l := &h.live
	switch b := e.Body.(type) {
	case event.Prompted, event.Did, event.Injected, event.Compacted:
		doing, takes := h.reading.expect()
		l.await(doing, e.Time)
		if l.takes = takes; takes >= longReading {
			l.next = time.Second // a person is told at once
		}
	case event.Waited:
		l.await("waiting for the server", e.Time)
	case event.Started:
		l.await("", e.Time)
		if b.Need.Effect == action.Runs {
			l.await("running", e.Time)
		}
	case event.Heard:
		// A terminal shows the words themselves, unless thinking is hidden; the server has read in any case.
		if l.doing != "" && l.doing != writing && (!h.Terminal || l.takes > 0) {
			l.await(writing, e.Time)
		}
	case event.Said, event.Asked, event.TurnEnded:
		l.await("")
	}
}

const writing = "the model is writing"

// Tick tells how long the present silence has lasted: on a terminal in a line that is written over by whatever comes
// next, elsewhere in a line after half a minute, and then each time it has lasted twice as long.
func (h *Human) Tick(now time.Time) {
	l := &h.live
	if h.Quiet || l.doing == "" || l.shown != "" {
		return
	}
	if l.since.IsZero() {
		l.since = now
	}
	took := now.Sub(l.since)
	if l.takes > 0 && took > l.takes*5/4 {
		l.doing, l.takes = fmt.Sprintf("waiting for the model, longer than the %s expected", left(l.takes)), 0
	}
	switch {
	case h.Terminal && took >= 2*time.Second:
		text := fmt.Sprintf("%s, %d s", l.doing, int(took.Seconds()))
		if l.word != "wait" {
			text = fmt.Sprintf("%-5s %s", l.word, text)
		}
		h.rewrite(h.paint(dim, text))
	case !h.Terminal && took >= l.next:
		l.next = max(2*l.next, firstWord, took.Truncate(firstWord)+firstWord)
		h.print(h.entry(dim, l.word, l.doing+", "+left(took)+" so far"))
	}
}
