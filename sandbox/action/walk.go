package action

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

const (
	walkEntries = 50_000
	walkDepth   = 64
)

// skippedFolders are large and not the project's own. All shows them.
var skippedFolders = []string{"node_modules", ".venv", "venv", "__pycache__", ".tox", ".mypy_cache", ".pytest_cache"}

// walked is an entry below the start of a walk.
type walked struct {
	abs  string
	rel  string // slash-separated, from the start
	dir  bool
	info func() (fs.FileInfo, error)
	link bool
}

// versionFolders belong to version control and are never entered.
var versionFolders = []string{".git", ".hg", ".svn", ".jj"}

// walk visits what is below a folder, level by level, so that a bound spares what is near the top; in a folder the
// order is by name. It follows no symbolic link and never enters version control. visit may end it with fs.SkipAll, or
// a folder with fs.SkipDir.
type walk struct {
	root    string
	all     bool                  // .gitignore and skippedFolders do not apply
	names   []string              // of the ignore files that are heeded
	exclude func(rel string) bool // further entries to leave out; nil leaves out none
	hide    bool                  // leave out names that begin with a dot
	left    int
	stats   walkStats
}

type walkStats struct {
	full     bool     // the bound was reached
	failed   []string // folders that could not be read
	excluded int
	hidden   int
}

// newWalk heeds .gitignore, unless all, and further ignore files by their names.
func newWalk(root string, all bool, names []string) *walk {
	if !all {
		names = append([]string{".gitignore"}, names...)
	}
	return &walk{root: root, all: all, names: names, left: walkEntries}
}

func (k *walk) run(ctx context.Context, visit func(walked) error) error {
	queue := []walkFolder{{abs: k.root, rules: k.rulesAbove()}}
	for len(queue) > 0 {
		next := queue[0]
		queue[0] = walkFolder{}
		below, err := k.folder(ctx, next, visit)
		if errors.Is(err, fs.SkipAll) {
			return nil
		}
		if err != nil {
			return err
		}
		queue = append(queue[1:], below...)
	}
	return nil
}

// walkFolder is a folder that is still to be visited.
type walkFolder struct {
	abs, rel string
	depth    int
	rules    []ignoreRules // of the folders above
}

// folder visits the entries of one folder and gives the folders among them.
func (k *walk) folder(ctx context.Context, f walkFolder, visit func(walked) error) ([]walkFolder, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(f.abs)
	if err != nil {
		if f.rel == "" {
			return nil, err
		}
		k.stats.failed = append(k.stats.failed, f.rel+": cannot be read")
		return nil, nil
	}
	rules := f.rules
	if own, ok := rulesIn(f.abs, k.names); ok {
		rules = append(rules[:len(rules):len(rules)], own)
	}
	var below []walkFolder
	for _, e := range entries {
		name := e.Name()
		next := walked{abs: filepath.Join(f.abs, name), rel: name, dir: e.IsDir(), info: e.Info, link: e.Type()&fs.ModeSymlink != 0}
		if f.rel != "" {
			next.rel = f.rel + "/" + name
		}
		if k.skips(next, name, rules) {
			continue
		}
		if k.left--; k.left < 0 {
			k.stats.full = true
			return nil, fs.SkipAll
		}
		err := visit(next)
		if errors.Is(err, fs.SkipDir) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if next.dir {
			if f.depth+1 >= walkDepth {
				k.stats.full = true
				continue
			}
			below = append(below, walkFolder{next.abs, next.rel, f.depth + 1, rules})
		}
	}
	return below, nil
}

func (k *walk) skips(e walked, name string, rules []ignoreRules) bool {
	switch {
	case name == ".git" || e.dir && slices.Contains(versionFolders, name):
		return true
	case !k.all && e.dir && slices.Contains(skippedFolders, name) || ignored(rules, e.abs, e.dir):
		return true
	case k.exclude != nil && k.exclude(e.rel):
		k.stats.excluded++
		return true
	case k.hide && name[0] == '.':
		k.stats.hidden++
		return true
	}
	return false
}

// skipped are the remarks of a walk for an outcome.
func (k *walk) skipped() []string {
	out := k.stats.failed
	if k.stats.full {
		out = append(out, "the search stopped at its bound of entries or depth")
	}
	return out
}

// folderAt checks that a search starts in a folder, and gives it.
func (w *Workspace) folderAt(what, path string) (string, error) {
	abs := w.Dir
	if path != "" {
		abs = w.Abs(path)
	}
	info, err := os.Stat(abs)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", &MissingError{What: what, Path: path, Similar: w.similar(abs), Dir: w.Dir}
	case err != nil:
		return "", err
	case !info.IsDir():
		return "", &NotDirectoryError{What: what, Path: path}
	}
	return abs, nil
}
