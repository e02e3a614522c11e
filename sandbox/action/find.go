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

// Find lists files whose path matches a glob with **, *, ?, [a-z] and {a,b}.
type Find struct {
	Pattern string   // a pattern without a slash matches names anywhere below
	Path    string   // where to start; "" is the working folder
	Limit   int      // files; 0 is 1000
	All     bool     // .gitignore does not apply
	Rules   []string `json:",omitempty"` // names of further ignore files
	Recent  bool     // files changed in the last day first, the newest at the top; the others, as otherwise all, by path
}

// Title is the action in a line.
func (a Find) Title() string { return one("find %s in %s", a.Pattern, orHere(a.Path)) }

// Need asks for the folder.
func (a Find) Need() Need { return Need{Effect: Reads, Paths: []string{orHere(a.Path)}} }

// Do walks everything below the folder.
func (a Find) Do(ctx context.Context, w *Workspace) (Found, error) {
	if err := checkGlob(a.Pattern); err != nil {
		return Found{}, fmt.Errorf("find: %w", err)
	}
	dir, err := w.folderAt("find", a.Path)
	if err != nil {
		return Found{}, err
	}
	matches := globMatcher(dir, a.Pattern)
	type dated struct {
		hit  Hit
		when time.Time
	}
	var files []dated
	k := newWalk(dir, a.All, a.Rules)
	err = k.run(ctx, func(e walked) error {
		if e.dir || !matches(e.rel) {
			return nil
		}
		f := dated{hit: Hit{Path: e.abs}}
		if info, err := e.info(); err == nil {
			f.hit.Size, f.when = info.Size(), info.ModTime()
		}
		files = append(files, f)
		return nil
	})
	if err != nil {
		return Found{}, fmt.Errorf("find %s in %s: %w", a.Pattern, orHere(a.Path), reason(err))
	}
	yesterday := time.Now().Add(-24 * time.Hour)
	slices.SortStableFunc(files, func(x, y dated) int {
		if a.Recent && (x.when.After(yesterday) || y.when.After(yesterday)) {
			if order := y.when.Compare(x.when); order != 0 {
				return order
			}
		}
		return strings.Compare(x.hit.Path, y.hit.Path)
	})
	out := Found{What: "files", Pattern: a.Pattern, Where: dir, Skipped: k.skipped()}
	for _, f := range files {
		out.Hits = append(out.Hits, f.hit)
	}
	out.limit(a.Limit, 1000)
	return out, nil
}

// globMatcher compares paths from dir with a pattern. An absolute pattern below dir is taken from there.
func globMatcher(dir, pattern string) func(rel string) bool {
	pattern = filepath.ToSlash(pattern)
	if rest, ok := strings.CutPrefix(pattern, filepath.ToSlash(dir)+"/"); ok {
		pattern = rest
	} else {
		pattern = strings.TrimPrefix(pattern, "./")
		if !strings.Contains(pattern, "/") {
			pattern = "**/" + pattern
		}
	}
	return func(rel string) bool { return doublestar.MatchUnvalidated(pattern, rel) }
}
