package agent

import (
	"bytes"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Why an answer was ended before its end.
var (
	errEndless  = errors.New("the model repeats itself without end")
	errThoughts = errors.New("the model thinks without coming to an answer")
)

// watch looks at an answer while it comes, for what will never become one. The zero value minds endless repetition;
// nil minds nothing.
type watch struct {
	budget  int // bytes of thought; 0: any number
	thought int
	thinks  endless
	says    endless
}

// hear takes a piece. The error ends the answer.
func (w *watch) hear(text, thinking string) error {
	if w == nil {
		return nil
	}
	if w.says.add(text) || w.thinks.add(thinking) {
		return errEndless
	}
	if w.thought += len(thinking); w.budget > 0 && w.thought > w.budget {
		return errThoughts
	}
	return nil
}

const (
	chunkBytes  = 50      // of what comes again
	chunkTimes  = 10      // and how often
	lineTimes   = 20      // the same for a line
	circleBytes = 1 << 10 // of the longest passage whose repetition is noticed
	lookEvery   = 128     // bytes between two looks
)

// endless notices a text that goes on repeating itself. What it holds is bounded, and so is its time for a byte.
type endless struct {
	tail   []byte
	unseen int
	line   []byte // the unfinished one
	last   string // the whole one before
	same   int    // how often that came in a row
	fenced bool
}

func (e *endless) add(piece string) bool {
	for line := range strings.Lines(piece) {
		if e.line = append(e.line, line...); line[len(line)-1] == '\n' {
			if e.lined(strings.TrimSpace(string(e.line))) {
				return true
			}
			e.line = e.line[:0]
		}
		if len(e.line) > circleBytes {
			e.line = e.line[:0] // too long to be one that repeats; the passage is minded below
		}
	}
	const most = chunkTimes * circleBytes
	e.tail = append(e.tail, piece...)
	if len(e.tail) > 2*most {
		e.tail = append(e.tail[:0], e.tail[len(e.tail)-most:]...)
	}
	if e.unseen += len(piece); e.unseen < lookEvery {
		return false
	}
	e.unseen = 0
	return circles(e.tail[max(0, len(e.tail)-most):])
}

// lined takes a whole line. In a fence the same line may well stand often.
func (e *endless) lined(line string) bool {
	if strings.HasPrefix(line, "```") {
		e.fenced = !e.fenced
	}
	if line == "" {
		return false
	}
	if line != e.last {
		e.last, e.same = line, 1
		return false
	}
	e.same++
	return e.same >= lineTimes && !e.fenced && strings.IndexFunc(line, unicode.IsLetter) >= 0
}

// circles reports whether a text ends with the same passage ten times over, and with 500 bytes of that at least. It
// looks for the last 50 bytes before their own place: how far back they are is the length of the passage.
func circles(tail []byte) bool {
	n := len(tail)
	if n < chunkBytes*chunkTimes {
		return false
	}
	at := bytes.LastIndex(tail[:n-1], tail[n-chunkBytes:])
	if at < 0 {
		return false
	}
	period := n - chunkBytes - at
	need := max(period, chunkBytes) * chunkTimes
	return need <= n && bytes.Equal(tail[n-need:n-period], tail[n-need+period:])
}

// garbage reports a text that is mostly no text: bytes that no encoding allows, or control characters.
func garbage(text string) bool {
	bad, all := 0, 0
	for _, r := range text {
		all++
		if r == utf8.RuneError || unicode.IsControl(r) && !unicode.IsSpace(r) {
			bad++
		}
	}
	return all >= 20 && bad*5 >= all
}
