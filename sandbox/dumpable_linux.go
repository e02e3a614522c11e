package sandbox

import (
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// The agent is a process that nobody may look into, which makes its entries below /proc root's. An ordinary person's
// child shares them until it is another program: it could neither open the confining program by its descriptor nor be
// given the ids of a namespace. So for the moment of a start, and only then, the process is an ordinary one. What this
// counts is a state of the whole process, which the system keeps but once.
var opened struct {
	sync.Mutex
	starts int // under way that need it
}

// lookable makes the process one that may be looked into, until the result is called.
func lookable() (done func()) {
	if os.Geteuid() == 0 {
		return func() {}
	}
	opened.Lock()
	defer opened.Unlock()
	if opened.starts == 0 {
		if flag, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0); err != nil || flag != 0 {
			return func() {}
		}
		if unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0) != nil {
			return func() {}
		}
	}
	opened.starts++
	return func() {
		opened.Lock()
		defer opened.Unlock()
		if opened.starts--; opened.starts == 0 {
			_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
		}
	}
}
