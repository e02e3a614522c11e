package sandbox

import (
	"os"

	"golang.org/x/sys/windows"
)

// lockFile locks a file, which it makes where it is missing, alone or with others. It does not wait.
func lockFile(path string, alone bool) (*os.File, bool) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, false
	}
	flags := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if alone {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	if windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{}) != nil {
		f.Close()
		return nil, false
	}
	return f, true
}
