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

// walk visits what is below a folder in the order of its names, folders before what is in them. It follows no
// symbolic link and never enters .git. visit may end it with fs.SkipAll, or a folder with fs.SkipDir.
type walk struct {
	root  string
	all   bool     // .gitignore and skippedFolders do not apply
	names []string // of the ignore files that are heeded
	left  int
	stats walkStats
}

type walkStats struct {
	full   bool     // the bound was reached
	failed []string // folders that could not be read
}

// newWalk heeds .gitignore, unless all, and further ignore files by their names.
func newWalk(root string, all bool, names []string) *walk {
	if !all {
		names = append([]string{".gitignore"}, names...)
	}
	return &walk{root: root, all: all, names: names, left: walkEntries}
}

func (k *walk) run(ctx context.Context, visit func(walked) error) error {
	rules := k.rulesAbove()
	err := k.folder(ctx, k.root, "", 0, rules, visit)
	if errors.Is(err, fs.SkipAll) {
		return nil
	}
	return err
}

func (k *walk) folder(ctx context.Context, abs, rel string, depth int, rules []ignoreRules, visit func(walked) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, err := os.ReadDir(abs)
	if err != nil {
		if rel == "" {
			return err
		}
		k.stats.failed = append(k.stats.failed, rel+": cannot be read")
		return nil
	}
	if own, ok := rulesIn(abs, k.names); ok {
		rules = append(rules[:len(rules):len(rules)], own)
	}
	for _, e := range entries {
		name := e.Name()
		next := walked{abs: filepath.Join(abs, name), rel: name, dir: e.IsDir(), info: e.Info, link: e.Type()&fs.ModeSymlink != 0}
		if rel != "" {
			next.rel = rel + "/" + name
		}
		if k.skips(next, name, rules) {
			continue
		}
		if k.left--; k.left < 0 {
			k.stats.full = true
			return fs.SkipAll
		}
		err := visit(next)
		if errors.Is(err, fs.SkipDir) {
			continue
		}
		if err != nil {
			return err
		}
		if next.dir {
			if depth+1 >= walkDepth {
				k.stats.full = true
				continue
			}
			if err := k.folder(ctx, next.abs, next.rel, depth+1, rules, visit); err != nil {
				return err
			}
		}
	}
	return nil
}

func (k *walk) skips(e walked, name string, rules []ignoreRules) bool {
	if name == ".git" {
		return true
	}
	return !k.all && e.dir && slices.Contains(skippedFolders, name) || ignored(rules, e.abs, e.dir)
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
		return "", &MissingError{What: what, Path: path, Similar: similar(abs)}
	case err != nil:
		return "", err
	case !info.IsDir():
		return "", &NotDirectoryError{What: what, Path: path}
	}
	return abs, nil
}
