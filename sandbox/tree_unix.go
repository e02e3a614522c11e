//go:build unix && !darwin

package sandbox

import (
	"os"
	"sync"
	"syscall"
)

// tend looks after a process that was started as the leader of a session.
func tend(proc *os.Process) running { return &group{proc: proc} }

// group is a process and its group.
type group struct {
	proc *os.Process

	mu    sync.Mutex
	ended bool // the process has been waited for: its number may be another's
}

func (g *group) wait() ending {
	end := endingOf(g.proc.Wait())
	g.signal(syscall.SIGKILL) // who is left in the group keeps its number from others
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ended = true
	return end
}

func (g *group) signal(s syscall.Signal) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.ended {
		_ = syscall.Kill(-g.proc.Pid, s)
	}
}

func (g *group) kill() { g.signal(syscall.SIGKILL) }
