package setup

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// Screen is where the wizard is shown.
type Screen struct {
	Out    io.Writer
	Width  int  // columns
	Moves  bool // a line may be written over: a terminal, and nobody has it read aloud
	Colour bool
}

// widest bounds what is comfortable to read.
const widest = 88

func (s Screen) width() int { return max(min(s.Width, widest), 30) }

// lines prints paragraphs, each wrapped. One that begins with a blank stays as it is: it is to be copied.
func (s Screen) lines(all ...string) {
	for _, text := range all {
		for line := range strings.SplitSeq(text, "\n") {
			if strings.HasPrefix(line, " ") {
				fmt.Fprintln(s.Out, line)
				continue
			}
			fmt.Fprintln(s.Out, fold(line, s.width()))
		}
	}
}

const wordColumn = 10

// done is what a step came to: a sign, a word, and a text that is set in below itself.
func (s Screen) done(word, text string) { s.mark("✓", "32", word, text) }

// warn is what a person should know, and need not act on now.
func (s Screen) warn(text string) { s.mark("!", "33", "note", text) }

// wrong is what did not work.
func (s Screen) wrong(text string) { s.mark("✗", "31", "sorry", text) }

func (s Screen) mark(sign, colour, word, text string) {
	if !s.Moves { // a sign is nothing to be read aloud
		s.lines(word + ": " + text)
		return
	}
	if s.Colour {
		sign = "\x1b[" + colour + "m" + sign + "\x1b[0m"
	}
	head := fmt.Sprintf("  %s %-*s", sign, wordColumn, word)
	gap := strings.Repeat(" ", 4+wordColumn)
	fmt.Fprintln(s.Out, head+strings.ReplaceAll(fold(text, s.width()-len(gap)), "\n", "\n"+gap))
}

// indent sets every line in.
func indent(gap, text string) string { return gap + strings.ReplaceAll(text, "\n", "\n"+gap) }

// fold breaks a paragraph at blanks alone, so that names and paths can be copied; a word that is longer than the line is
// broken where it must be.
func fold(text string, width int) string {
	var out []string
	for paragraph := range strings.SplitSeq(text, "\n") {
		line := paragraph[:len(paragraph)-len(strings.TrimLeft(paragraph, " "))]
		room := width - len(line)
		for i, word := range strings.Fields(paragraph) {
			gap := 1
			if i == 0 || room == width {
				gap = 0
			}
			if n := ansi.StringWidth(word); n+gap > room && room < width {
				out, line, room, gap = append(out, line), "", width, 0
			}
			for ansi.StringWidth(word) > width {
				head := ansi.Truncate(word, width, "")
				out, word = append(out, line+head), word[len(head):]
				line, room = "", width
			}
			line += strings.Repeat(" ", gap) + word
			room = width - ansi.StringWidth(line)
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

// spin are the pictures of something that goes on.
var spin = [...]string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

// busy says what goes on while work is done.
func (s Screen) busy(text string, work func()) {
	if !s.Moves {
		s.lines(text + " …")
		work()
		return
	}
	finished := make(chan struct{})
	var painter sync.WaitGroup
	painter.Go(func() {
		beat := time.NewTicker(100 * time.Millisecond)
		defer beat.Stop()
		for i := 0; ; i++ {
			s.over(spin[i%len(spin)] + " " + text + " …")
			select {
			case <-finished:
				s.over("")
				return
			case <-beat.C:
			}
		}
	})
	work()
	close(finished)
	painter.Wait()
}

// over writes over the last line.
func (s Screen) over(text string) {
	if text != "" {
		text = "  " + ansi.Truncate(text, max(s.Width-3, 10), "…")
	}
	fmt.Fprint(s.Out, "\r"+text+"\x1b[K")
}

// waiting shows the stages of something that takes long, and how long it has taken.
type waiting struct {
	lock   sync.Mutex
	screen Screen
	text   string
	since  time.Time
	told   time.Time
	quiet  bool // somebody else writes now
}

// now begins a stage.
func (l *waiting) now(text string, at time.Time) {
	l.lock.Lock()
	defer l.lock.Unlock()
	if l.text == text {
		return
	}
	l.text, l.since, l.told = text, at, at
	switch {
	case text == "":
		if l.screen.Moves {
			l.screen.over("")
		}
	case l.screen.Moves:
		l.screen.over(text + " …")
	default:
		l.screen.lines(text + " …")
	}
}

// tick tells how long the stage has taken, on a screen that cannot move twice a minute.
func (l *waiting) tick(at time.Time) {
	l.lock.Lock()
	defer l.lock.Unlock()
	took := at.Sub(l.since)
	switch {
	case l.text == "" || l.quiet || took < time.Second:
	case l.screen.Moves:
		l.screen.over(fmt.Sprintf("%s … %s", l.text, clock(took)))
	case at.Sub(l.told) >= 30*time.Second:
		l.told = at
		l.screen.lines(fmt.Sprintf("still at it after %s", clock(took)))
	}
}

// aside clears the line for somebody else who writes.
func (l *waiting) aside(work func()) {
	l.lock.Lock()
	l.quiet = true
	if l.screen.Moves && l.text != "" {
		l.screen.over("")
	}
	l.lock.Unlock()
	work()
	l.lock.Lock()
	l.quiet = false
	l.lock.Unlock()
}

func clock(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%d s", int(d.Seconds()))
	}
	return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
}
