package store

import (
	"os"

	"golang.org/x/sys/windows"
)

// lock takes the file for this process, or fails at once. Locks of this system keep others from the locked bytes,
// so the one that is locked lies far behind any content.
func lock(f *os.File) error {
	far := &windows.Overlapped{OffsetHigh: 1 << 30}
	return windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, far)
}

// unlock gives the file up at once: after closing alone the system may take its time.
func unlock(f *os.File) {
	far := &windows.Overlapped{OffsetHigh: 1 << 30}
	_ = windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, far) // closing does the rest
}
