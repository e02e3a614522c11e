package action

import (
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// ignoreRules are the rules of the ignore files in one folder.
type ignoreRules struct {
	dir   string
	rules []ignoreRule
}

// ignoreRule is one line. A pattern without a slash is about names, another about paths from the file's folder.
type ignoreRule struct {
	pattern string
	keep    bool // the line begins with "!"
	folders bool // it ends with "/"
	path    bool
	plain   bool // no wildcard in it
}

// parseIgnore reads the lines of an ignore file.
func parseIgnore(text string) []ignoreRule {
	var out []ignoreRule
	for line := range strings.SplitSeq(unix(text), "\n") {
		if !strings.HasSuffix(line, `\ `) {
			line = strings.TrimRight(line, " \t")
		}
		if line == "" || line[0] == '#' {
			continue
		}
		var r ignoreRule
		line, r.keep = strings.CutPrefix(line, "!")
		line = strings.TrimPrefix(line, `\`) // before a "#" or "!" that is meant
		line, r.folders = strings.CutSuffix(line, "/")
		r.path = strings.Contains(line, "/")
		line = strings.TrimPrefix(line, "/")
		r.plain = !strings.ContainsAny(line, `*?[\`)
		r.pattern = line
		if !r.plain {
			r.pattern = strings.NewReplacer("{", `\{`, "}", `\}`).Replace(line) // no alternatives in ignore files
		}
		if r.pattern != "" {
			out = append(out, r)
		}
	}
	return out
}

// matches judges a path from the folder of the rules.
func (r ignoreRule) matches(rel string, dir bool) bool {
	if r.folders && !dir {
		return false
	}
	name := rel
	if !r.path {
		name = path.Base(rel)
	}
	if r.plain {
		return r.pattern == name
	}
	ok, err := doublestar.Match(r.pattern, name)
	return ok && err == nil
}

// rulesIn reads the ignore files of a folder. One that cannot be read, or is no file, ignores nothing.
func rulesIn(dir string, names []string) (ignoreRules, bool) {
	out := ignoreRules{dir: dir}
	for _, name := range names {
		path := filepath.Join(dir, name)
		info, err := os.Lstat(path)
		if err != nil || !info.Mode().IsRegular() || info.Size() > 1<<20 {
			continue
		}
		if data, err := os.ReadFile(path); err == nil {
			out.rules = append(out.rules, parseIgnore(string(data))...)
		}
	}
	return out, len(out.rules) > 0
}

// rulesAbove are the ignore files from the top of the repository down to the root of the walk, without its own.
func (k *walk) rulesAbove() []ignoreRules {
	if len(k.names) == 0 {
		return nil
	}
	var out []ignoreRules
	for dir := k.root; ; {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			break
		}
		up := filepath.Dir(dir)
		if up == dir {
			return nil // not in a repository: files further up are none of our business
		}
		dir = up
		if own, ok := rulesIn(dir, k.names); ok {
			out = append([]ignoreRules{own}, out...)
		}
	}
	return out
}

// ignored asks the ignore files above an entry, the nearest first, and in each the last line that matches.
func ignored(rules []ignoreRules, abs string, dir bool) bool {
	for i := len(rules) - 1; i >= 0; i-- {
		rel := filepath.ToSlash(strings.TrimPrefix(abs[len(rules[i].dir):], string(filepath.Separator)))
		own := rules[i].rules
		for j := len(own) - 1; j >= 0; j-- {
			if own[j].matches(rel, dir) {
				return !own[j].keep
			}
		}
	}
	return false
}
