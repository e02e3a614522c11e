//go:build unix

package sandbox

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// couldWrite reports whether this user could write a path, or create it, without a sandbox.
func couldWrite(path string) bool {
	for {
		if _, err := os.Lstat(path); err == nil {
			return unix.Access(path, unix.W_OK) == nil
		}
		parent := filepath.Dir(path)
		if parent == path {
			return false
		}
		path = parent
	}
}
