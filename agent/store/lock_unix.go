//go:build unix

package store

import (
	"os"
	"syscall"
)

// lock takes the file for this process, or fails at once. The lock ends with the file's descriptor, so a crash
// leaves none behind.
func lock(f *os.File) error {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}
