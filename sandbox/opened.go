package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// opening is what an Opened means on the disk as it is now.
type opening struct {
	network bool
	folders []string // existing folders, with all below them but what stays protected
	files   []string // existing files, and entries that are missing from a folder that exists
}

func (o opening) paths() []string { return slices.Concat(o.folders, o.files) }

// kernelPlaces are made anew for every confined command. Opening them would open the machine's own.
var kernelPlaces = []string{"/proc", "/sys", "/dev"}

// opened resolves what a person opened for one command. Opening is exact: a folder opens with what is below it, but
// for protected places that were not named themselves; an entry that is missing opens by its name alone, so its folder
// must exist. The agent's home, hidden files and the places of the kernel never open.
func (p Policy) opened(o Opened) (opening, error) {
	found := opening{network: o.Network}
	for _, path := range o.Paths {
		if !filepath.IsAbs(path) {
			return found, fmt.Errorf("open %s for one command: the path is not absolute", path)
		}
		real, err := follow(path)
		if err != nil {
			return found, fmt.Errorf("open %s for one command: %w", path, err)
		}
		if real != filepath.Clean(path) && p.Mode == WorkspaceWrite && p.rootOf(filepath.Clean(path)) != "" && p.rootOf(real) == "" {
			return found, fmt.Errorf("open %s for one command: it leads to %s now, which is outside the writable folders", path, real)
		}
		switch {
		case p.placeReal(real) == Forbidden:
			return found, fmt.Errorf("open a path for one command: %w", &PlaceError{path, real, Forbidden})
		case real == filepath.Dir(real):
			return found, fmt.Errorf("open %s for one command: that is the whole disk", path)
		case slices.ContainsFunc(kernelPlaces, func(k string) bool { return within(real, k) }):
			return found, fmt.Errorf("open %s for one command: the sandbox has its own %s", path, "/"+strings.Split(real, "/")[1])
		}
		if p.Mode == WorkspaceWrite && p.placeReal(real) == Inside {
			continue // it is open, and what is protected in it was not named
		}
		info, err := os.Lstat(real)
		switch {
		case err == nil && info.IsDir():
			found.folders = append(found.folders, real)
			continue
		case err == nil && !info.Mode().IsRegular():
			return found, fmt.Errorf("open %s for one command: it is neither a file nor a folder", path)
		case err == nil:
			found.files = append(found.files, real)
			if filepath.Base(real) == ".git" {
				found.folders = append(found.folders, ownRepository(real)...)
			}
			continue
		case !errors.Is(err, fs.ErrNotExist):
			return found, fmt.Errorf("open %s for one command: %w", path, plain(err))
		}
		if parent, err := os.Lstat(filepath.Dir(real)); err != nil || !parent.IsDir() {
			return found, fmt.Errorf("open %s for one command: it does not exist, and neither does the folder it would be in; open that one's folder, or create it first", path)
		}
		found.files = append(found.files, real)
	}
	found.folders = slices.DeleteFunc(found.folders, func(dir string) bool { return p.placeReal(dir) == Forbidden })
	return found, nil
}

// ownRepository are the folders that a .git file stands for, if they know of that file: a linked working tree's folder
// names it, a module's settings name its tree. A file that merely points at somebody else's repository opens nothing.
func ownRepository(file string) []string {
	dir, ok := pointer(file, "gitdir:")
	if !ok {
		return nil
	}
	if back, ok := pointer(filepath.Join(dir, "gitdir"), ""); ok && same(back, file) {
		if common, ok := pointer(filepath.Join(dir, "commondir"), ""); ok {
			return []string{dir, common}
		}
		return []string{dir}
	}
	data, err := os.ReadFile(filepath.Join(dir, "config"))
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(data)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		if !strings.EqualFold(strings.TrimSpace(key), "worktree") {
			continue
		}
		tree := strings.TrimSpace(value)
		if !filepath.IsAbs(tree) {
			tree = filepath.Join(dir, tree)
		}
		if real, err := follow(tree); err == nil && same(real, filepath.Dir(file)) {
			return []string{dir}
		}
	}
	return nil
}

// with is the policy as one command sees it.
func (p Policy) with(o opening) Policy {
	p.Network = p.Network || o.network
	if len(o.folders)+len(o.files) == 0 {
		return p
	}
	p.Allowed = slices.Concat(p.Allowed, o.paths())
	if p.Mode != WorkspaceWrite { // nothing but what was opened
		p.Mode, p.Roots = WorkspaceWrite, nil
	}
	p.Roots = slices.Concat(p.Roots, o.folders)
	slices.SortStableFunc(p.Roots, func(a, b string) int { return depth(a) - depth(b) })
	return p
}

// single are the opened entries that lie in folders which may not be written.
func (o opening) single(p Policy) []string {
	return slices.DeleteFunc(slices.Clone(o.files), func(path string) bool {
		return p.placeReal(filepath.Dir(path)) == Inside && !slices.ContainsFunc(o.files, func(f string) bool { return f == filepath.Dir(path) })
	})
}
