package action

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"interpreter/sandbox"
)

// The terminal's size, and how long its shell may take to show a prompt.
const (
	terminalColumns = 160
	terminalRows    = 40
	promptMost      = 5 * time.Second
	promptQuiet     = 50 * time.Millisecond
	typedMost       = 1 << 20 // bytes that wait until a program reads them
)

// terminal is a shell with a screen that lasts from one Keys to the next.
type terminal struct {
	id    int
	argv  []string
	dir   string
	began time.Time
	proc  sandbox.Process
	end   context.CancelFunc
	typed bool // something was typed

	mu     sync.Mutex
	screen *screen
	seen   look
	queue  []byte // typed, and not yet taken by the system
	queued chan struct{}
	news   chan struct{} // it printed something
	wrote  sync.WaitGroup
}

// openTerminal gives the workspace's terminal, a new one when there is none or its shell has ended.
func (w *Workspace) openTerminal(ctx context.Context) (*terminal, []string, error) {
	w.mu.Lock()
	t := w.terminal
	w.mu.Unlock()
	var notes []string
	if t != nil {
		if !t.ended() {
			return t, nil, nil
		}
		notes = append(notes, fmt.Sprintf("the shell had ended with exit code %d; this is a new one", t.proc.Exit().Code))
		t.close()
	}
	t, err := w.newTerminal(ctx)
	if err != nil {
		return nil, nil, err
	}
	w.mu.Lock()
	w.runs.next++
	t.id = w.runs.next
	w.terminal = t
	w.mu.Unlock()
	return t, notes, t.prompted(ctx)
}

func (w *Workspace) newTerminal(ctx context.Context) (*terminal, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	t := &terminal{dir: w.Dir, began: time.Now(), queued: make(chan struct{}, 1), news: make(chan struct{}, 1)}
	t.screen = newScreen(terminalColumns, terminalRows, func(text string) { t.push(text) })
	var env []string
	had, file := w.Env, ""
	if w.Login != nil {
		had, file = w.Login(ctx, "")
	}
	t.argv, env = interactive(w.Shell, had, file)
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	proc, err := w.Box.Start(life, sandbox.Command{
		Argv: t.argv, Dir: t.dir, Env: env, TTY: true, Columns: terminalColumns, Rows: terminalRows, Watch: t.watch,
	})
	if err != nil {
		end()
		return nil, err
	}
	t.proc, t.end = proc, end
	t.wrote.Go(t.write)
	return t, nil
}

// interactive is how a shell is started that shows its folder in the prompt and reads no files of its own, but the given
// one where that is not "".
func interactive(shell string, env []string, file string) (argv, out []string) {
	if shell == "" {
		shell = anyShell
	}
	argv = []string{shell, "-i"}
	prompt := `$PWD\$ `
	switch familyOf(shell) {
	case bashShell:
		argv, prompt = []string{shell, "--norc", "--noprofile", "-i"}, `\w\$ `
		if file != "" {
			argv = []string{shell, "--noprofile", "--rcfile", file, "-i"}
		}
	case zshShell:
		argv, prompt = []string{shell, "-f", "-i"}, "%~%# "
	}
	set := []string{"TERM=xterm", "PS1=" + prompt, "HISTFILE=/dev/null", "INPUTRC=/dev/null"}
	for _, v := range env {
		switch name, _, _ := strings.Cut(v, "="); name {
		case "TERM", "PS1", "HISTFILE", "INPUTRC", "ENV", "BASH_ENV", "PROMPT_COMMAND", "COLUMNS", "LINES":
		default:
			out = append(out, v)
		}
	}
	return argv, append(out, set...)
}

func (t *terminal) ended() bool {
	select {
	case <-t.proc.Done():
		return true
	default:
		return false
	}
}

// watch takes what is printed.
func (t *terminal) watch(chunk []byte) {
	t.mu.Lock()
	t.screen.write(chunk)
	t.mu.Unlock()
	wake(t.news)
}

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// push types a text; the screen's answers come this way too, with mu held.
func (t *terminal) push(text string) bool {
	if len(t.queue)+len(text) > typedMost {
		return false
	}
	t.queue = append(t.queue, text...)
	wake(t.queued)
	return true
}

// write hands over what is typed as fast as programs read it, until the shell ends.
func (t *terminal) write() {
	for {
		select {
		case <-t.queued:
		case <-t.proc.Done():
			return
		}
		for {
			t.mu.Lock()
			piece := t.queue[:min(len(t.queue), 1024)]
			t.queue = t.queue[len(piece):]
			t.mu.Unlock()
			if len(piece) == 0 {
				break
			}
			if t.proc.Write(piece) != nil {
				break
			}
		}
	}
}

// prompted waits until the shell has shown something and is quiet.
func (t *terminal) prompted(ctx context.Context) error {
	clock := time.NewTimer(promptMost)
	defer clock.Stop()
	var quiet <-chan time.Time
	for {
		select {
		case <-t.news:
			quiet = time.After(promptQuiet)
		case <-quiet:
			return nil
		case <-clock.C:
			return nil
		case <-t.proc.Done():
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// errDeaf is a program that does not read what is typed.
var errDeaf = errors.New("the program in it does not read what is typed")

// stroke types, and waits.
func (t *terminal) stroke(ctx context.Context, s Stroke) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	t.mu.Lock()
	text := s.Text
	if key, isKey := keyBytes(text, t.screen.application); isKey {
		text = key
	}
	ok := t.push(text)
	t.typed = t.typed || text != ""
	t.mu.Unlock()
	if !ok {
		return errDeaf
	}
	timer := time.NewTimer(min(max(s.Wait, strokeLeast), strokeMost))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-t.proc.Done():
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// report gives the facts since the last one.
func (t *terminal) report() Ran {
	ended := t.ended()
	t.mu.Lock()
	defer t.mu.Unlock()
	lines, _ := t.screen.since(t.seen)
	now := t.screen.look()
	if !now.lost {
		t.seen = now // what is drawn on the other screen goes, and the first one is looked at again then
	}
	out := Ran{Argv: t.argv, Dir: t.dir, PID: pidOf(t.proc), Session: t.id, Screen: strings.Join(now.lines, "\n")}
	if len(lines) > 0 {
		p := page{}
		text := strings.Join(lines, "\n") + "\n"
		p.lines = strings.Count(text, "\n")
		p.keep(text)
		out.Output, out.Gap = p.within(outputLimit, "")
		out.Bytes, out.Lines = p.bytes, p.lines
		if out.Gap != nil {
			out.Omitted = out.Gap.Bytes
		}
	}
	if ended {
		out.Session, out.Exit = 0, t.proc.Exit()
		out.Notes = append(out.Notes, fmt.Sprintf("the shell has ended with exit code %d; the next keys start a new one", out.Exit.Code))
	}
	return out
}

func (t *terminal) close() {
	t.end()
	<-t.proc.Done()
	t.wrote.Wait()
}

// typedInto tells whether the terminal lives and its shell may remember something.
func (w *Workspace) typedInto() bool {
	w.mu.Lock()
	t := w.terminal
	w.mu.Unlock()
	if t == nil || t.ended() {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.typed
}

// closeTerminal ends the terminal with all that runs in it, if there is one.
func (w *Workspace) closeTerminal() *terminal {
	w.mu.Lock()
	t := w.terminal
	w.terminal = nil
	w.mu.Unlock()
	if t != nil {
		t.close()
	}
	return t
}

func (w *Workspace) isTerminal(id int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.terminal != nil && w.terminal.id == id
}
