package action

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"interpreter/sandbox"
)

const (
	runsMost    = 64 // commands kept
	runsNewest  = 8  // of them never pruned
	outputLimit = 30_000
)

// liveRun is a command that was started.
type liveRun struct {
	id      int
	script  string
	argv    []string
	dir     string
	tty     bool
	outside bool // nothing confined it
	opened  sandbox.Opened

	call    string   // that started it; "" when none is known
	endTold bool     // Ended gave it
	keeping *keeping // what it leaves; nil for nothing

	lines  int // from which on its output is kept whole; 0: never for their sake
	proc   sandbox.Process
	end    context.CancelFunc
	record *record
	began  time.Time

	mu   sync.Mutex // one report at a time
	told bool       // somebody knows the file of the record
	fed  sync.WaitGroup
}

// feed types text into the command's standard input and closes that.
func (l *liveRun) feed(text string) {
	if text == "" {
		return
	}
	l.fed.Go(func() {
		if l.tty && !strings.HasSuffix(text, "\n") {
			text += "\n" // the end of input counts at the start of a line only
		}
		if l.proc.Write([]byte(text)) != nil {
			return // it ended, or closed its input: nobody wants the rest
		}
		if l.tty {
			_ = l.proc.Write([]byte{4})
		} else if in, ok := l.proc.(interface{ CloseInput() error }); ok {
			_ = in.CloseInput()
		}
	})
}

func (l *liveRun) ended() bool {
	select {
	case <-l.proc.Done():
		return true
	default:
		return false
	}
}

// runTable holds the commands that outlived their action.
type runTable struct {
	next  int
	order []*liveRun // least recently used first
}

// keepRun gives a command its number. When there are too many, the oldest one that has ended goes, or else the oldest.
func (w *Workspace) keepRun(l *liveRun) int {
	w.mu.Lock()
	t := &w.runs
	t.next++
	l.id = t.next
	t.order = append(t.order, l)
	var gone *liveRun
	if len(t.order) > runsMost {
		drop := 0
		for i, old := range t.order[:len(t.order)-runsNewest] {
			if old.ended() {
				drop = i
				break
			}
		}
		gone = t.order[drop]
		t.order = append(t.order[:drop:drop], t.order[drop+1:]...)
	}
	w.mu.Unlock()
	if gone != nil {
		gone.stop()
	}
	return l.id
}

// run finds a command and makes it the most recently used.
func (w *Workspace) run(id int) (*liveRun, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := &w.runs
	for i, l := range t.order {
		if l.id == id {
			t.order = append(append(t.order[:i:i], t.order[i+1:]...), l)
			return l, nil
		}
	}
	return nil, fmt.Errorf("command %d: %w", id, ErrNoSession)
}

func (w *Workspace) dropRun(id int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := &w.runs
	for i, l := range t.order {
		if l.id == id {
			t.order = append(t.order[:i:i], t.order[i+1:]...)
			return
		}
	}
}

// stop ends a command with all it started and waits for that.
func (l *liveRun) stop() {
	l.end()
	<-l.proc.Done()
	l.fed.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.record.close(l.told)
}

// Running is a command that outlived the action that started it.
type Running struct {
	ID     int
	Script string
	Dir    string
	PID    int
	TTY    bool
	Began  time.Time
	Ended  bool   // it has, and nobody asked for the end yet
	Recent string // the last it printed
}

// Running lists the commands that are kept, in the order they were started.
func (w *Workspace) Running() []Running {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := make([]Running, 0, len(w.runs.order))
	for _, l := range w.runs.order {
		out = append(out, Running{
			ID: l.id, Script: l.script, Dir: l.dir, PID: pidOf(l.proc), TTY: l.tty,
			Began: l.began, Ended: l.ended(), Recent: l.record.lately(),
		})
	}
	for i := range out {
		for j := i; j > 0 && out[j].ID < out[j-1].ID; j-- {
			out[j], out[j-1] = out[j-1], out[j]
		}
	}
	return out
}

// endedTail bounds what Ended shows of an output, in bytes.
const endedTail = 2 << 10

// Ended gives the commands that outlived their action and have ended since, each once and in the order they were
// started: Exit, Took, the call that started it, and the last 2 KiB of all it printed as Output. Session is the number it
// still has: Poll finds it there, with what nobody has looked at yet. Those that were stopped or looked at since their
// end are not among them.
func (w *Workspace) Ended() []Ran {
	w.mu.Lock()
	var ended []*liveRun
	for _, l := range w.runs.order {
		if !l.endTold && l.ended() {
			l.endTold = true
			ended = append(ended, l)
		}
	}
	w.mu.Unlock()
	slices.SortFunc(ended, func(a, b *liveRun) int { return a.id - b.id })
	var out []Ran
	for _, l := range ended {
		out = append(out, l.ending(w))
	}
	return out
}

func (l *liveRun) ending(w *Workspace) Ran {
	exit := l.proc.Exit()
	l.mu.Lock()
	defer l.mu.Unlock()
	out := Ran{
		Script: l.script, Argv: l.argv, Dir: l.dir, PID: pidOf(l.proc), Session: l.id, Call: l.call,
		Exit: exit, Took: exit.Took, Output: l.record.ending(endedTail),
	}
	if l.told {
		out.Full = l.record.name
	}
	l.confined(w, &out)
	l.refused(w, &out)
	return out
}

// Stop ends a running command, or the terminal, and forgets it.
func (w *Workspace) Stop(id int) error {
	if w.isTerminal(id) {
		w.closeTerminal()
		return nil
	}
	l, err := w.run(id)
	if err != nil {
		return err
	}
	w.dropRun(id)
	l.stop()
	return nil
}

// Close ends every running command and the terminal. The workspace can still be used.
func (w *Workspace) Close() error {
	w.mu.Lock()
	order := w.runs.order
	w.runs.order = nil
	w.mu.Unlock()
	defer w.closeTerminal()
	for _, l := range order {
		l.end()
	}
	for _, l := range order {
		l.stop()
	}
	return nil
}

// pidOf is the id of a process whose box tells it.
func pidOf(p sandbox.Process) int {
	if p, ok := p.(interface{ PID() int }); ok {
		return p.PID()
	}
	return 0
}
