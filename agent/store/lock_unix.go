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

// unlock gives the file up at once. Closing it alone would not while a command that is just being started still holds a
// copy of the descriptor, so that who opens the session next would find it in use.
func unlock(f *os.File) {
	_ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) // closing does the rest
}
