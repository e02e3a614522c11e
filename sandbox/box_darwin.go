package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// AsHelper has a part to play on Linux only.
func AsHelper() {}

// box confines with the system's own sandbox-exec.
type box struct {
	policy  Policy
	rules   enclosure
	folders identities // the writable ones as they were when the session began
}

// New tries the whole policy with nothing to run, once. Where it is not taken nothing can be run, and the error, a
// *RefusedError, says why and what to do. A back end that a person insists on is one of Linux, and means nothing here.
func New(p Policy) (Box, error) {
	if p.Mode == FullAccess {
		return &bare{p}, nil
	}
	known, err := identify(p.Roots)
	if err != nil {
		return nil, err
	}
	b := &box{policy: p, rules: enclosure{policy: p, spell: spelling}, folders: known}
	if err := b.probe(); err != nil {
		return nil, err
	}
	return b, nil
}

// patience is how long the system may take over the policy.
const patience = 20 * time.Second

// probe runs the program that does nothing within the policy.
func (b *box) probe() error {
	plan, err := b.rules.plan(Command{}, "")
	if err != nil {
		return err
	}
	defer plan.drop()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	said, says, err := os.Pipe()
	if err != nil {
		return err
	}
	defer said.Close()
	proc, err := os.StartProcess(seatbeltProgram, plan.argv([]string{"/usr/bin/true"}), &os.ProcAttr{Dir: "/", Env: []string{},
		Files: []*os.File{null, says, says}, Sys: &syscall.SysProcAttr{Setsid: true}})
	says.Close()
	if err != nil {
		return &RefusedError{b.policy.Mode, []Attempt{{Backend: "seatbelt", What: "start " + seatbeltProgram, Err: plain(err)}}, seatbeltRemedy}
	}
	late := time.AfterFunc(patience, func() { _ = proc.Kill() })
	_ = said.SetReadDeadline(time.Now().Add(patience))
	words, _ := io.ReadAll(io.LimitReader(said, 4<<10))
	state, err := proc.Wait()
	late.Stop()
	if err == nil && state.Success() {
		return nil
	}
	return seatbeltRefusal(b.policy.Mode, state.ExitCode(), string(bytes.TrimSpace(words)))
}

func (b *box) Policy() Policy  { return b.policy }
func (b *box) Backend() string { return "seatbelt" }

func (b *box) Start(ctx context.Context, c Command) (Process, error) {
	if len(c.Argv) == 0 {
		return nil, errors.New("start a command: no command given")
	}
	if c.Outside {
		return (&bare{b.policy}).Start(ctx, c)
	}
	dir := c.Dir
	if dir == "" {
		dir = b.policy.Dir
	}
	real, err := realDir(b.policy.abs(dir))
	if err != nil {
		return nil, fmt.Errorf("start %s: the working directory %s: %w", c.Argv[0], dir, err)
	}
	path, err := lookPath(c.Argv[0], c.Env, real)
	if err != nil {
		return nil, err
	}
	// sandbox-exec would say so too, but as if the command had.
	if err := unix.Access(path, unix.X_OK); err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Argv[0], err)
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, fmt.Errorf("start %s: it is a folder", c.Argv[0])
	}
	if err := b.folders.check(b.policy.Dir); err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Argv[0], err)
	}
	run := &confined{box: b, c: c, dir: real, path: path}
	p, err := beginWith(ctx, c, run.start, run.settle)
	if err != nil {
		run.drop()
		return nil, err
	}
	return p, nil
}

// confined is a command behind sandbox-exec.
type confined struct {
	box       *box
	c         Command
	dir, path string
	plan      enclosed
	once      sync.Once
}

func (r *confined) start(files []*os.File) (running, error) {
	terminal := ""
	if r.c.TTY {
		terminal = files[0].Name()
	}
	plan, err := r.box.rules.plan(r.c, terminal)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", r.c.Argv[0], err)
	}
	r.plan = plan
	argv := plan.argv(append([]string{r.path}, r.c.Argv[1:]...))
	proc, err := os.StartProcess(seatbeltProgram, argv, &os.ProcAttr{Dir: r.dir, Env: plan.env, Files: append(files[:3:3], r.c.Extra...),
		Sys: &syscall.SysProcAttr{Setsid: true, Setctty: r.c.TTY}})
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", r.c.Argv[0], plain(err))
	}
	return tend(proc), nil
}

// settle looks after what the command left behind, once it and all that came of it has ended.
func (r *confined) settle(e *Exit) {
	r.box.rules.settle(r.plan.guard, e)
	r.drop()
}

// drop removes what was made for the command.
func (r *confined) drop() {
	r.once.Do(func() {
		if r.plan.drop != nil {
			r.plan.drop()
		}
	})
}

// spelling is a path as the disk spells it: the kernel judges by that, and a person may have typed it otherwise. What
// does not exist keeps the spelling it has.
func spelling(path string) string {
	for dir, rest := path, ""; ; {
		name, err := nameOf(dir)
		switch {
		case err == nil:
			return join(name, rest)
		case !errors.Is(err, unix.ENOENT) || dir == "/":
			return path
		}
		i := len(dir) - 1
		for i > 0 && dir[i] != '/' {
			i--
		}
		rest = join(dir[i+1:], rest)
		dir = dir[:max(i, 1)]
	}
}

func join(dir, rest string) string {
	switch {
	case rest == "":
		return dir
	case dir == "/":
		return dir + rest
	}
	return dir + "/" + rest
}

// nameOf asks the system for the name of what is at a path, which is a link where a link is.
func nameOf(path string) (string, error) {
	fd, err := unix.Open(path, unix.O_EVTONLY|unix.O_SYMLINK|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	// F_GETPATH of fcntl(2) fills MAXPATHLEN bytes. This is the call that passes a pointer on; it looks at nothing in it.
	var name [unix.PathMax / 8]uint64
	if err := unix.FcntlFstore(uintptr(fd), unix.F_GETPATH, (*unix.Fstore_t)(unsafe.Pointer(&name))); err != nil {
		return "", err
	}
	return unix.ByteSliceToString((*[unix.PathMax]byte)(unsafe.Pointer(&name))[:]), nil
}
