//go:build unix

package approve

import (
	"os"
	"syscall"
)

// systems reports whether what is at a path is root's, and nobody else's to change.
func systems(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Uid == 0 && (info.Mode().Perm()&0o002 == 0 && (info.Mode().Perm()&0o020 == 0 || stat.Gid == 0))
}

// everyones reports whether anybody may put something into a folder.
func everyones(dir string) bool {
	info, err := os.Stat(dir)
	return err != nil || info.Mode().Perm()&0o002 != 0
}
