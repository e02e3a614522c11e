package action

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// containerRoots are folders of the containers in which models were trained: they are sure that the project is there.
var containerRoots = []string{"/workspace", "/workspaces", "/app", "/testbed", "/repo", "/project", "/code", "/home/user", "/mnt/data"}

// Abs is a path as an action means it: relative ones start at Dir. It says nothing about symbolic links. What models
// write around a path is taken off, and where they only think that the project is becomes Dir, unless there is such a
// file. No path inside Dir becomes one outside, but for ~ and file://.
func (w *Workspace) Abs(path string) string {
	if path == "" || !w.exists(path) {
		path = w.rooted(w.bare(path))
	}
	return w.join(path)
}

func (w *Workspace) join(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(w.Dir, path)
}

// bare is a path without quotes, file://, the @ of a mention, blanks around it, and with ~ spelled out.
func (w *Workspace) bare(path string) string {
	if trimmed := strings.TrimSpace(path); trimmed != "" {
		path = trimmed
	}
	for _, q := range []string{`"`, "'", "`"} {
		if len(path) > 2 && strings.HasPrefix(path, q) && strings.HasSuffix(path, q) {
			path = path[1 : len(path)-1]
		}
	}
	if rest, ok := strings.CutPrefix(path, "file://"); ok {
		rest = strings.TrimPrefix(rest, "localhost")
		if strings.HasPrefix(rest, "/") {
			path = rest
			if plain, err := url.PathUnescape(rest); err == nil && !w.exists(rest) {
				path = plain
			}
		}
	}
	if rest, ok := strings.CutPrefix(path, "@"); ok && rest != "" && (w.exists(rest) || w.exists(filepath.Dir(rest)) && !w.exists(filepath.Dir(path))) {
		path = rest
	}
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || rest[0] == '/') {
		for _, v := range w.Env {
			if home, ok := strings.CutPrefix(v, "HOME="); ok && filepath.IsAbs(home) {
				path = filepath.Join(home, rest)
			}
		}
	}
	return path
}

// rooted finds the file of the workspace that a path means which does not exist as written. A path that leads nowhere
// stays as it is.
func (w *Workspace) rooted(path string) string {
	if path == "" || w.exists(path) {
		return path
	}
	if plain := plainBlanks(path); plain != path && w.exists(plain) {
		return plain
	}
	if !strings.Contains(path, "/") && strings.Contains(path, `\`) && filepath.Separator == '/' {
		if slashed := strings.ReplaceAll(path, `\`, "/"); w.exists(slashed) || w.exists(filepath.Dir(slashed)) {
			path = slashed
		}
	}
	clean := filepath.ToSlash(filepath.Clean(path))
	dir := filepath.ToSlash(w.Dir)
	// The workspace's own path stands twice, or without its first slash.
	if twice := dir + dir; clean == twice || strings.HasPrefix(clean, twice+"/") {
		return clean[len(dir):]
	}
	bare := strings.TrimPrefix(dir, "/")
	if strings.Contains(bare, "/") && strings.HasPrefix(clean, bare+"/") && !w.exists(firstPart(clean)) {
		return clean[len(bare)+1:]
	}
	if !strings.HasPrefix(clean, "/") || below(w.Dir, path) {
		return path
	}
	for _, root := range containerRoots {
		rest, ok := strings.CutPrefix(clean, root)
		if !ok || rest != "" && rest[0] != '/' {
			continue
		}
		rest = strings.TrimPrefix(rest, "/")
		inner := strings.TrimPrefix(rest, filepath.Base(w.Dir)+"/") // /workspace/my-app/src/a.ts
		for _, try := range []string{rest, inner} {
			if try != "" && w.exists(try) {
				return try
			}
		}
		if _, err := os.Lstat(root); err != nil {
			if inner != rest && !w.exists(firstPart(rest)) {
				rest = inner
			}
			return orHere(rest)
		}
		return path
	}
	if rest := strings.TrimPrefix(clean, "/"); rest != "" && strings.Contains(rest, "/") && w.exists(rest) {
		if _, err := os.Lstat("/" + firstPart(rest)); err != nil {
			return rest // the workspace was taken for the root
		}
	}
	return path
}

func firstPart(path string) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return first
}

// plainBlanks writes the blanks of a path the way a keyboard does.
func plainBlanks(path string) string {
	return strings.Map(func(r rune) rune {
		if r != ' ' && unicode.IsSpace(r) && r > 0x7f || plainLetter(r) == " " {
			return ' '
		}
		return r
	}, path)
}

func (w *Workspace) exists(path string) bool {
	_, err := os.Lstat(w.join(path))
	return err == nil
}

const (
	similarMost    = 3
	similarEntries = 5000 // looked at for similar names
)

// similar are at most three existing paths that a missing one may have meant: names like it in its folder, then the
// same name elsewhere in the workspace.
func (w *Workspace) similar(abs string) []string {
	out := similarIn(abs)
	if len(out) >= similarMost || !below(w.Dir, abs) {
		return out
	}
	name := strings.ToLower(filepath.Base(abs))
	k := newWalk(w.Dir, false, nil)
	k.left = similarEntries
	var same []string
	_ = k.run(context.Background(), func(e walked) error {
		if strings.ToLower(filepath.Base(e.abs)) == name && !slices.Contains(out, e.abs) {
			same = append(same, e.abs)
		}
		return nil
	})
	wanted := bigrams(filepath.ToSlash(abs))
	slices.SortStableFunc(same, func(x, y string) int { // those with most of the path in common first
		switch a, b := alike(wanted, bigrams(filepath.ToSlash(x))), alike(wanted, bigrams(filepath.ToSlash(y))); {
		case a > b:
			return -1
		case a < b:
			return 1
		}
		return strings.Compare(x, y)
	})
	return append(out, same[:min(len(same), similarMost-len(out))]...)
}

// similarIn are names in the folder of a missing file: the same with other case or extension, or few letters away.
func similarIn(abs string) []string {
	dir, name := filepath.Dir(abs), filepath.Base(abs)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	type candidate struct {
		path  string
		score float64
	}
	var found []candidate
	wanted := bigrams(strings.ToLower(name))
	stem := strings.TrimSuffix(name, filepath.Ext(name))
	for _, e := range entries[:min(len(entries), similarEntries)] {
		other := e.Name()
		score := alike(wanted, bigrams(strings.ToLower(other)))
		if stem != "" && strings.EqualFold(stem, strings.TrimSuffix(other, filepath.Ext(other))) {
			score = max(score, 0.9)
		}
		if strings.EqualFold(name, other) {
			score = 1
		}
		if score >= 0.5 {
			found = append(found, candidate{filepath.Join(dir, other), score})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return strings.Compare(a.path, b.path)
	})
	var out []string
	for _, c := range found[:min(len(found), similarMost)] {
		out = append(out, c.path)
	}
	return out
}
