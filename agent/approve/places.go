package approve

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"interpreter/sandbox"
)

// Bounds of looking at the disk for one line. Past them the answer is that it is not known.
const (
	maxMatches = 4096
	maxEntries = 20000
	maxFolders = 8 // in which a command may turn out to run
)

// places judges where commands read.
type places struct {
	box sandbox.Policy
	env []string
}

// variable is a variable of the commands' environment; ok is false when it is not set.
func (p places) variable(name string) (value string, ok bool) {
	for _, entry := range p.env {
		if n, v, found := strings.Cut(entry, "="); found && n == name {
			value, ok = v, true
		}
	}
	return value, ok
}

// workspace reports whether a real path is in the workspace: the session's folder, or one that may be written.
func (p places) workspace(real string) bool {
	if p.box.Home != "" && within(real, p.box.Home) && !within(p.box.Dir, p.box.Home) {
		return false
	}
	return within(real, p.box.Dir) || slices.ContainsFunc(p.box.Roots, func(root string) bool { return within(real, root) })
}

func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// at is a path as a command in a folder finds it. It is not cleaned: what .. means is up to the links before it.
func at(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return dir + string(filepath.Separator) + path
}

// check says why a reading is not one of the workspace alone, for a command that runs in one of some folders.
func (p places) check(dirs []string, r reading) string {
	for _, dir := range dirs {
		for _, path := range p.expand(dir, r.word) {
			if why := p.file(dir, path, r); why != "" {
				return why
			}
		}
	}
	return ""
}

func (p places) file(dir, path string, r reading) string {
	switch {
	case path == "" || path == "-" || path == "/dev/null" || path == "/dev/stdin":
		return ""
	case path == tooMany:
		return "it names more files than are looked at"
	case len(r.word.globs) > 0 && strings.HasPrefix(path, "-"):
		return path + " is a file, and would be taken for an option"
	case path == "~" || strings.HasPrefix(path, "~/"):
		return "it reads outside the workspace: " + path
	}
	real, _, err := p.box.Place(at(dir, path))
	switch {
	case err != nil:
		return "it is not known where it reads: " + err.Error()
	case slices.ContainsFunc(p.box.Hidden, func(h string) bool { return within(real, h) }):
		return path + " holds keys"
	case !p.workspace(real):
		if why := "it reads outside the workspace: " + path; real == filepath.Clean(at(dir, path)) {
			return why
		}
		return fmt.Sprintf("it reads outside the workspace: %s leads to %s", path, real)
	case !r.names && (looksSecret(path) || looksSecret(real)):
		return path + " looks like a file of secrets"
	}
	if r.tree && (r.follow || r.hidden && !r.names) {
		return p.below(path, real, r)
	}
	return ""
}

// below looks through a tree: for links that lead out, where they are followed, and for the files that hold passwords in
// most projects. Those are looked for as far as the bound goes; links have to be known.
func (p places) below(path, real string, r reading) string {
	queue, entries := []string{real}, 0
	for len(queue) > 0 {
		dir := queue[0]
		queue = queue[1:]
		list, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range list {
			if entries++; entries > maxEntries {
				if r.follow {
					return "it follows links in " + path + ", which holds too much to be looked through"
				}
				return ""
			}
			name := e.Name()
			if !r.hidden && strings.HasPrefix(name, ".") {
				continue
			}
			full := filepath.Join(dir, name)
			switch {
			case e.Type()&fs.ModeSymlink != 0:
				if !r.follow {
					continue
				}
				if to, _, err := p.box.Place(full); err != nil || !p.workspace(to) {
					return fmt.Sprintf("it reads outside the workspace: it follows the link %s", full)
				} else if !within(to, real) {
					queue = append(queue, to)
				}
			case e.IsDir():
				queue = append(queue, full)
			case !r.names && strings.HasPrefix(name, ".") && looksSecret(name):
				return full + " in it looks like a file of secrets"
			}
		}
	}
	return ""
}

// tooMany stands for what a glob finds beyond the bound.
const tooMany = "\x00"

// expand gives the files that a word finds in a folder, or the word itself when it is no glob or finds nothing. It may
// give more than the shell does, never less.
func (p places) expand(dir string, w word) []string {
	if len(w.globs) == 0 {
		return []string{w.text}
	}
	found := []string{""}
	if filepath.IsAbs(w.text) {
		if real, _, err := p.box.Place(w.text[:w.globs[0]]); err != nil || !p.workspace(real) {
			return []string{w.text}
		}
	}
	start := 0
	for start <= len(w.text) {
		end := len(w.text)
		if slash := strings.IndexByte(w.text[start:], '/'); slash >= 0 {
			end = start + slash
		}
		part := glob(w, start, end)
		var next []string
		for _, prefix := range found {
			if part == nil {
				next = append(next, prefix+w.text[start:end])
				continue
			}
			list, err := os.ReadDir(at(dir, prefix+"."))
			if err != nil {
				continue
			}
			if len(list) > maxEntries {
				return []string{tooMany}
			}
			for _, e := range list {
				name := e.Name()
				if strings.HasPrefix(name, ".") && (len(part) == 0 || part[0] != '.') {
					continue
				}
				if matches(part, name) {
					next = append(next, prefix+name)
				}
			}
		}
		if found = next; len(found) > maxMatches {
			return []string{tooMany}
		}
		if end == len(w.text) {
			break
		}
		for i := range found {
			found[i] += "/"
		}
		start = end + 1
	}
	return append(found, w.text)
}

// The signs of a pattern.
const (
	anyText = -1
	anyRune = -2
)

// glob is a part of a word as a pattern, nil when nothing in it is one. From a bracket on anything matches.
func glob(w word, start, end int) []rune {
	var pattern []rune
	is := false
	for i := start; i < end; {
		r, size := utf8.DecodeRuneInString(w.text[i:end])
		if _, found := slices.BinarySearch(w.globs, i); found {
			is = true
			switch r {
			case '?':
				pattern = append(pattern, anyRune)
			case '*':
				pattern = append(pattern, anyText)
			default:
				return append(pattern, anyText)
			}
		} else {
			pattern = append(pattern, r)
		}
		i += size
	}
	if !is {
		return nil
	}
	return pattern
}

func matches(pattern []rune, name string) bool {
	text := []rune(name)
	star, from, p, n := -1, 0, 0, 0
	for n < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == anyText:
			star, from = p, n
			p++
		case p < len(pattern) && (pattern[p] == anyRune || pattern[p] == text[n]):
			p, n = p+1, n+1
		case star >= 0:
			from++
			p, n = star+1, from
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == anyText {
		p++
	}
	return p == len(pattern)
}

// enter gives the folders in which commands may run after a cd, and those after one that fails: none when it is sure not
// to.
func (p places) enter(dirs []string, to string) (good, bad []string, why string) {
	if path, set := p.variable("CDPATH"); set && path != "" && !filepath.IsAbs(to) && to != "." && to != ".." && !strings.HasPrefix(to, "./") && !strings.HasPrefix(to, "../") {
		return nil, nil, "cd looks for it along CDPATH"
	}
	for _, dir := range dirs {
		whole := at(dir, to)
		real, _, err := p.box.Place(whole)
		if err != nil {
			return nil, nil, "it is not known where it goes: " + err.Error()
		}
		named := filepath.Clean(whole)
		leads, _, err := p.box.Place(named)
		if err != nil || !p.workspace(leads) || !p.workspace(real) {
			return nil, nil, "it goes outside the workspace: " + to
		}
		good = union(good, []string{named, real})
		if _, err := os.Stat(named + string(filepath.Separator) + "."); err != nil { // it is no folder, or may not be entered
			bad = union(bad, []string{dir})
		}
	}
	return good, bad, ""
}

// program says why a name may not be the program that it stands for.
func (p places) program(dirs []string, name string) string {
	if strings.Contains(name, "/") {
		switch {
		case !filepath.IsAbs(name):
			return name + " is a program of this folder"
		case filepath.Clean(name) != name || !p.trusted(name):
			return name + " is not a program of the system"
		}
		return ""
	}
	if slices.Contains([]string{"cd", "echo", "pwd", "true", "false"}, name) { // the shell's own
		return ""
	}
	path, set := p.variable("PATH")
	if !set {
		path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	}
	for _, entry := range filepath.SplitList(path) {
		for _, dir := range dirs {
			file := at(dir, entry) + string(filepath.Separator) + name
			info, err := os.Stat(file)
			if err != nil || info.IsDir() || info.Mode()&0o111 == 0 && filepath.Separator == '/' {
				continue
			}
			real, err := filepath.EvalSymlinks(file)
			if folder, err2 := filepath.EvalSymlinks(filepath.Dir(file)); err != nil || err2 != nil || !filepath.IsAbs(entry) ||
				p.workspace(real) || p.workspace(folder) || p.workspace(filepath.Clean(file)) || everyones(folder) {
				return name + " is found in " + filepath.Dir(file) + ", which commands may change"
			}
			return ""
		}
	}
	return ""
}

// trusted reports whether a program lies where only the owner of the machine puts programs.
func (p places) trusted(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	if err != nil || p.workspace(path) || p.workspace(real) {
		return false
	}
	for _, start := range []string{path, real} {
		for dir := filepath.Dir(start); ; dir = filepath.Dir(dir) {
			if !systems(dir) {
				return false
			}
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	return systems(real)
}
