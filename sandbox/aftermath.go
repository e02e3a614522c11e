package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// undo looks at what no mount could protect, after the command and everything it started has ended: entries that
// must not appear are moved away, links that changed are put back. It returns what was undone, one line each.
func (g *guards) undo(home string) []string {
	var lines []string
	for _, r := range g.settle(home) {
		lines = append(lines, r.Text)
	}
	return lines
}

// settle is undo with what would have let each thing pass.
func (g *guards) settle(home string) []Refusal {
	var found []Refusal
	undone := func(path, format string, args ...any) {
		found = append(found, Refusal{Text: fmt.Sprintf(format, args...), Path: path, Undone: true})
	}
	if g.round == nil {
		g.round = &round{}
	}
	g.round.mu.Lock()
	g.round.settled = true
	found = append(g.round.early, g.intruders(home, nil)...)
	g.round.mu.Unlock()
	for _, path := range slices.Sorted(maps.Keys(g.links)) {
		text := g.links[path]
		now, err := os.Readlink(path)
		if err == nil && now == text {
			continue
		}
		lock := unlocked(g.reach(path), path)
		defer lock()
		if now, err := os.Readlink(path); err == nil && now == text || !inPlace(path) {
			continue
		}
		what := "it is gone"
		if _, err := os.Lstat(path); err == nil {
			what = away(path, home)
		}
		if err := os.Symlink(text, path); err != nil {
			undone(path, "the protected link %s was changed by the command; %s; it could not be put back: %v", path, what, plain(err))
			continue
		}
		undone(path, "the protected link %s was changed by the command; %s and the link was put back", path, what)
	}
	if g.vault != nil {
		found = append(found, g.vault.restore(home)...)
	}
	for _, s := range g.singles {
		found = append(found, s.keep()...)
	}
	return found
}

// intruders moves away what must not have appeared.
func (g *guards) intruders(home string, except []string) (found []Refusal) {
	for _, path := range g.missing {
		if slices.Contains(except, path) {
			continue
		}
		_, err := os.Lstat(path)
		if err != nil && !errors.Is(err, fs.ErrPermission) {
			continue
		}
		root := g.reach(path)
		lock := unlocked(root, path)
		defer lock()
		if _, err := os.Lstat(path); err != nil {
			continue
		}
		if !inPlace(path) {
			// What leads there now is new as well: what was there before cannot be replaced.
			if path = linkOn(root, path); path == "" {
				continue
			}
		}
		found = append(found, Refusal{Text: fmt.Sprintf("%s is protected and was created by the command; %s", path, away(path, home)), Path: path, Undone: true})
	}
	return found
}

// unlocked gives the owner back the rights to the folders from a root to an entry that the command took away, and
// returns what takes them away again.
func unlocked(root, path string) (lock func()) {
	var changed []func()
	if root != "" {
		for _, dir := range slices.Concat([]string{root}, between(root, path)) {
			info, err := os.Lstat(dir)
			if err != nil || !info.IsDir() {
				break
			}
			if mode := info.Mode(); mode.Perm()&0o700 != 0o700 && os.Chmod(dir, mode|0o700) == nil {
				changed = append(changed, func() { _ = os.Chmod(dir, mode) })
			}
		}
	}
	return func() {
		for _, undo := range slices.Backward(changed) {
			undo()
		}
	}
}

// linkOn is the first symbolic link on the way from a root to an entry, "" when there is none.
func linkOn(root, path string) string {
	if root == "" {
		return ""
	}
	for _, dir := range between(root, path) {
		if info, err := os.Lstat(dir); err == nil && isLink(info) {
			if inPlace(dir) {
				return dir
			}
			return ""
		}
	}
	return ""
}

// inPlace reports whether the folder of a path is still a folder and not a way to another one: what lies elsewhere is
// not ours to touch.
func inPlace(path string) bool {
	real, err := realDir(filepath.Dir(path))
	return err == nil && same(real, filepath.Dir(path))
}

// patrolEvery is how often a command that goes on is looked after.
const patrolEvery = time.Second

// patrol moves intruders away while a command runs, for those that run long: others may read what it put there.
func (g *guards) patrol(done <-chan struct{}, every time.Duration, home string) {
	if len(g.missing) == 0 || g.round == nil {
		return
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		g.round.mu.Lock()
		if !g.round.settled {
			g.round.early = append(g.round.early, g.intruders(home, g.loose)...)
		}
		g.round.mu.Unlock()
	}
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
