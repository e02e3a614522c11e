package action

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"interpreter/sandbox"
)

// Run runs a script in a shell that reads no profile.
type Run struct {
	Script     string
	Dir        string // "" is the working folder
	Shell      string // "" is the workspace's
	TTY        bool
	Yield      time.Duration  // come back with Session when it still runs then; 0 waits for the end
	Timeout    time.Duration  // kill it then; 0 never does
	Background bool           // come back at once
	Escalate   bool           // run outside the sandbox; whoever lets this action run has agreed to that
	Opens      sandbox.Opened `json:",omitzero"` // what it may do beyond the policy, staying inside; agreed to in the same way
	Reason     string         // why, for the person who is asked
	Prefix     []string       // a rule proposed for next time
	Limit      int            // bytes of Output; 0 is 30 000
	Lines      int            `json:",omitempty"` // an output of more lines is kept in a file as well, although it fits; 0: of any number
	Keep       Keep           `json:",omitempty"` // what is kept for the next command that keeps the same
	Stdin      string         `json:",omitempty"` // given to the command; "" closes its input at once
}

// Title is the action in a line.
func (a Run) Title() string { return one("run %s", a.Script) }

// Need asks to run the script.
func (a Run) Need() Need {
	return Need{
		Effect: Runs, Script: a.Script, Argv: shellArgv(a.Shell, a.Script), Dir: a.Dir,
		Escalate: a.Escalate, Opens: a.Opens, Reason: a.Reason, Prefix: a.Prefix, TTY: a.TTY, Keep: a.Keep,
	}
}

// NeedOf is what an action needs in this workspace: a script whose shell the model did not name runs in ours.
func (w *Workspace) NeedOf(a Action) Need {
	need := a.Need()
	for i, path := range need.Paths {
		if bare := w.bare(path); bare != path && !w.exists(path) {
			need.Paths[i] = bare // what is judged must be what is opened
		}
	}
	need.Opens = w.opens(need.Opens)
	if need.Script != "" && len(need.Argv) > 0 && need.Argv[0] == anyShell && w.Shell != "" {
		need.Argv = shellArgv(w.Shell, need.Script)
	}
	if need.Keep != KeepNothing && need.Dir == "" {
		if dir := w.keptDir(); dir != w.Dir {
			need.Dir = dir
		}
	}
	need.Kept = need.Keep == KeepShell && (w.remembers() || need.TTY && w.typedInto())
	return need
}

// anyShell stands for the workspace's own.
const anyShell = "sh"

// shellArgv is how a shell is told to run a script and no profile.
func shellArgv(shell, script string) []string {
	if shell == "" {
		shell = anyShell
	}
	switch strings.TrimSuffix(strings.ToLower(filepath.Base(shell)), ".exe") {
	case "pwsh", "powershell":
		return []string{shell, "-NoProfile", "-Command", script}
	case "cmd":
		return []string{shell, "/d", "/c", script}
	}
	return []string{shell, "-c", script}
}

// Do starts the script and waits. Ending ctx ends the script and all it started; the facts so far come with the error.
func (a Run) Do(ctx context.Context, w *Workspace) (Ran, error) {
	if strings.TrimSpace(a.Script) == "" {
		return Ran{}, errors.New("run: the script is empty")
	}
	if strings.ContainsRune(a.Script, 0) {
		return Ran{}, errors.New("run: the script holds a zero byte")
	}
	if leave, said := ctx.Value(leaveKey{}).(Leave); said {
		a.Escalate, a.Opens, a.Dir = a.Escalate || leave.Outside, leave.Opened, cmp.Or(leave.Dir, a.Dir)
	} else {
		a.Opens = w.opens(a.Opens)
	}
	dir, lost, err := w.runFolder(a)
	if err != nil {
		return Ran{}, err
	}
	l, err := a.start(ctx, w, dir, lost)
	if err != nil {
		return Ran{}, fmt.Errorf("run %q: %w", cutRunes(a.Script, 80), err)
	}
	if a.Background {
		w.keepRun(l)
		return l.backgrounded(), nil
	}
	err = l.wait(ctx, w, a.Yield)
	if err != nil {
		l.end()
		<-l.proc.Done()
	}
	if !l.ended() {
		l.keeping.close()
		l.keeping = nil
		w.keepRun(l)
	}
	l.lines = a.Lines
	out := l.report(w, within(ctx, a.Limit))
	if out.Session == 0 && l.id != 0 {
		w.dropRun(l.id) // it ended just now
	}
	if err != nil {
		l.keeping.close()
		return out, fmt.Errorf("run %q: %w", cutRunes(a.Script, 80), err)
	}
	w.endKeeping(l.keeping, &out)
	return out, nil
}

// runFolder is where a command starts. A folder that was kept and is gone is told, and the workspace's taken.
func (w *Workspace) runFolder(a Run) (dir, lost string, err error) {
	if a.Dir == "" && a.Keep != KeepNothing {
		dir := w.keptDir()
		if info, err := os.Stat(dir); err == nil && info.IsDir() && w.keeps(dir) {
			return dir, "", nil
		}
		if dir != w.Dir {
			lost = dir
		}
	}
	dir, err = w.folderAt("run in", a.Dir)
	return dir, lost, err
}

// start begins a process whose life is the workspace's: the action decides when to end it.
func (a Run) start(ctx context.Context, w *Workspace, dir, lost string) (*liveRun, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	shell := a.Shell
	if shell == "" {
		shell = w.Shell
	}
	l := &liveRun{script: a.Script, argv: shellArgv(shell, a.Script), dir: dir, tty: a.TTY, call: callOf(ctx), record: newRecord(w.Spill), began: time.Now()}
	if a.Background && w.Spill != "" {
		if err := l.record.open(); err != nil {
			return nil, fmt.Errorf("keep its output in %s: %w", w.Spill, reason(err))
		}
	}
	l.outside, l.opened = a.Escalate, a.Opens
	command := sandbox.Command{
		Argv: l.argv, Dir: dir, Env: w.Env, TTY: a.TTY, Stdin: a.Stdin != "",
		Outside: l.outside, Opened: l.opened, Timeout: a.Timeout, Watch: l.record.watch,
	}
	w.login(ctx, &command, a.Script)
	keeping, err := w.beginKeeping(a, &command)
	if err != nil {
		return nil, err
	}
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	proc, err := w.Box.Start(life, command)
	keeping.started(command, lost)
	if err != nil {
		end()
		keeping.close()
		l.record.close(false)
		if errors.Is(err, syscall.E2BIG) {
			err = fmt.Errorf("%w: a script of %d bytes is more than this system passes on; write it to a file in parts and run that", reason(err), len(a.Script))
		}
		return nil, err
	}
	l.proc, l.end, l.keeping = proc, end, keeping
	if a.Background {
		keeping.close()
		l.keeping = nil
	}
	l.feed(a.Stdin)
	return l, nil
}

// wait lasts until the process has ended, or for a while, or until ctx ends.
func (l *liveRun) wait(ctx context.Context, w *Workspace, while time.Duration) error {
	var clock <-chan time.Time
	if while > 0 {
		timer := time.NewTimer(while)
		defer timer.Stop()
		clock = timer.C
	}
	call := callOf(ctx)
	say := func() {
		if w.Printed == nil {
			return
		}
		if text := l.record.hear(); text != "" {
			w.Printed(call, text)
		}
	}
	defer say()
	for {
		select {
		case <-l.proc.Done():
			return nil
		case <-l.record.news:
			say()
		case <-clock:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// report gives the facts since the last report.
func (l *liveRun) report(w *Workspace, limit int) Ran {
	l.mu.Lock()
	defer l.mu.Unlock()
	if limit <= 0 {
		limit = outputLimit
	}
	ended := l.ended()
	text, p, full, gap := l.record.turn(limit, l.lines, ended)
	out := Ran{
		Script: l.script, Argv: l.argv, Dir: l.dir, PID: pidOf(l.proc), Output: text, Full: full, Gap: gap,
		Bytes: p.bytes, Lines: p.lines, Omitted: max(0, p.bytes-int64(len(text))), Took: time.Since(l.began),
	}
	l.confined(w, &out)
	if out.Bytes <= int64(limit) {
		out.Omitted = 0
	}
	if full == "" && l.told {
		out.Full = l.record.name // somebody knows it already: a command in the background
	}
	if garbled(text) {
		out.Output, out.Gap, out.Omitted = garbledNote, nil, 0
	}
	l.told = l.told || full != ""
	if !ended {
		out.Session = l.id
		return out
	}
	l.fed.Wait()
	out.Exit = l.proc.Exit()
	out.Took = out.Exit.Took
	if out.Exit.Signal != "" && !out.Exit.TimedOut {
		out.Notes = append(out.Notes, "killed by "+out.Exit.Signal)
	}
	l.refused(w, &out)
	l.end()
	l.record.close(l.told)
	return out
}

// backgrounded are the facts of a command nobody waits for.
func (l *liveRun) backgrounded() Ran {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.told = true
	return Ran{
		Script: l.script, Argv: l.argv, Dir: l.dir, PID: pidOf(l.proc), Session: l.id,
		Full: l.record.name, Took: time.Since(l.began),
	}
}
