package rules

import (
	"os"

	"golang.org/x/sys/windows"
)

// lock waits for the file and takes it for this process.
func lock(f *os.File) error {
	return windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK, 0, 1, 0, &windows.Overlapped{})
}

// unlock gives the file up at once: after closing alone the system may take its time.
func unlock(f *os.File) {
	_ = windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, &windows.Overlapped{}) // closing does the rest
}
