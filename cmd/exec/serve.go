// Package exec is the front end for one task without a screen: it takes a prompt from the command line or from standard
// input, tells a person what happens on standard error, and gives a program the final message, or with --json every
// event, on standard output. It decides nothing about the work: it reads the log and knocks at the door.
package exec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"interpreter/agent/event"
	"interpreter/local/chat"
)

// Session is what this front end needs of an agent.
type Session interface {
	Prompt(ctx context.Context, in chat.Message) error
	Compact(ctx context.Context) error
	Events(ctx context.Context, from int) iter.Seq[event.Event]
}

// Options say what to ask and where to tell.
type Options struct {
	Prompt         chat.Message
	Compact        bool   // sum the conversation up instead of asking; see IsCompact
	JSON           bool   // one event a line on Stdout
	From           int    // events before this number belong to earlier runs of the session
	LastMessage    string // file that gets the final message of a turn that succeeded; "" for none
	Stdout         io.Writer
	StdoutTerminal bool
	StderrTerminal bool
	Human          *Human            // tells the person; needed
	Decline        func(event.Asked) // answers a question that nobody is there for; nil: none come

	grace time.Duration // how long to look for the end of a turn, or to finish writing after an interrupt
}

// The exit codes of a run.
const (
	success = 0
	failure = 1
)

// Run has one turn done and returns the exit code. The error is about telling, not about the turn: how that went has
// been told by then. Ending ctx interrupts the turn; what happened until then is still told.
func Run(ctx context.Context, s Session, o Options) (code int, err error) {
	if o.grace == 0 {
		o.grace = 2 * time.Second
	}
	o.Human.Quiet = o.JSON
	o.Human.ShowFinal = o.StdoutTerminal && o.StderrTerminal
	turn, interrupt := context.WithCancelCause(ctx)
	defer interrupt(nil)
	follow, leave := context.WithCancel(context.WithoutCancel(ctx))
	defer leave()

	// Three hands: the turn, one that takes events from the log as fast as they come, and one that writes. A reader
	// of ours that is slow or stuck holds up only the last.
	backlog := newBacklog()
	taken := make(chan struct{})
	go func() {
		defer close(taken)
		defer backlog.end()
		take(s.Events(follow, 0), o.From, o.Decline, backlog)
	}()
	w := &writer{o: o, gone: interrupt}
	told := make(chan struct{})
	go func() {
		defer close(told)
		var beat <-chan time.Time
		if !o.Human.Quiet {
			ticker := time.NewTicker(time.Second)
			defer ticker.Stop()
			beat = ticker.C
		}
		for {
			e, ok := backlog.next(beat, o.Human.Tick)
			if !ok {
				return
			}
			w.event(e)
		}
	}()

	ask := func() error { return s.Prompt(turn, o.Prompt) }
	if o.Compact {
		ask = func() error { return s.Compact(turn) }
	}
	result := ask()
	// The end of the turn is in the log by now, unless the turn could not be begun or recorded.
	select {
	case <-taken:
	case <-time.After(o.grace / 4):
		leave()
		<-taken
	}
	select {
	case <-told:
	case <-ctx.Done(): // nobody may be reading; an interrupted run does not wait for them
		select {
		case <-told:
		case <-time.After(o.grace):
			return failure, errors.New("write events: standard output does not take them")
		}
	}
	return w.finish(result)
}

// take moves the events of this run from the log to the backlog, until its turn ends.
func take(events iter.Seq[event.Event], from int, decline func(event.Asked), to *backlog) {
	for e := range events {
		_, first := e.Body.(event.Begun)
		if e.Seq < from && !first {
			continue
		}
		if asked, ok := e.Body.(event.Asked); ok && decline != nil {
			decline(asked)
		}
		to.add(e)
		if _, ended := e.Body.(event.TurnEnded); ended {
			return
		}
	}
}

// backlog is a queue without a limit for what must be told, and with one for what need not.
type backlog struct {
	mu     sync.Mutex
	events []event.Event
	more   chan struct{} // holds a token when there may be something
	ended  bool
}

const mostPieces = 4096

func newBacklog() *backlog { return &backlog{more: make(chan struct{}, 1)} }

func (b *backlog) add(e event.Event) {
	b.mu.Lock()
	if event.Kept(e.Body) || len(b.events) < mostPieces {
		b.events = append(b.events, e)
	}
	b.mu.Unlock()
	b.wake()
}

func (b *backlog) end() {
	b.mu.Lock()
	b.ended = true
	b.mu.Unlock()
	b.wake()
}

func (b *backlog) wake() {
	select {
	case b.more <- struct{}{}:
	default:
	}
}

// next waits for an event; idle is told each beat without one.
func (b *backlog) next(beat <-chan time.Time, idle func(time.Time)) (event.Event, bool) {
	for {
		b.mu.Lock()
		if len(b.events) > 0 {
			e := b.events[0]
			b.events = b.events[1:]
			b.mu.Unlock()
			return e, true
		}
		ended := b.ended
		b.mu.Unlock()
		if ended {
			return event.Event{}, false
		}
		select {
		case <-b.more:
		case now := <-beat:
			idle(now)
		}
	}
}

// writer tells events and remembers how the turn ended.
type writer struct {
	o     Options
	lines Translator
	ended *event.TurnEnded
	lost  error // standard output is gone
	gone  context.CancelCauseFunc
}

func (w *writer) event(e event.Event) {
	if w.o.JSON {
		w.write(w.lines.Lines(e))
	}
	w.o.Human.Event(e)
	if ended, ok := e.Body.(event.TurnEnded); ok {
		w.ended = &ended
	}
}

// write puts lines on standard output. When nobody reads there any more the turn has lost its purpose.
func (w *writer) write(lines []any) {
	for _, line := range lines {
		if w.lost != nil {
			return
		}
		text, err := encode(line)
		if err == nil {
			_, err = w.o.Stdout.Write(text)
		}
		if err != nil {
			w.lost = fmt.Errorf("write events to standard output: %w", err)
			w.gone(w.lost)
		}
	}
}

// finish tells the end and picks the exit code.
func (w *writer) finish(result error) (int, error) {
	if w.ended == nil { // the turn could not be begun, or its end not be recorded
		if result == nil {
			result = errors.New("the turn left no end in the log")
		}
		if w.o.JSON {
			w.write(w.lines.Broken(result))
		}
		return failure, result
	}
	if w.lost != nil {
		return failure, w.lost
	}
	if w.ended.Reason != event.Finished {
		return failure, nil
	}
	final := w.ended.Final
	if !w.o.JSON && !w.o.Human.ShowFinal && strings.TrimSpace(final) != "" {
		text := final
		if w.o.StdoutTerminal {
			text = clean(text)
		}
		if _, err := io.WriteString(w.o.Stdout, strings.TrimRight(text, "\n")+"\n"); err != nil {
			return failure, fmt.Errorf("write the final message to standard output: %w", err)
		}
	}
	if w.o.LastMessage != "" {
		if strings.TrimSpace(final) == "" {
			w.o.Human.Warn("there is no final message; "+w.o.LastMessage+" is empty", "")
			final = ""
		}
		if err := os.WriteFile(w.o.LastMessage, []byte(final), 0o644); err != nil {
			return failure, fmt.Errorf("write the final message: %w", err)
		}
	}
	return success, nil
}

// Writable says before a long turn that its final message could not be written to a file.
func Writable(path string) error {
	if path == "" {
		return nil
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("write the final message to %s: it is a folder", path)
	}
	folder := filepath.Dir(path)
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return fmt.Errorf("write the final message to %s: there is no folder %s", path, folder)
	}
	return nil
}
