package helper

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/signal"
	"runtime"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// Exit codes of the program itself; the agent goes by the Report.
const (
	exitBadPlan = 125
	exitStopped = 137
)

// Main confines one command and returns the status to exit with. It never returns to a caller that goes on: the
// thread it ran on is confined.
func Main() int {
	runtime.LockOSThread()
	talk := &talker{}
	plan, err := readPlan()
	if err != nil {
		talk.failed("read the plan", err)
		return exitBadPlan
	}
	r := &runner{plan: plan, talk: talk}
	switch plan.Kind {
	case Watch, Landlock:
		return r.watch()
	default:
		return r.first()
	}
}

func readPlan() (Plan, error) {
	var plan Plan
	data, err := io.ReadAll(os.NewFile(PlanFD, "plan"))
	if err != nil {
		return plan, err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&plan); err != nil {
		return plan, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return plan, errors.New("something follows the plan")
	}
	switch plan.Kind {
	case Namespaces, Inner, Landlock, Watch:
	default:
		return plan, errors.New("unknown kind " + plan.Kind)
	}
	if plan.Version != Version {
		return plan, errors.New("the confining program and the agent are of different versions; build both with make build")
	}
	return plan.unpacked(), nil
}

// runner starts the command and outlives it.
type runner struct {
	plan  Plan
	talk  *talker
	child atomic.Int64
	stop  atomic.Bool
}

// first is the part of the first process of a PID namespace, or of the one process below bubblewrap's: when it exits,
// the kernel ends everything else inside.
func (r *runner) first() int {
	if err := confine(&r.plan); err != nil {
		r.talk.fault(err)
		return exitBadPlan
	}
	if r.plan.Probe {
		r.talk.say(Report{Kind: "started"})
		return 0
	}
	pid, err := r.start()
	if err != nil {
		r.talk.own(err)
		return exitBadPlan
	}
	r.child.Store(int64(pid))
	r.talk.say(Report{Kind: "started", PID: pid})
	r.forward()
	go r.orders(func() { os.Exit(exitStopped) })
	status := await(pid)
	return r.ended(status)
}

// forward passes on what somebody sends to the program in place of the command.
func (r *runner) forward() {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT)
	go func() {
		for s := range signals {
			_ = unix.Kill(-int(r.child.Load()), s.(syscall.Signal))
		}
	}()
}

// await reaps whatever ends until the command itself has.
func await(pid int) syscall.WaitStatus {
	for {
		var status syscall.WaitStatus
		got, err := syscall.Wait4(-1, &status, 0, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return syscall.WaitStatus(exitBadPlan << 8)
		}
		if got == pid {
			return status
		}
	}
}

func (r *runner) ended(status syscall.WaitStatus) int {
	code, sig := status.ExitStatus(), 0
	if status.Signaled() {
		sig = int(status.Signal())
		code = 128 + sig
	}
	r.talk.say(Report{Kind: "ended", Code: code, Signal: sig})
	return code
}

// start runs the command from this thread, so that it inherits the walls. It leads a session of its own.
func (r *runner) start() (int, error) {
	files := []uintptr{0, 1, 2}
	for _, fd := range r.plan.Extra {
		files = append(files, uintptr(fd))
	}
	return syscall.ForkExec(r.plan.Path, r.plan.Argv, &syscall.ProcAttr{
		Dir:   r.plan.Dir,
		Env:   r.plan.Env,
		Files: files,
		Sys:   &syscall.SysProcAttr{Setsid: true, Setctty: r.plan.TTY},
	})
}

// orders passes signals on to the command's group. When the agent says so, or is gone, everything stops.
func (r *runner) orders(stop func()) {
	buf := make([]byte, 16)
	for {
		n, err := syscall.Read(TalkFD, buf)
		if err == syscall.EINTR {
			continue
		}
		if n <= 0 {
			stop()
			return
		}
		for _, order := range buf[:n] {
			if order == StopAll {
				stop()
				return
			}
			_ = unix.Kill(-int(r.child.Load()), syscall.Signal(order))
		}
	}
}

// talker writes Reports. One that cannot be written is lost: nobody is left to read it.
type talker struct{}

func (t *talker) say(r Report) {
	line, err := json.Marshal(r)
	if err != nil {
		return
	}
	_, _ = syscall.Write(TalkFD, append(line, '\n'))
}

func (t *talker) failed(what string, err error) {
	r := Report{Kind: "failed", What: what, Text: err.Error()}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		r.Errno = int(errno)
	}
	t.say(r)
}

func (t *talker) fault(err error) {
	var f *fault
	if errors.As(err, &f) {
		t.failed(f.what, f.err)
		return
	}
	t.failed("confine the command", err)
}

func (t *talker) own(err error) {
	r := Report{Kind: "failed", Own: true, What: "start the command", Text: err.Error()}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		r.Errno = int(errno)
	}
	t.say(r)
}

// fault is a step that did not work.
type fault struct {
	what string
	err  error
}

func (f *fault) Error() string { return f.what + ": " + f.err.Error() }
func (f *fault) Unwrap() error { return f.err }

func step(what string, err error) error {
	if err == nil {
		return nil
	}
	return &fault{what, err}
}
