package action

import (
	"context"
	"fmt"
	"time"
)

// Poll looks at a running command, after typing something into it if there is something to type.
type Poll struct {
	Session int
	Chars   string        // without a terminal only "\x03", which interrupts
	Yield   time.Duration // how long to wait for the end: 0 is 250 ms, less than 0 does not wait
	Limit   int           // bytes of Output; 0 is 30 000
}

// Interrupt is what Poll types to interrupt a command.
const Interrupt = "\x03"

// pollYield is how long a Poll without a Yield waits.
const pollYield = 250 * time.Millisecond

// Title is the action in a line.
func (a Poll) Title() string {
	switch a.Chars {
	case "":
		return one("look at command %d", a.Session)
	case Interrupt:
		return one("interrupt command %d", a.Session)
	}
	return one("type into command %d: %q", a.Session, a.Chars)
}

// Need asks for nothing: the command was allowed to run.
func (a Poll) Need() Need { return Need{Effect: Thinks} }

// Do types, waits for the end or for Yield, and gives what was printed since the last look. A command that has ended
// is forgotten. Ending ctx ends the wait and leaves the command alone.
func (a Poll) Do(ctx context.Context, w *Workspace) (Ran, error) {
	l, err := w.run(a.Session)
	if err != nil {
		return Ran{}, err
	}
	if a.Chars != "" && !l.ended() {
		if err := l.write(a.Chars); err != nil {
			return Ran{}, fmt.Errorf("command %d: %w", a.Session, err)
		}
	}
	yield := a.Yield
	switch {
	case yield == 0:
		yield = pollYield
	case yield < 0:
		yield = 1 // wait tells what was printed, and looks whether it has ended
	}
	if err := l.wait(ctx, w, yield); err != nil {
		return Ran{}, fmt.Errorf("command %d: %w", a.Session, err)
	}
	out := l.report(w, within(ctx, a.Limit))
	if out.Session == 0 {
		w.dropRun(a.Session)
	}
	return out, nil
}

func (l *liveRun) write(chars string) error {
	switch {
	case l.tty:
		return l.proc.Write([]byte(chars))
	case chars == Interrupt:
		l.proc.Interrupt()
		return nil
	}
	return ErrNoStdin
}
