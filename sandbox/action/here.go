package action

import (
	"os"
	"path/filepath"
	"strings"
)

// Here is a path as seen from the folder that the last command left, spelled from the workspace's. One that is not
// there stays as it is, for it may be meant from the workspace's own folder; fresh is one of a file that is yet to be made.
func (w *Workspace) Here(path string, fresh bool) string {
	dir := w.keptDir()
	if path == "" || dir == w.Dir || filepath.IsAbs(path) || strings.HasPrefix(path, "~") || strings.Contains(path, "://") {
		return path
	}
	there := filepath.Join(dir, path)
	if _, err := os.Stat(there); err != nil && !fresh {
		return path
	}
	return w.relative(there)
}
