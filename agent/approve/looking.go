package approve

import (
	"path/filepath"
	"slices"
	"strings"

	"interpreter/sandbox/action"
)

// Commands are judged one by one as they run, with the folders in which each of them may run.
type looking struct {
	places
	git   func(dir string) bool
	began []string // the folders in which the line may begin
	moved bool     // a cd to another one came before
	pass  func(argv []string) (Part, bool)
	parts []Part
}

// start gives the folders in which a command may begin: one, by the name it was given and by its real name.
func (l *looking) start(need action.Need) ([]string, string) {
	dir := startOf(l.box.Dir, need.Dir)
	real, _, err := l.box.Place(dir)
	if err != nil {
		return nil, "it is not known where it runs: " + err.Error()
	}
	if !l.workspace(real) {
		return nil, "it runs outside the workspace, in " + real
	}
	if named := filepath.Clean(dir); named != real {
		return []string{real, named}, ""
	}
	return []string{real}, ""
}

// unsettled are variables that make commands of the list do other things. Those of an environment that sandbox.Environ
// made are there because a person wrote them down.
func (l *looking) unsettled() string {
	for _, entry := range l.env {
		name, value, _ := strings.Cut(entry, "=")
		switch {
		case value == "":
		case name == "POSIXLY_CORRECT", name == "BASH_ENV", name == "SHELLOPTS", name == "BASHOPTS":
			return "the variable " + name + " changes what commands do"
		}
	}
	return ""
}

// somewhere is a folder that is not known.
const somewhere = ""

// walk judges a plain script. It gives the folders in which what follows may run: those if it succeeds, and those if it
// fails, none when it is sure to succeed.
func (l *looking) walk(t tree, dirs []string) (good, bad []string) {
	switch t.join {
	case single:
		return l.command(t.words, dirs)
	case after:
		for _, kid := range t.kids {
			good, bad = l.walk(kid, dirs)
			dirs = union(good, bad)
		}
		return good, bad
	case onlyIf:
		good, bad = l.walk(t.kids[0], dirs)
		good, worse := l.walk(t.kids[1], good)
		return good, union(bad, worse)
	case orElse:
		good, bad = l.walk(t.kids[0], dirs)
		if len(bad) == 0 {
			bad = dirs
		}
		better, bad := l.walk(t.kids[1], bad)
		return union(good, better), bad
	case piped:
		all := dirs
		for _, kid := range t.kids {
			good, bad = l.walk(kid, dirs)
			all = union(all, union(good, bad))
		}
		return all, all
	default:
		if why := l.program(dirs, t.words[0].text); why != "" {
			l.parts = append(l.parts, Part{Argv: texts(t.words), What: Ask, Why: why})
		}
		for _, kid := range t.kids {
			l.walk(kid, dirs)
		}
		return dirs, dirs
	}
}

// union is both lists without repeats; too many folders are somewhere.
func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, dir := range b {
		if !slices.Contains(out, dir) {
			out = append(out, dir)
		}
	}
	if len(out) > maxFolders {
		return []string{somewhere}
	}
	return out
}

// command judges one simple command.
func (l *looking) command(words []word, dirs []string) (good, bad []string) {
	argv := texts(words)
	if part, passed := l.pass(argv); passed {
		l.parts = append(l.parts, part)
		if argv[0] == "cd" {
			return []string{somewhere}, []string{somewhere}
		}
		return dirs, dirs
	}
	name := filepath.Base(argv[0])
	good, bad = dirs, dirs
	readings, why := known(words)
	if why == "" {
		why = l.settled(argv[0], dirs)
	}
	if why == "" && name == "git" {
		why = l.repository(dirs)
	}
	for _, r := range readings {
		if why != "" {
			break
		}
		if why = l.check(dirs, r); why == "" && r.enter {
			good, bad, why = l.enter(dirs, r.word.text)
		}
	}
	part := Part{Argv: argv, What: Go, Why: "it only reads"}
	if why != "" {
		part.What, part.Why = Ask, why
		if name == "cd" {
			good, bad = []string{somewhere}, []string{somewhere}
		}
	}
	l.moved = l.moved || name == "cd" && slices.ContainsFunc(good, func(dir string) bool { return !slices.Contains(l.began, dir) })
	l.parts = append(l.parts, part)
	return good, bad
}

// settled says why a name may stand for something else than the program of the list.
func (l *looking) settled(name string, dirs []string) string {
	if len(dirs) == 0 || slices.Contains(dirs, somewhere) {
		return "it is not known where it runs"
	}
	if _, set := l.variable("BASH_FUNC_" + name + "%%"); set {
		return name + " is a function here"
	}
	if path, set := l.variable("RIPGREP_CONFIG_PATH"); set && path != "" && filepath.Base(name) == "rg" {
		return "rg takes options from " + path
	}
	return l.program(dirs, name)
}

// repository says why git may do more than read where a command runs.
func (l *looking) repository(dirs []string) string {
	if l.moved {
		return "git is asked about another folder, whose settings are not known"
	}
	for _, entry := range l.env {
		name, value, _ := strings.Cut(entry, "=")
		if strings.HasPrefix(name, "GIT_") && value != "" && !gitHarmless(name, value) {
			return "the variable " + name + " changes what git does"
		}
	}
	if l.git == nil || !l.git(dirs[0]) {
		return "git's settings here may start other programs, or are not known"
	}
	return ""
}

// gitHarmless tells variables that do not matter when git only looks. Those that move it elsewhere, hand it settings or
// have it write a trace do, and so may those that are not known.
func gitHarmless(name, value string) bool {
	switch name {
	case "GIT_PAGER":
		return value == "cat"
	case "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_TERMINAL_PROMPT", "GIT_OPTIONAL_LOCKS", "GIT_NO_LAZY_FETCH", "GIT_CONFIG_NOSYSTEM", "GIT_ASKPASS",
		"GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM", "GIT_ADVICE", "GIT_PROTOCOL", "GIT_ALLOW_PROTOCOL", "GIT_COMMIT", "GIT_BRANCH",
		"GIT_LOCAL_BRANCH", "GIT_URL":
		return true
	}
	return slices.ContainsFunc([]string{"GIT_AUTHOR_", "GIT_COMMITTER_", "GIT_SSL_", "GIT_HTTP_", "GIT_PROXY_SSL_", "GIT_PS1_", "GIT_LFS_", "GIT_PREVIOUS_", "GIT_MERGE_"},
		func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}
