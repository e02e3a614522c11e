package action

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// fileFilter is which files of a walk are wanted, by their paths.
type fileFilter struct {
	takes   func(rel string) bool
	exclude func(rel string) bool // of files and folders
	dotted  bool                  // a glob names a file that begins with a dot
}

// filter reads the globs of a search that starts in a folder.
func (g *grepping) filter(start string) (fileFilter, error) {
	var out fileFilter
	var wanted []func(string) bool
	leave := g.Exclude
	for _, glob := range globsIn(g.Glob) {
		if bare, ok := strings.CutPrefix(glob, "!"); ok {
			leave = append(leave[:len(leave):len(leave)], bare)
			continue
		}
		if err := checkGlob(glob); err != nil {
			return out, err
		}
		out.dotted = out.dotted || namesDotted(glob)
		wanted = append(wanted, g.w.globMatcher(start, glob))
	}
	if g.Kind != "" {
		glob, err := kindGlob(g.Kind)
		if err != nil {
			return out, err
		}
		ofKind := globMatcher(start, glob)
		if len(wanted) == 0 {
			wanted = append(wanted, ofKind)
		} else {
			for i, m := range wanted {
				wanted[i] = func(rel string) bool { return m(rel) && ofKind(rel) }
			}
		}
	}
	out.takes = func(rel string) bool { return len(wanted) == 0 }
	if len(wanted) > 0 {
		out.takes = func(rel string) bool {
			for _, m := range wanted {
				if m(rel) {
					return true
				}
			}
			return false
		}
	}
	var err error
	out.exclude, err = g.w.excluding(start, leave)
	return out, err
}

// excluding judges paths by a list of globs; the last that fits decides, and one with ! brings back. nil: no globs.
func (w *Workspace) excluding(start string, globs []string) (func(rel string) bool, error) {
	type rule struct {
		keep    bool
		matches func(string) bool
	}
	var rules []rule
	for _, glob := range globs {
		glob, keep := strings.CutPrefix(glob, "!")
		glob = strings.TrimSuffix(glob, "/")
		if strings.TrimSpace(glob) == "" {
			continue
		}
		if err := checkGlob(glob); err != nil {
			return nil, err
		}
		rules = append(rules, rule{keep, w.globMatcher(start, glob)})
	}
	if len(rules) == 0 {
		return nil, nil
	}
	return func(rel string) bool {
		for i := len(rules) - 1; i >= 0; i-- {
			if rules[i].matches(rel) {
				return !rules[i].keep
			}
		}
		return false
	}, nil
}

// globsIn cuts a list of globs at commas and blanks that are not inside brackets.
func globsIn(list string) []string {
	var out []string
	depth, start := 0, 0
	add := func(end int) {
		if glob := strings.TrimSpace(list[start:end]); glob != "" {
			out = append(out, glob)
		}
		start = end + 1
	}
	for i := 0; i < len(list); i++ {
		switch list[i] {
		case '\\':
			i++
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case ',', ' ':
			if depth <= 0 {
				add(i)
			}
		}
	}
	if start < len(list) {
		add(len(list))
	}
	if whole := strings.TrimSpace(list); len(out) > 1 && !strings.Contains(whole, ",") {
		out = append(out, whole) // the blanks may also be part of a name
	}
	return out
}

// namesDotted tells whether a glob asks for names that begin with a dot.
func namesDotted(glob string) bool {
	for part := range strings.SplitSeq(filepath.ToSlash(glob), "/") {
		part = strings.TrimLeft(part, "{")
		if strings.HasPrefix(part, ".") && part != "." && part != ".." || strings.Contains(part, ",.") {
			return true
		}
	}
	return false
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

// globMatcher is the plain one; a pattern with folders may also start at the working folder, as people write it.
func (w *Workspace) globMatcher(dir, pattern string) func(rel string) bool {
	fromStart := globMatcher(dir, strings.TrimPrefix(pattern, "/"))
	if filepath.IsAbs(pattern) {
		if fromDir := globMatcher(dir, pattern); strings.HasPrefix(filepath.ToSlash(pattern), filepath.ToSlash(dir)+"/") {
			return fromDir
		}
	}
	above := w.relative(dir)
	if dir == w.Dir || filepath.IsAbs(above) || !strings.Contains(pattern, "/") {
		return fromStart
	}
	fromDir := globMatcher(w.Dir, pattern)
	return func(rel string) bool { return fromStart(rel) || fromDir(path.Join(above, rel)) }
}
