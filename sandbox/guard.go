package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// guards are what must stay as it is below the writable roots, as the disk is at one moment.
type guards struct {
	readOnly []string          // existing files and folders
	pins     []string          // folders on the way to them that must not be renamed
	links    map[string]string // symbolic links and what they say; a link cannot be mounted over
	missing  []string          // entries that must not appear
	loose    []string          // those of missing whose folder is missing too: nothing holds that one in place
	reach    func(path string) (root string)
	vault    *vault          // copies of what no mount protects; nil where mounts do
	singles  []single        // opened entries whose folder stays closed
	opened   map[string]bool // roots for this command only
	watched  []string        // folders below which new code of repositories is looked for afterwards
	known    repoCode
	round    *round
}

// round is what patrols and the end of a command share.
type round struct {
	mu      sync.Mutex // for the rest, and for moving things away
	settled bool
	early   []Refusal // what was undone while the command ran
}

// Bounds of the search for repositories below a root.
const (
	nestedDepth = 3
	nestedDirs  = 2048
	nestedFound = 200
)

// protections looks at the disk. Only roots of a writable workspace have any.
func protections(p Policy) *guards {
	g := &guards{links: map[string]string{}, reach: p.rootOf, round: &round{}}
	if p.Mode != WorkspaceWrite {
		return g
	}
	for _, root := range append(slices.Clone(p.Roots), p.layers()...) {
		for _, name := range protectedNames {
			g.name(filepath.Join(root, name))
		}
	}
	if p.UserHome != "" {
		for _, name := range personalNames {
			g.personal(p.UserHome, name)
		}
	}
	if p.Home != "" {
		g.strong(p.Home)
	}
	g.lift(p)
	return g
}

// lift takes out what a root, or an approval, names exactly; nothing lifts the agent's home.
func (g *guards) lift(p Policy) {
	named := func(path string) bool {
		return path != p.Home && (slices.Contains(p.Allowed, path) || slices.Contains(p.Roots, path))
	}
	g.readOnly = slices.DeleteFunc(g.readOnly, named)
	g.missing = slices.DeleteFunc(g.missing, named)
}

// apart drops pins that lie in protected places: a pin is writable.
func (g *guards) apart() {
	g.pins = slices.DeleteFunc(g.pins, func(pin string) bool {
		return slices.ContainsFunc(g.readOnly, func(r string) bool { return within(pin, r) })
	})
	slices.Sort(g.pins)
	g.pins = slices.Compact(g.pins)
	slices.Sort(g.missing)
	g.missing = slices.Compact(g.missing)
	slices.Sort(g.readOnly)
	g.readOnly = slices.Compact(g.readOnly)
}

// paths are the places that a policy lists as protected, missing ones too.
func (g *guards) paths() []string {
	found := slices.Concat(g.readOnly, g.missing)
	for link := range g.links {
		found = append(found, link)
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// name protects one protected name of a folder.
func (g *guards) name(path string) {
	info := g.entry(path)
	if info == nil || filepath.Base(path) != ".git" {
		return
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			return
		}
		path = real
	}
	g.gitDir(path)
}

// entry protects what is at a path: the thing, or the link and the thing it names.
func (g *guards) entry(path string) fs.FileInfo {
	info, err := os.Lstat(path)
	if err != nil {
		g.missing = append(g.missing, path)
		return nil
	}
	if info.Mode()&fs.ModeSymlink == 0 {
		g.readOnly = append(g.readOnly, path)
		return info
	}
	if text, err := os.Readlink(path); err == nil {
		g.links[path] = text
		if target, err := follow(path); err == nil {
			g.strong(target)
		}
	}
	return info
}

// strong protects a place anywhere below a root, and the way to it.
func (g *guards) strong(path string) {
	root := g.reach(path)
	if root == "" {
		return
	}
	if _, err := os.Lstat(path); err != nil {
		g.missing = append(g.missing, path)
		return
	}
	g.readOnly = append(g.readOnly, path)
	g.pins = append(g.pins, between(root, path)...)
}

// personal protects an entry of a person's home folder and the way to it. Links on the way are put back.
func (g *guards) personal(home, name string) {
	dir := home
	for _, part := range strings.Split(filepath.Dir(name), "/") {
		next := filepath.Join(dir, part)
		if text, err := os.Readlink(next); err == nil && g.reach(next) != "" {
			g.links[next] = text
		}
		dir = mustFollow(next)
	}
	g.strongEntry(filepath.Join(dir, filepath.Base(name)))
}

// gitDir protects the folders that a .git file names.
func (g *guards) gitDir(file string) {
	dir, ok := pointer(file, "gitdir:")
	if !ok {
		return
	}
	g.strong(dir)
	if common, ok := pointer(filepath.Join(dir, "commondir"), ""); ok {
		g.strong(common)
	}
}

// gitParts are the entries of a repository's folder that run, or that say where what runs is to be found.
var gitParts = []string{"hooks", "config", "config.worktree", "commondir", "info/attributes"}

// repository protects the parts of a repository's folder that run while the rest may be written, those of its linked
// working trees and of its modules too.
func (g *guards) repository(git string, depth int) {
	for _, name := range gitParts {
		g.strongEntry(filepath.Join(git, name))
	}
	for _, tree := range folders(filepath.Join(git, "worktrees"), nestedFound) {
		for _, name := range worktreeParts {
			g.strongEntry(filepath.Join(tree, name))
		}
	}
	if depth > nestedDepth {
		return
	}
	for _, module := range folders(filepath.Join(git, "modules"), nestedFound) {
		if isRepository(module) {
			g.repository(module, depth+1)
			continue
		}
		for _, deeper := range folders(module, nestedFound) {
			if isRepository(deeper) {
				g.repository(deeper, depth+1)
			}
		}
	}
}

// elsewhere protects the parts that run of the repository that the .git file of a folder names.
func (g *guards) elsewhere(file string) {
	dir, ok := pointer(file, "gitdir:")
	if !ok || g.covered(dir) {
		return
	}
	common, linked := pointer(filepath.Join(dir, "commondir"), "")
	switch {
	case linked:
		for _, name := range worktreeParts {
			g.strongEntry(filepath.Join(dir, name))
		}
		if !g.covered(common) && isRepository(common) {
			g.repository(common, 0)
		}
	case isRepository(dir):
		g.repository(dir, 0)
	}
}

// covered reports whether a place is protected already, with all that is in it.
func (g *guards) covered(path string) bool {
	return slices.ContainsFunc(g.readOnly, func(r string) bool { return within(path, r) })
}

// strongEntry protects an entry and the way to it, whether it is there or not.
func (g *guards) strongEntry(path string) {
	root := g.reach(path)
	if root == "" {
		return
	}
	if g.entry(path) == nil {
		path = filepath.Dir(path)
		if _, err := os.Lstat(path); err != nil {
			g.loose = append(g.loose, g.missing[len(g.missing)-1])
			return
		}
		if path == root {
			return
		}
		g.pins = append(g.pins, path)
	}
	g.pins = append(g.pins, between(root, path)...)
}

func isRepository(dir string) bool {
	return exists(filepath.Join(dir, "HEAD")) && exists(filepath.Join(dir, "objects")) && exists(filepath.Join(dir, "refs"))
}

// folders are some of the folders in a folder, none when there is no such folder.
func folders(dir string, most int) []string {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	entries, _ := f.ReadDir(most)
	var found []string
	for _, e := range entries {
		if e.IsDir() {
			found = append(found, filepath.Join(dir, e.Name()))
		}
	}
	return found
}

// pointer reads a small file that holds a path, relative to the file's own folder.
func pointer(file, prefix string) (string, bool) {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 64<<10 {
		return "", false
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return "", false
	}
	text, ok := strings.CutPrefix(strings.TrimSpace(string(data)), prefix)
	if text = strings.TrimSpace(text); !ok || text == "" {
		return "", false
	}
	if !filepath.IsAbs(text) {
		text = filepath.Join(filepath.Dir(file), text)
	}
	real, err := follow(text)
	return real, err == nil
}

// temporary reports whether a root is there for scratch and holds nobody's repositories.
func temporary(p Policy, root string) bool {
	return root != p.Dir && (root == p.TMPDIR || isSlashTmp(root))
}

// nested finds repositories below folders and remembers what it saw, so that the next look costs little.
type nested struct {
	seen map[string]folder
}

type folder struct {
	changed time.Time
	folders []string
	git     bool
	bare    bool // it has the shape of a repository itself
}

// guard adds what must not change in the repositories below a root: the parts of .git that run.
func (n *nested) guard(g *guards, root string, skip []string) {
	for _, git := range n.find(root, skip) {
		g.known.add(git)
		if git == filepath.Join(root, ".git") && !g.opened[root] {
			continue // the root's own is protected whole
		}
		info, err := os.Lstat(git)
		switch {
		case err != nil:
		case info.IsDir():
			g.repository(git, 0)
		case info.Mode().IsRegular():
			g.readOnly = append(g.readOnly, git)
			g.pins = append(g.pins, between(root, git)...)
			g.elsewhere(git)
		case info.Mode()&fs.ModeSymlink != 0:
			text, err := os.Readlink(git)
			real, err2 := filepath.EvalSymlinks(git)
			if err != nil || err2 != nil {
				continue
			}
			g.links[git] = text
			g.pins = append(g.pins, between(root, git)...)
			if info, err := os.Stat(real); err == nil && info.Mode().IsRegular() {
				g.strong(real)
				g.elsewhere(real)
			} else if !g.covered(real) {
				g.repository(real, 0)
			}
		}
	}
	g.watched = append(g.watched, root)
}

// find lists the .git entries below a root and the folders that git would take for a repository without one.
func (n *nested) find(root string, skip []string) []string {
	var found []string
	left := nestedDirs
	level := []string{root}
	for depth := 0; depth <= nestedDepth && len(level) > 0; depth++ {
		var next []string
		for _, dir := range level {
			if left--; left < 0 || len(found) >= nestedFound {
				return found
			}
			f, ok := n.look(dir)
			if !ok {
				continue
			}
			if f.git {
				found = append(found, filepath.Join(dir, ".git"))
			}
			if f.bare {
				found = append(found, dir)
				continue
			}
			for _, name := range f.folders {
				if sub := filepath.Join(dir, name); !slices.Contains(skip, sub) {
					next = append(next, sub)
				}
			}
		}
		level = next
	}
	return found
}

func (n *nested) look(dir string) (folder, bool) {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return folder{}, false
	}
	if f, ok := n.seen[dir]; ok && f.changed.Equal(info.ModTime()) {
		return f, true
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return folder{}, false
	}
	f := folder{changed: info.ModTime()}
	shape := 0
	for _, e := range entries {
		switch e.Name() {
		case "HEAD", "objects", "refs":
			shape++
		}
		switch {
		case e.Name() == ".git":
			f.git = true
		case e.IsDir() && e.Name() != "node_modules":
			f.folders = append(f.folders, e.Name())
		}
	}
	f.bare = shape == 3 && filepath.Base(dir) != ".git"
	if n.seen == nil {
		n.seen = map[string]folder{}
	}
	n.seen[dir] = f
	return f, true
}
