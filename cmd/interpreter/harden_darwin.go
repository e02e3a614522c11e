package main

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// keepApart does what only the system can do. What it refuses stays undone: the agent works as well without. Here a
// process that may not be traced can still open its descriptors by name.
func keepApart(bool) {
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
	entries, _ := os.ReadDir("/dev/fd")
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
	_ = unix.PtraceDenyAttach()
}
