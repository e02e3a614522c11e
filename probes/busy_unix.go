//go:build linux || darwin

package probes

import (
	"time"

	"golang.org/x/sys/unix"
)

// processTime is what this process has used of all processors so far.
func processTime() time.Duration {
	var used unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &used) != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
