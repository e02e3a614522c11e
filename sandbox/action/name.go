package action

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Name finds files by a part of their name or path, as a person remembers it: upper and lower case are the same,
// words may stand in any order, letters may be left out.
type Name struct {
	Query   string
	Path    string   // where to start; "" is the working folder
	Limit   int      // files; 0 is 20
	Kinds   []string // extensions, with or without their dot; empty takes all
	Exclude []string `json:",omitempty"` // globs of paths or names to leave out
}

// Title is the action in a line.
func (a Name) Title() string { return one("find a file named %s in %s", a.Query, orHere(a.Path)) }

// Need asks for the folder.
func (a Name) Need() Need { return Need{Effect: Reads, Paths: []string{orHere(a.Path)}} }

// Do walks everything below the folder that the ignore files leave. The best come first; Hit.Score says how good.
func (a Name) Do(ctx context.Context, w *Workspace) (Found, error) {
	words := strings.Fields(strings.ToLower(strings.ReplaceAll(a.Query, `\`, "/")))
	if len(words) == 0 {
		return Found{}, errors.New("find a file: no part of its name is given")
	}
	for _, glob := range a.Exclude {
		if err := checkGlob(glob); err != nil {
			return Found{}, fmt.Errorf("find a file: %w", err)
		}
	}
	dir, err := w.folderAt("find", a.Path)
	if err != nil {
		return Found{}, err
	}
	out := Found{What: "files", Pattern: a.Query, Where: dir}
	k := newWalk(dir, false, nil)
	err = k.run(ctx, func(e walked) error {
		if e.dir || !a.takes(e.rel) {
			return nil
		}
		if score := fitness(words, strings.ToLower(e.rel)); score > 0 {
			out.Hits = append(out.Hits, Hit{Path: e.abs, Score: score})
		}
		return nil
	})
	if err != nil {
		return Found{}, fmt.Errorf("find %s in %s: %w", a.Query, orHere(a.Path), reason(err))
	}
	slices.SortStableFunc(out.Hits, func(x, y Hit) int {
		if x.Score != y.Score {
			return y.Score - x.Score
		}
		if len(x.Path) != len(y.Path) {
			return len(x.Path) - len(y.Path)
		}
		return strings.Compare(x.Path, y.Path)
	})
	// What only shares letters is of no use beside what has the words.
	out.Hits = slices.DeleteFunc(out.Hits, func(h Hit) bool { return 2*h.Score < out.Hits[0].Score })
	out.Skipped = k.skipped()
	out.limit(a.Limit, 20)
	return out, nil
}

// takes reports whether a path has a wanted extension and is not left out.
func (a Name) takes(rel string) bool {
	wanted := len(a.Kinds) == 0
	for _, kind := range a.Kinds {
		wanted = wanted || strings.HasSuffix(strings.ToLower(rel), "."+strings.ToLower(strings.TrimLeft(kind, "*.")))
	}
	for _, glob := range a.Exclude {
		if !strings.Contains(glob, "/") {
			glob = "**/" + glob
		}
		if doublestar.MatchUnvalidated(glob, rel) {
			return false
		}
	}
	return wanted
}

// fitness is how well a path fits all words, from 100, the name itself, to 0, not at all.
func fitness(words []string, rel string) int {
	name := path.Base(rel)
	stem := strings.TrimSuffix(name, path.Ext(name))
	sum := 0
	for _, word := range words {
		score := 0
		switch {
		case word == name, word == rel:
			score = 100
		case word == stem:
			score = 95
		case strings.HasPrefix(name, word):
			score = 90
		case strings.Contains(name, word):
			score = 80
		case strings.HasSuffix(rel, "/"+word):
			score = 75
		case strings.Contains(rel, word):
			score = 60
		case len(word) > 2 && threaded(word, name):
			score = 40
		case len(word) > 2 && threaded(word, rel):
			score = 20
		default:
			return 0
		}
		sum += score
	}
	return sum / len(words)
}

// threaded reports whether the letters of a word stand in a text in this order.
func threaded(word, text string) bool {
	for _, c := range word {
		at := strings.IndexRune(text, c)
		if at < 0 {
			return false
		}
		text = text[at+len(string(c)):]
	}
	return true
}
