package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Bounds of what a vault keeps. What is beyond them is not protected where no mount protects.
const (
	vaultFile    = 1 << 20  // bytes of one file
	vaultBytes   = 64 << 20 // bytes of all
	vaultEntries = 20000
)

// agentParts are what of the agent's home steers the next session.
var agentParts = []string{"config.toml", "AGENTS.md", "rules", "hooks", "hooks.json", "skills", "prompts", "agents"}

// vault is a copy of what must not change, for back ends that cannot forbid it. Of a repository what runs is put back
// whenever it changed; the rest only when the repository is gone, because a person may commit while a command runs.
type vault struct {
	places []string
	kept   map[string]treasure
	left   int // bytes
}

// treasure is an entry as it was.
type treasure struct {
	info fs.FileInfo
	text string // of a link
	data []byte
	has  bool // data holds the file
}

func newVault(g *guards, home string) *vault {
	v := &vault{kept: map[string]treasure{}, left: vaultBytes}
	for _, place := range g.readOnly {
		if place != home {
			v.places = append(v.places, place)
			continue
		}
		for _, name := range agentParts {
			v.places = append(v.places, filepath.Join(home, name))
		}
	}
	for _, objects := range []bool{false, true} {
		for _, place := range v.places {
			v.walk(place, func(path string, info fs.FileInfo) { v.keep(path, info) }, objects)
		}
	}
	return v
}

// walk visits what is below a place, the objects of repositories or the rest.
func (v *vault) walk(place string, visit func(string, fs.FileInfo), objects bool) {
	left := vaultEntries
	_ = filepath.WalkDir(place, func(path string, d fs.DirEntry, err error) error {
		if left--; left < 0 {
			return fs.SkipAll
		}
		if err != nil {
			return nil
		}
		within := strings.Contains(path[len(place):], string(filepath.Separator)+"objects")
		if within && !objects {
			return fs.SkipDir
		}
		if info, err := d.Info(); err == nil && within == objects {
			visit(path, info)
		}
		return nil
	})
}

func (v *vault) keep(path string, info fs.FileInfo) {
	if len(v.kept) >= vaultEntries {
		return
	}
	t := treasure{info: info}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		t.text, _ = os.Readlink(path)
	case info.Mode().IsRegular() && info.Size() <= vaultFile && info.Size() <= int64(v.left):
		data, err := os.ReadFile(path)
		t.data, t.has = data, err == nil
		v.left -= len(data)
	}
	v.kept[path] = t
}

// restore puts back what changed, and moves away what is new, a line for each place.
func (v *vault) restore(home string) []Refusal {
	var found []Refusal
	for _, place := range v.places {
		what := v.restorePlace(place, home)
		if len(what) == 0 {
			continue
		}
		more := ""
		if len(what) > 5 {
			more = fmt.Sprintf(" and %d more", len(what)-5)
		}
		found = append(found, Refusal{Path: place, Undone: true,
			Text: fmt.Sprintf("%s is protected and was changed by the command: %s%s", place, strings.Join(what[:min(5, len(what))], "; "), more)})
	}
	return found
}

func (v *vault) restorePlace(place, home string) (what []string) {
	name := func(path string) string {
		if rel, ok := below(path, place); ok {
			return rel
		}
		return filepath.Base(path)
	}
	var paths []string
	for path := range v.kept {
		if within(path, place) {
			paths = append(paths, path)
		}
	}
	slices.SortFunc(paths, func(a, b string) int { return strings.Compare(a, b) }) // folders before what is in them
	if back := v.fetch(place, home); back != "" {
		what = append(what, back)
	}
	whole := !isRepository(place)
	for _, path := range paths {
		t := v.kept[path]
		now, err := os.Lstat(path)
		if err != nil {
			if !whole && !runs(place, path) {
				continue
			}
			what = append(what, name(path)+" was gone and "+t.put(path))
			continue
		}
		if !whole && !runs(place, path) || t.same(path, now) {
			continue
		}
		if now.Mode().Type() != t.info.Mode().Type() {
			what = append(what, name(path)+": "+away(path, home)+" and "+t.put(path))
			continue
		}
		what = append(what, name(path)+" "+t.put(path))
	}
	v.walk(place, func(path string, info fs.FileInfo) {
		if _, known := v.kept[path]; known || len(v.kept) >= vaultEntries || !whole && !runs(place, path) {
			return
		}
		if _, err := os.Lstat(path); err == nil {
			what = append(what, name(path)+" is new; "+away(path, home))
		}
	}, false)
	return what
}

// fetch brings a place back that was renamed within its folder or the folders beside it: better than copies.
func (v *vault) fetch(place, home string) string {
	was, known := v.kept[place]
	now, err := os.Lstat(place)
	if !known || err == nil && os.SameFile(now, was.info) {
		return ""
	}
	parent := filepath.Dir(place)
	for _, dir := range append([]string{parent}, folders(parent, 256)...) {
		f, err := os.Open(dir)
		if err != nil {
			continue
		}
		entries, _ := f.ReadDir(1024)
		f.Close()
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			if info, err := os.Lstat(path); err != nil || path == place || !os.SameFile(info, was.info) || info.Mode().IsRegular() {
				continue
			}
			if _, err := os.Lstat(place); err == nil {
				away(place, home)
			}
			if os.Rename(path, place) == nil {
				return "it was moved to " + path + " and was moved back"
			}
		}
	}
	return ""
}

// runs reports whether an entry of a protected place runs, or steers what runs. In a repository that is some of it.
func runs(place, path string) bool {
	if !isRepository(place) {
		return true
	}
	rel, ok := below(path, place)
	if !ok {
		return true
	}
	return slices.ContainsFunc(gitParts, func(part string) bool { return within(rel, part) }) ||
		strings.HasPrefix(rel, "modules"+string(filepath.Separator)) || strings.HasPrefix(rel, "worktrees"+string(filepath.Separator))
}

// same reports whether an entry is what it was.
func (t treasure) same(path string, now fs.FileInfo) bool {
	if now.Mode() != t.info.Mode() {
		return false
	}
	switch {
	case now.IsDir():
		return true
	case now.Mode()&fs.ModeSymlink != 0:
		text, err := os.Readlink(path)
		return err == nil && text == t.text
	case now.Size() != t.info.Size():
		return false
	case !t.has:
		return now.ModTime().Equal(t.info.ModTime()) && os.SameFile(now, t.info)
	}
	data, err := os.ReadFile(path)
	return err == nil && bytes.Equal(data, t.data)
}

// put makes an entry what it was and says how that went.
func (t treasure) put(path string) string {
	var err error
	switch mode := t.info.Mode(); {
	case mode.IsDir():
		if err = os.MkdirAll(path, mode.Perm()); err == nil {
			err = os.Chmod(path, mode.Perm())
		}
	case mode&fs.ModeSymlink != 0:
		_ = os.Remove(path)
		err = os.Symlink(t.text, path)
	case !t.has:
		err = errors.New("it was too large to be kept")
	default:
		err = t.write(path)
	}
	if err != nil {
		return "could not be put back: " + plain(err).Error()
	}
	return "was put back"
}

// write replaces the file: what has its old inode open, or a link to it, keeps the changed one.
func (t treasure) write(path string) error {
	dir, err := openDir(filepath.Dir(path), false)
	if err != nil {
		return err
	}
	defer dir.Close()
	base := filepath.Base(path)
	_ = dir.Remove(base)
	if err := replace(dir, base, t.data); err != nil {
		return err
	}
	if err := dir.Chmod(base, t.info.Mode().Perm()); err != nil {
		return err
	}
	return dir.Chtimes(base, t.info.ModTime(), t.info.ModTime())
}
