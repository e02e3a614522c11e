//go:build unix

package rules

import (
	"errors"
	"os"
	"syscall"
)

// lock waits for the file and takes it for this process.
func lock(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// unlock gives the file up at once, also while a program that is just being started holds a copy of the descriptor.
func unlock(f *os.File) {
	_ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) // closing does the rest
}
