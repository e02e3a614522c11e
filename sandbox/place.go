package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// maxLinks bounds the symbolic links followed for one path, as kernels do.
const maxLinks = 64

// Place tells where a path that a file action wants to write really lies, and whether it may. A relative path starts
// at the policy's directory. The file, and folders above it, may be missing; symbolic links are followed all the way,
// dangling ones too, because writing through a link writes its target.
func (p Policy) Place(path string) (real string, place Place, err error) {
	if err = ownVolume(path, p.Dir); err == nil {
		real, err = follow(p.abs(path))
	}
	if err != nil {
		return "", Outside, fmt.Errorf("resolve %s: %w", path, err)
	}
	return real, p.placeReal(real), nil
}

// placeReal judges a path that has no symbolic links left.
func (p Policy) placeReal(real string) Place {
	if slices.ContainsFunc(p.Hidden, func(h string) bool { return within(real, h) }) {
		return Forbidden
	}
	if p.Mode == FullAccess {
		return Inside
	}
	root := p.rootOf(real)
	if p.Home != "" && within(real, p.Home) && (root == "" || !within(root, p.Home) || same(root, p.Home)) {
		return Forbidden
	}
	if slices.ContainsFunc(p.Allowed, func(a string) bool { return same(real, a) }) {
		return Inside
	}
	if p.Mode != WorkspaceWrite || root == "" {
		return Outside
	}
	if p.guarded(real, root) {
		return Guarded
	}
	return Inside
}

// guarded reports whether a real path below a root is protected, by the list or by its name. Names count whether the
// entry exists or not, and below every root that holds the path: roots may be nested. A root within a protected place
// was asked for by name and opens what is below it.
func (p Policy) guarded(real, root string) bool {
	by := func(guard string) bool { return within(real, guard) && !within(root, guard) }
	if slices.ContainsFunc(p.Protected, by) {
		return true
	}
	for _, top := range append(slices.Clone(p.Roots), p.layers()...) {
		rel, ok := below(real, top)
		if !ok {
			continue
		}
		parts := strings.Split(rel, string(filepath.Separator))
		if slices.ContainsFunc(protectedNames, func(n string) bool { return passesFor(parts[0], n) }) && by(filepath.Join(top, parts[0])) {
			return true
		}
		for i, part := range parts[:len(parts)-1] {
			if !passesFor(part, ".git") {
				continue
			}
			for _, name := range gitParts {
				guard := filepath.Join(filepath.Join(parts[:i+1]...), name)
				if within(rel, guard) && by(filepath.Join(top, guard)) {
					return true
				}
			}
		}
	}
	return p.ofRepository(real, root, by)
}

// worktreeParts say where what a linked working tree runs is to be found.
var worktreeParts = []string{"commondir", "gitdir", "config.worktree"}

// ofRepository reports whether a real path is a .git file, or a part that runs of a folder with the shape of a
// repository, whatever its name is: a module, one without a working tree, one that a .git file or link leads to.
func (p Policy) ofRepository(real, root string, by func(string) bool) bool {
	if info, err := os.Lstat(real); passesFor(filepath.Base(real), ".git") && by(real) && (err != nil || !info.IsDir()) {
		return true
	}
	for dir := filepath.Dir(real); within(dir, root); dir = filepath.Dir(dir) {
		parts := gitParts
		if !isRepository(dir) {
			if parts = worktreeParts; !exists(filepath.Join(dir, "HEAD")) || !exists(filepath.Join(dir, "commondir")) {
				parts = nil
			}
		}
		for _, name := range parts {
			if guard := filepath.Join(dir, name); within(real, guard) && by(guard) {
				return true
			}
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return false
}

// rootOf is the deepest writable root that holds a real path, "" when none does.
func (p Policy) rootOf(real string) string {
	deepest := ""
	for _, root := range p.Roots {
		if within(real, root) && len(root) > len(deepest) {
			deepest = root
		}
	}
	return deepest
}

// layers are the folders between a writable root and the session's directory: project settings may lie in each.
func (p Policy) layers() []string {
	var found []string
	for _, root := range p.Roots {
		found = append(found, between(root, p.Dir)...)
	}
	return found
}

// Allowing is the policy with some paths lifted out of protection for one action, because a person said yes. Nothing
// lifts what is Forbidden.
func (p Policy) Allowing(paths ...string) (Policy, error) {
	p.Allowed = slices.Clone(p.Allowed)
	for _, path := range paths {
		real, err := follow(p.abs(path))
		if err != nil {
			return p, fmt.Errorf("resolve %s: %w", path, err)
		}
		p.Allowed = append(p.Allowed, real)
	}
	return p, nil
}

func (p Policy) abs(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return p.Dir + string(filepath.Separator) + path
}

// follow resolves an absolute path as the kernel would, and goes on past the first missing component.
func follow(path string) (string, error) {
	if strings.ContainsRune(path, 0) {
		return "", errors.New("the path holds a zero byte")
	}
	if err := acceptable(path); err != nil {
		return "", err
	}
	sep := string(filepath.Separator)
	root := filepath.VolumeName(path) + sep
	real, rest := root, strings.Split(filepath.ToSlash(path[len(filepath.VolumeName(path)):]), "/")
	links, missing := 0, false
	for len(rest) > 0 {
		part := rest[0]
		rest = rest[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			real = filepath.Dir(real)
			missing = false
			continue
		}
		next := filepath.Join(real, part)
		if missing {
			real = next
			continue
		}
		info, err := os.Lstat(next)
		if errors.Is(err, fs.ErrNotExist) {
			real, missing = next, true
			continue
		}
		if err != nil {
			return "", err
		}
		if !isLink(info) {
			if !info.IsDir() && len(rest) > 0 && strings.Trim(strings.Join(rest, ""), ".") != "" {
				return "", fmt.Errorf("%s is not a folder", next)
			}
			real = next
			continue
		}
		if links++; links > maxLinks {
			return "", fmt.Errorf("%s: too many symbolic links", next)
		}
		target, err := os.Readlink(next)
		if err != nil {
			return "", err
		}
		if filepath.IsAbs(target) {
			if err := errors.Join(acceptable(target), ownVolume(target, real)); err != nil {
				return "", fmt.Errorf("%s leads to %s: %w", next, target, err)
			}
			real = filepath.VolumeName(target) + sep
			target = target[len(filepath.VolumeName(target)):]
		}
		rest = append(strings.Split(filepath.ToSlash(target), "/"), rest...)
	}
	return realSpelling(real)
}

// within reports whether path is dir or lies below it, by component.
func within(path, dir string) bool {
	if same(path, dir) {
		return true
	}
	_, ok := below(path, dir)
	return ok
}

// below is the rest of path after dir when path lies below it.
func below(path, dir string) (string, bool) {
	if !strings.HasSuffix(dir, string(filepath.Separator)) {
		dir += string(filepath.Separator)
	}
	if len(path) <= len(dir) || !sameName(path[:len(dir)], dir) {
		return "", false
	}
	return path[len(dir):], true
}

// between are the folders strictly between outer and inner, shallow first.
func between(outer, inner string) []string {
	var found []string
	if _, ok := below(inner, outer); !ok {
		return nil
	}
	for dir := filepath.Dir(inner); !same(dir, outer) && len(dir) > len(outer); dir = filepath.Dir(dir) {
		found = append(found, dir)
	}
	slices.Reverse(found)
	return found
}

func same(a, b string) bool { return sameName(a, b) }

// passesFor reports whether an entry has a protected name on some system that the folder may be taken to, not on this one
// alone: where case does not count, where letters without width do not, or dots and blanks at the end.
func passesFor(entry, name string) bool {
	bare := strings.Map(func(r rune) rune {
		if r >= 0x200b && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2060 && r <= 0x206f || r == 0xfeff {
			return -1
		}
		return r
	}, entry)
	bare = strings.TrimRight(bare, ". ")
	return sameName(entry, name) || strings.EqualFold(bare, name) || name == ".git" && strings.EqualFold(bare, "git~1")
}

// sameName compares as the usual file system of the machine does.
func sameName(a, b string) bool {
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		return strings.EqualFold(a, b)
	}
	return a == b
}
