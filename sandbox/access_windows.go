package sandbox

import "os"

// couldWrite reports whether a path exists and is not marked read-only.
func couldWrite(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().Perm()&0o200 != 0
}
