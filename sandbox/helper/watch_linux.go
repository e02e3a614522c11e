package helper

import (
	"bytes"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// patience bounds how long the end of a tree is waited for: a process of another user cannot be ended by us.
const patience = 3 * time.Second

// watch is the part of a process that has no namespace to rely on. What the command leaves behind becomes its child
// because it asked the kernel for that, and is ended when the command ends.
func (r *runner) watch() int {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		r.talk.failed("prctl(PR_SET_CHILD_SUBREAPER)", err)
		return exitBadPlan
	}
	if err := unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC); err != nil {
		r.talk.failed("close_range", err)
		return exitBadPlan
	}
	type begun struct {
		pid int
		err error
		own bool
	}
	started := make(chan begun)
	go func() {
		// Landlock scopes and filters hold for this thread and what it starts. The main thread stays outside, where
		// the command cannot signal it and where it can end what the command left.
		runtime.LockOSThread()
		if r.plan.Kind == Landlock {
			if err := confine(&r.plan); err != nil {
				started <- begun{err: err}
				return
			}
		}
		if r.plan.Probe {
			started <- begun{}
			return
		}
		pid, err := r.start()
		started <- begun{pid, err, true}
		select {} // the thread must not end: its end would be its child's parent's end
	}()
	b := <-started
	switch {
	case b.err != nil && b.own:
		r.talk.own(b.err)
		return exitBadPlan
	case b.err != nil:
		r.talk.fault(b.err)
		return exitBadPlan
	}
	r.child.Store(int64(b.pid))
	r.talk.say(Report{Kind: "started", PID: b.pid})
	if r.plan.Probe {
		return 0
	}
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT)
	go func() {
		for range signals {
			r.endAll()
		}
	}()
	go r.orders(r.endAll)
	status := await(b.pid)
	r.stop.Store(true)
	r.endTree()
	return r.ended(status)
}

// endAll ends the command now; the main thread then sees to the rest.
func (r *runner) endAll() {
	r.stop.Store(true)
	_ = unix.Kill(-int(r.child.Load()), unix.SIGKILL)
	_ = unix.Kill(int(r.child.Load()), unix.SIGKILL)
}

// endTree kills and reaps descendants until there is none, or only such as cannot be killed.
func (r *runner) endTree() {
	for limit := time.Now().Add(patience); time.Now().Before(limit); {
		for {
			pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
			if err == syscall.ECHILD {
				return
			}
			if pid <= 0 && err != syscall.EINTR {
				break
			}
		}
		left, killed := descendants(os.Getpid()), 0
		for _, pid := range left {
			if unix.Kill(pid, unix.SIGKILL) == nil {
				killed++
			}
		}
		if killed == 0 && len(left) > 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// descendants are the processes below one, deepest last, as /proc tells.
func descendants(top int) []int {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer proc.Close()
	names, err := proc.Readdirnames(-1)
	if err != nil {
		return nil
	}
	children := map[int][]int{}
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + name + "/stat")
		if err != nil {
			continue
		}
		// The name in brackets may hold anything; the fields after it may not.
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(fields) < 2 || fields[0][0] == 'Z' {
			continue
		}
		if parent, err := strconv.Atoi(string(fields[1])); err == nil {
			children[parent] = append(children[parent], pid)
		}
	}
	var found []int
	for next := []int{top}; len(next) > 0; next = next[1:] {
		found = append(found, children[next[0]]...)
		next = append(next, children[next[0]]...)
	}
	return found
}
