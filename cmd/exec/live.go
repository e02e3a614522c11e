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
	since   time.Time
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
	if rest := l.pending[whole:]; strings.IndexFunc(rest, unicode.IsControl) < 0 && !strings.ContainsRune(rest, unicode.ReplacementChar) {
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
	*l = live{doing: l.doing, since: l.since}
	return told
}

// wait notes what a silence from now on is about.
func (h *Human) wait(e event.Event) {
	l := &h.live
	switch b := e.Body.(type) {
	case event.Prompted, event.Did, event.Injected, event.Compacted:
		l.doing, l.since = "waiting for the model", e.Time
	case event.Waited:
		l.doing, l.since = "waiting for the server", e.Time
	case event.Started:
		l.doing, l.since = "", e.Time
		if b.Need.Effect == action.Runs {
			l.doing = "running"
		}
	case event.Said, event.Asked, event.TurnEnded:
		l.doing = ""
	}
}

// Tick shows on a terminal how long the present silence has lasted. The line is written over by whatever comes next.
func (h *Human) Tick(now time.Time) {
	l := &h.live
	if !h.Terminal || h.Quiet || l.doing == "" || l.shown != "" || l.since.IsZero() {
		return
	}
	if took := now.Sub(l.since); took >= 2*time.Second {
		h.rewrite(h.paint(dim, fmt.Sprintf("%s, %d s", l.doing, int(took.Seconds()))))
	}
}
