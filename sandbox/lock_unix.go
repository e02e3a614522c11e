//go:build unix

package sandbox

import (
	"os"

	"golang.org/x/sys/unix"
)

// lockFile locks a file, which it makes where it is missing, alone or with others. It does not wait.
func lockFile(path string, alone bool) (*os.File, bool) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, false
	}
	how := unix.LOCK_SH
	if alone {
		how = unix.LOCK_EX
	}
	if unix.Flock(int(f.Fd()), how|unix.LOCK_NB) != nil {
		f.Close()
		return nil, false
	}
	return f, true
}
