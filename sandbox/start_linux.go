package sandbox

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"interpreter/sandbox/helper"
)

// confined is a command behind the confining program.
type confined struct {
	proc   *os.Process
	kind   string
	talk   *os.File // orders to the program, one byte each; its end tells it that we are gone
	lines  *bufio.Reader
	unlock func()
}

// stubborn is how long the confining program may take to end a tree before it is ended itself.
const stubborn = 4 * time.Second

// launch starts the confining program with a plan and waits until it has started the command. The files after the
// third are the command's as well.
func launch(ctx context.Context, prog program, plan helper.Plan, files []*os.File, unlock func()) (*confined, error) {
	for again := 0; ; again++ {
		c, err := launchOnce(ctx, prog, plan, files, unlock)
		// A socket to be hidden may go away before bwrap, which takes that for an error, gets to it.
		if err == nil || plan.Kind != helper.Inner || !plan.Network || again == 3 || ctx.Err() != nil {
			return c, err
		}
		if se, ok := errors.AsType[*stepError](err); !ok || se.what != noAnswer {
			return c, err
		}
	}
}

// noAnswer is the step of a confining program that ended before it said anything.
const noAnswer = "start the confining program"

func launchOnce(ctx context.Context, prog program, plan helper.Plan, files []*os.File, unlock func()) (*confined, error) {
	extra := files[3:]
	first := programFD
	if prog.file != nil {
		first++
	}
	for i := range extra {
		plan.Extra = append(plan.Extra, first+i)
	}
	data, err := json.Marshal(plan.Packed())
	if err != nil {
		return nil, fmt.Errorf("write the plan: %w", err)
	}
	planOut, planIn, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer planOut.Close()
	defer planIn.Close()
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	c := &confined{kind: plan.Kind, talk: ours, lines: bufio.NewReader(ours), unlock: unlock}
	files = append(files[:3:3], planOut, theirs)
	if prog.file != nil {
		files = append(files, prog.file)
	}
	files = append(files, extra...)
	path, argv, sys := prog.path, prog.argv, &syscall.SysProcAttr{Setsid: true}
	switch plan.Kind {
	case helper.Namespaces:
		sys.Cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC
		if !plan.Network {
			sys.Cloneflags |= unix.CLONE_NEWNET
		}
		sys.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
		sys.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
		// The last three are an overlay's: it works on its own folders, which have no rights, as whoever mounted it.
		sys.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SYS_RESOURCE, unix.CAP_SETPCAP,
			unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER, unix.CAP_CHOWN}
	case helper.Inner:
		wrap, err := bubblewrap(plan, prog)
		if err != nil {
			ours.Close()
			return nil, err
		}
		path, argv = wrap[0], wrap
	}
	closed := lookable()
	c.proc, err = os.StartProcess(path, argv, &os.ProcAttr{Dir: "/", Env: []string{}, Files: files, Sys: sys})
	closed()
	if err != nil {
		ours.Close()
		return nil, &stepError{startStep(plan.Kind), plain(err)}
	}
	theirs.Close()
	planOut.Close()
	// Whoever does not read the plan is reported by the missing answer.
	_ = planIn.SetWriteDeadline(time.Now().Add(10 * time.Second))
	_, _ = planIn.Write(data)
	planIn.Close()
	stop := context.AfterFunc(ctx, c.kill)
	report, err := c.report()
	stop()
	if err == nil && report.Kind == "started" {
		return c, nil
	}
	c.kill()
	state, _ := c.proc.Wait()
	ours.Close()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, &stepError{noAnswer, fmt.Errorf("it ended without an answer: %v", state)}
	case report.Own:
		return nil, fmt.Errorf("start %s: %w", plan.Argv[0], reason(report))
	}
	return nil, &stepError{report.What, reason(report)}
}

func startStep(kind string) string {
	switch kind {
	case helper.Namespaces:
		return "clone(CLONE_NEWUSER) and exec of the confining program"
	case helper.Inner:
		return "start of bwrap"
	}
	return "start of the confining program"
}

// stepError is a step of the set-up that failed.
type stepError struct {
	what string
	err  error
}

func (e *stepError) Error() string { return e.what + ": " + e.err.Error() }
func (e *stepError) Unwrap() error { return e.err }

func reason(r helper.Report) error {
	if r.Errno != 0 {
		return syscall.Errno(r.Errno)
	}
	return errors.New(r.Text)
}

func (c *confined) report() (helper.Report, error) {
	var r helper.Report
	line, err := c.lines.ReadBytes('\n')
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(line, &r)
}

func (c *confined) wait() ending {
	state, err := c.proc.Wait()
	if c.unlock != nil {
		c.unlock()
	}
	_ = c.talk.SetReadDeadline(time.Now().Add(time.Second))
	report, reportErr := c.report()
	c.talk.Close()
	switch {
	case reportErr == nil && report.Kind == "ended":
		if report.Signal != 0 {
			return ending{report.Code, signalName(syscall.Signal(report.Signal))}
		}
		return ending{code: report.Code}
	case err != nil:
		return ending{code: 255}
	}
	// The program was ended before it could report, by us as a rule.
	return ending{137, signalName(syscall.SIGKILL)}.orOf(state)
}

// orOf prefers what the system says of the confining program when that was not ended by force.
func (e ending) orOf(state *os.ProcessState) ending {
	status, ok := state.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() && status.Signal() != syscall.SIGKILL {
		return ending{128 + int(status.Signal()), signalName(status.Signal())}
	}
	return e
}

func (c *confined) signal(s syscall.Signal) {
	_, _ = c.talk.Write([]byte{byte(s)})
}

// kill ends the whole tree. With a namespace the kernel does it; else the confining program does, and is given time.
func (c *confined) kill() {
	if c.kind == helper.Namespaces {
		_ = c.proc.Kill()
		return
	}
	_, _ = c.talk.Write([]byte{helper.StopAll})
	time.AfterFunc(stubborn, func() { _ = c.proc.Kill() })
}

func socketPair() (ours, theirs *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("socketpair: %w", err)
	}
	if err := unix.SetNonblock(fds[0], true); err != nil {
		return nil, nil, fmt.Errorf("socketpair: %w", err)
	}
	return os.NewFile(uintptr(fds[0]), "talk"), os.NewFile(uintptr(fds[1]), "talk"), nil
}

// probe runs the complete set-up of a plan with nothing to start, and returns what the program printed if it failed.
func probe(prog program, plan helper.Plan) error {
	plan.Probe = true
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
	c, err := launch(context.Background(), prog, plan, []*os.File{null, null, says}, nil)
	says.Close()
	if err == nil {
		c.wait()
		return nil
	}
	_ = said.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
	words, _ := io.ReadAll(io.LimitReader(said, 4<<10))
	var se *stepError
	if line, _, _ := bytes.Cut(bytes.TrimSpace(words), []byte("\n")); len(line) > 0 && errors.As(err, &se) {
		se.err = fmt.Errorf("%w: %s", se.err, strings.ToValidUTF8(string(line), "?"))
	}
	return err
}
