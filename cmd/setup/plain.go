package setup

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/huh"
	"github.com/muesli/cancelreader"
)

// Plain asks line by line, for a screen reader, and for a terminal that cannot draw.
type Plain struct {
	In     io.Reader
	Screen Screen
}

// Hint tells how to answer.
func (p *Plain) Hint() string {
	return "Each question has numbered answers. Type a number and press Enter; Enter alone takes the answer that is named as recommended."
}

// leave is the answer that a terminal that draws has a key for.
const leave = "leave"

// Choose prints the answers with numbers and reads one.
func (p *Plain) Choose(ctx context.Context, q Question) (string, error) {
	picked := q.Default
	p.Screen.lines("")
	if q.About != "" {
		p.Screen.lines(strings.TrimRight(q.About, "\n"))
	}
	var options []huh.Option[string]
	recommended := 1
	for i, a := range append(q.Answers[:len(q.Answers):len(q.Answers)], Answer{Key: leave, Text: "leave"}) {
		text := a.Text
		for _, more := range a.More {
			text += "\n" + indent("   ", fold(more, p.Screen.width()-3))
		}
		if a.Key == q.Default {
			recommended = i + 1
		}
		options = append(options, huh.NewOption(text, a.Key))
	}
	title := fold(fmt.Sprintf("%s (recommended: %d)", q.Title, recommended), p.Screen.width())
	field := huh.NewSelect[string]().Title(title).Options(options...).Value(&picked)
	if err := p.run(ctx, field); err != nil {
		return "", err
	}
	if picked == leave {
		return "", ErrLeft
	}
	return picked, nil
}

// Type reads a line.
func (p *Plain) Type(ctx context.Context, t Field) (string, error) {
	text := ""
	p.Screen.lines("", t.About)
	field := huh.NewInput().Title(t.Title + ":").Value(&text)
	if t.Check != nil {
		field = field.Validate(t.Check)
	}
	return text, p.run(ctx, field)
}

func (p *Plain) run(ctx context.Context, field huh.Field) error {
	in := &lineReader{in: p.In}
	if waits, err := cancelreader.NewReader(p.In); err == nil {
		defer waits.Close()
		defer context.AfterFunc(ctx, func() { waits.Cancel() })()
		in.in = waits
	}
	err := field.WithTheme(theme(false)).RunAccessible(p.Screen.Out, in)
	if ctx.Err() != nil || in.ended {
		return ErrLeft
	}
	return err
}

// lineReader hands out one line at a time. The library reads each answer through a buffer of its own, which would
// swallow the answers to questions that are still to come. Where there are no more lines it hands out empty ones, since
// the library does not know what to make of an end; ended tells.
type lineReader struct {
	in    io.Reader
	ended bool
}

func (l *lineReader) Read(b []byte) (int, error) {
	for n := range b {
		got := 0
		var err error
		for got == 0 && err == nil && !l.ended {
			got, err = l.in.Read(b[n : n+1])
		}
		if got == 0 {
			l.ended = true
			b[n] = '\n'
		}
		if b[n] == '\n' {
			return n + 1, nil
		}
	}
	return len(b), nil
}
