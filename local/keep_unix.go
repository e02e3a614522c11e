//go:build unix

package local

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lock takes a file for this process. held: another one has it.
func lock(f *os.File) (held bool, err error) {
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) || errors.Is(err, unix.EINTR) {
		return true, nil
	}
	return false, err
}
