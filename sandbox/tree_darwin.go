package sandbox

import (
	"errors"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// How often the list of processes is looked at for those a command has started: soon, for most commands are short,
// and then less and less often.
const (
	firstLook = 20 * time.Millisecond
	lastLook  = 320 * time.Millisecond
	endRounds = 16 // of looking and killing, for what is started in between
)

// tree is a process, its group, and what has left the group but was seen to come of it.
type tree struct {
	proc *os.Process
	quit chan struct{}
	done chan struct{} // closed when nobody looks any more

	mu    sync.Mutex
	kin   *kin
	ended bool   // the process has been waited for: its number may be another's
	end   ending // how, once it has
}

// tend looks after a process that was started as the leader of a session.
func tend(proc *os.Process) running {
	t := &tree{proc: proc, quit: make(chan struct{}), done: make(chan struct{}), kin: newKin(proc.Pid)}
	go t.watch()
	return t
}

func (t *tree) watch() {
	defer close(t.done)
	for every := firstLook; ; every = min(every*2, lastLook) {
		timer := time.NewTimer(every)
		select {
		case <-t.quit:
			timer.Stop()
			return
		case <-timer.C:
		}
		t.mu.Lock()
		t.look()
		t.mu.Unlock()
	}
}

// look returns the living of the tree but for the process itself. Without a list there are none to return.
func (t *tree) look() []int {
	rows, err := unix.SysctlKinfoProcSlice("kern.proc.uid", os.Geteuid())
	if err != nil {
		return nil
	}
	list := make([]relative, 0, len(rows))
	for _, r := range rows {
		if r.Proc.P_stat == zombie {
			continue
		}
		list = append(list, relative{int(r.Proc.P_pid), int(r.Eproc.Ppid), int(r.Eproc.Pgid), r.Proc.P_starttime.Sec*1e6 + int64(r.Proc.P_starttime.Usec)})
	}
	return t.kin.look(list)
}

// zombie is SZOMB of sys/proc.h: ended, and not waited for.
const zombie = 5

// wait ends what the process has left behind while its number is still its own, and only then lets go of it.
func (t *tree) wait() ending {
	told := awaitExit(t.proc.Pid)
	if !told {
		t.reap()
	}
	close(t.quit)
	<-t.done
	if told {
		t.kill()
		t.reap()
	} else {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.killRest()
	}
	return t.end
}

// reap waits for the process itself.
func (t *tree) reap() {
	end := endingOf(t.proc.Wait())
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended, t.end = true, end
}

// signal goes to the group. The system refuses that where one member may not be signalled, so each is tried then.
func (t *tree) signal(s syscall.Signal) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended || !errors.Is(syscall.Kill(-t.proc.Pid, s), syscall.EPERM) {
		return
	}
	_ = syscall.Kill(t.proc.Pid, s)
	for _, pid := range t.look() {
		if group, err := unix.Getpgid(pid); err == nil && group == t.proc.Pid {
			_ = syscall.Kill(pid, s)
		}
	}
}

// kill ends the process, its group and all that were seen to come of it.
func (t *tree) kill() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return
	}
	_ = syscall.Kill(t.proc.Pid, syscall.SIGKILL)
	t.killRest()
}

// killRest ends all but the process, until a look finds no more of them. The group keeps its number from others for
// as long as anybody is in it.
func (t *tree) killRest() {
	for range endRounds {
		alive := t.look()
		if !t.ended || len(alive) > 0 {
			_ = syscall.Kill(-t.proc.Pid, syscall.SIGKILL)
		}
		if len(alive) == 0 {
			return
		}
		for _, pid := range alive {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// awaitExit returns when a child has ended, and leaves it to be waited for. It reports whether it could.
func awaitExit(pid int) bool {
	queue, err := unix.Kqueue()
	if err != nil {
		return false
	}
	defer unix.Close(queue)
	unix.CloseOnExec(queue)
	var change unix.Kevent_t
	unix.SetKevent(&change, pid, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
	change.Fflags = unix.NOTE_EXIT
	changes, events := []unix.Kevent_t{change}, make([]unix.Kevent_t, 1)
	for {
		n, err := unix.Kevent(queue, changes, events, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return errors.Is(err, unix.ESRCH)
		case n > 0 && events[0].Flags&unix.EV_ERROR != 0:
			return unix.Errno(events[0].Data) == unix.ESRCH // it had ended before it was asked for
		case n > 0:
			return true
		}
	}
}
