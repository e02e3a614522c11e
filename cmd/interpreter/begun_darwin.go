package main

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// begun is a mark of a running process that no later one with its number has: when it began. false when there is none,
// or one that has ended and is only not yet buried.
func begun(pid int) (string, bool) {
	const zombie = 5 // SZOMB of sys/proc.h
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(info.Proc.P_pid) != pid || info.Proc.P_stat == zombie {
		return "", false
	}
	return fmt.Sprintf("%d.%06d", info.Proc.P_starttime.Sec, info.Proc.P_starttime.Usec), true
}
