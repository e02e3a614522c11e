package action

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"
)

// Find lists files whose path matches a glob with **, *, ?, [a-z] and {a,b}. Names that begin with a dot are found too.
type Find struct {
	Pattern string   // a pattern without a slash matches names anywhere below
	Path    string   // where to start; "" is the working folder
	Limit   int      // files; 0 is 1000
	All     bool     // .gitignore does not apply
	Rules   []string `json:",omitempty"` // names of further ignore files
	Recent  bool     // files changed in the last day first, the newest at the top; the others, as otherwise all, by path
	Newest  bool     `json:",omitempty"` // all of them, the newest at the top, those of one time by path
	Dirs    bool     `json:",omitempty"` // folders count as well
	Exclude []string `json:",omitempty"` // globs of files and folders to leave out; one with ! brings back
}

// Title is the action in a line.
func (a Find) Title() string { return one("find %s in %s", a.Pattern, orHere(a.Path)) }

// Need asks for the folder.
func (a Find) Need() Need {
	path, _ := a.start()
	return Need{Effect: Reads, Paths: []string{orHere(path)}}
}

// start is where an absolute pattern without a Path begins, and the rest of it.
func (a Find) start() (path, pattern string) {
	if a.Path != "" || !filepath.IsAbs(a.Pattern) {
		return a.Path, a.Pattern
	}
	return doublestar.SplitPattern(filepath.ToSlash(a.Pattern))
}

// Do walks everything below the folder.
func (a Find) Do(ctx context.Context, w *Workspace) (Found, error) {
	if err := checkGlob(a.Pattern); err != nil {
		return Found{}, fmt.Errorf("find: %w", err)
	}
	path, pattern := a.Path, a.Pattern
	if base, rest := a.start(); base != path && !below(w.Dir, base) {
		path, pattern = base, rest
	}
	dir, err := w.folderAt("find", path)
	if err != nil {
		return Found{}, err
	}
	matches := w.globMatcher(dir, pattern)
	type dated struct {
		hit  Hit
		when time.Time
	}
	var files []dated
	k := newWalk(dir, a.All, a.Rules)
	if k.exclude, err = w.excluding(dir, a.Exclude); err != nil {
		return Found{}, fmt.Errorf("find: %w", err)
	}
	err = k.run(ctx, func(e walked) error {
		if e.dir && !a.Dirs || !matches(e.rel) {
			return nil
		}
		f := dated{hit: Hit{Path: e.abs, Dir: e.dir}}
		if info, err := e.info(); err == nil {
			f.when = info.ModTime()
			if !e.dir {
				f.hit.Size = info.Size()
			}
		}
		files = append(files, f)
		return nil
	})
	if err != nil {
		return Found{}, fmt.Errorf("find %s in %s: %w", a.Pattern, orHere(a.Path), reason(err))
	}
	yesterday := time.Now().Add(-24 * time.Hour)
	slices.SortStableFunc(files, func(x, y dated) int {
		if a.Newest || a.Recent && (x.when.After(yesterday) || y.when.After(yesterday)) {
			if order := y.when.Compare(x.when); order != 0 {
				return order
			}
		}
		return strings.Compare(x.hit.Path, y.hit.Path)
	})
	out := Found{What: "files", Pattern: a.Pattern, Where: dir, Skipped: k.skipped(), Total: len(files), Excluded: k.stats.excluded}
	for _, f := range files {
		out.Hits = append(out.Hits, f.hit)
	}
	out.limit(a.Limit, 1000)
	return out, nil
}
