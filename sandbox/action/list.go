package action

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// List shows what is in a folder: folders first, then by name.
type List struct {
	Path   string   // "" is the working folder
	Ignore []string // globs of names to leave out
	Limit  int      // entries; 0 is 1000
	All    bool     // .gitignore does not apply
	Rules  []string `json:",omitempty"` // names of further ignore files
}

// Title is the action in a line.
func (a List) Title() string { return one("list %s", orHere(a.Path)) }

// Need asks for the folder.
func (a List) Need() Need { return Need{Effect: Reads, Paths: []string{orHere(a.Path)}} }

func orHere(path string) string {
	if path == "" {
		return "."
	}
	return path
}

// Do lists one folder, not what is in its folders.
func (a List) Do(ctx context.Context, w *Workspace) (Found, error) {
	dir, err := w.folderAt("list", a.Path)
	if err != nil {
		return Found{}, err
	}
	for _, glob := range a.Ignore {
		if err := checkGlob(glob); err != nil {
			return Found{}, fmt.Errorf("list %s: %w", orHere(a.Path), err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return Found{}, fmt.Errorf("list %s: %w", orHere(a.Path), reason(err))
	}
	k := newWalk(dir, a.All, a.Rules)
	rules := k.rulesAbove()
	if own, ok := rulesIn(dir, k.names); ok {
		rules = append(rules, own)
	}
	out := Found{What: "entries", Where: dir}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return Found{}, err
		}
		abs := filepath.Join(dir, e.Name())
		if a.ignores(e.Name()) || !a.All && e.Name() == ".git" || ignored(rules, abs, e.IsDir()) {
			continue
		}
		hit := Hit{Path: abs, Dir: e.IsDir()}
		if info, err := e.Info(); err == nil && !hit.Dir {
			hit.Size = info.Size()
		}
		out.Hits = append(out.Hits, hit)
	}
	slices.SortStableFunc(out.Hits, func(x, y Hit) int {
		switch {
		case x.Dir && !y.Dir:
			return -1
		case y.Dir && !x.Dir:
			return 1
		}
		return strings.Compare(x.Path, y.Path)
	})
	out.limit(a.Limit, 1000)
	return out, nil
}

func (a List) ignores(name string) bool {
	for _, glob := range a.Ignore {
		if ok, _ := doublestar.Match(strings.TrimSuffix(glob, "/"), name); ok {
			return true
		}
	}
	return false
}

// limit keeps the first hits and counts the others.
func (f *Found) limit(limit, otherwise int) {
	if limit <= 0 {
		limit = otherwise
	}
	if len(f.Hits) > limit {
		f.More = len(f.Hits) - limit
		f.Hits = f.Hits[:limit]
	}
}

// checkGlob tells where a glob is wrong.
func checkGlob(glob string) error {
	if strings.TrimSpace(glob) == "" {
		return &PatternError{Pattern: glob, Why: "it is empty"}
	}
	if doublestar.ValidatePattern(glob) {
		return nil
	}
	e := &PatternError{Pattern: glob, Why: "a bracket, a brace or an escape is not complete"}
	// The longest start that is a pattern by itself ends where the trouble begins.
	for i := len(glob) - 1; i > 0; i-- {
		if doublestar.ValidatePattern(glob[:i]) {
			e.At = glob[i:]
			break
		}
	}
	return e
}

// reason is an error of the file system without the path, which the caller names.
func reason(err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
