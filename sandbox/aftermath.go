package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// undo looks at what no mount could protect, after the command and everything it started has ended: entries that
// must not appear are moved away, links that changed are put back. It returns what was undone, one line each.
func (g *guards) undo(home string) []string {
	var lines []string
	for _, path := range g.missing {
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			continue
		}
		lines = append(lines, fmt.Sprintf("%s is protected and was created by the command; %s", path, away(path, home)))
	}
	for path, text := range g.links {
		now, err := os.Readlink(path)
		if err == nil && now == text {
			continue
		}
		what := "it is gone"
		if _, err := os.Lstat(path); err == nil {
			what = away(path, home)
		}
		if err := os.Symlink(text, path); err != nil {
			lines = append(lines, fmt.Sprintf("the protected link %s was changed by the command; %s; it could not be put back: %v", path, what, plain(err)))
			continue
		}
		lines = append(lines, fmt.Sprintf("the protected link %s was changed by the command; %s and the link was put back", path, what))
	}
	return lines
}

// away moves an entry to the agent's quarantine and says where it went. Where that is on another disk the entry stays
// beside its old place, under a name that nothing loads.
func away(path, home string) string {
	name := time.Now().UTC().Format("20060102T150405.000000000") + "-" + strings.TrimPrefix(filepath.Base(path), ".")
	if home != "" {
		dir := filepath.Join(home, "quarantine")
		if err := os.MkdirAll(dir, 0o700); err == nil {
			to := filepath.Join(dir, name)
			if err := os.Rename(path, to); err == nil {
				return "it was moved to " + to
			}
		}
	}
	to := filepath.Join(filepath.Dir(path), "quarantine-"+name)
	if err := os.Rename(path, to); err != nil {
		return fmt.Sprintf("it could not be moved away: %v", plain(err))
	}
	return "it was renamed to " + to
}
