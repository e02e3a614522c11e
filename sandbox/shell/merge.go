package shell

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// own are variables that tell of one shell, of a terminal, of a server that ended with the shell, or of the agent.
var own = regexp.MustCompile(`^(SSH_AUTH_SOCK|SSH_AGENT_PID|GPG_AGENT_INFO|DBUS_SESSION_BUS_.*|_|PWD|OLDPWD|SHLVL|TERM|COLUMNS|LINES|PS[0-4]|TTY|SSH_TTY|GPG_TTY|HIST.*|BASH.*|ZSH_.*|INTERPRETER_.*|CODEX_.*)$`)

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// longest is how long the value of a variable may be, in bytes; the system takes 128 KiB for one.
const longest = 32 << 10

// merge adds to an environment what a shell has in its own that it was not given. What is there keeps its value, but
// for PATH, where the entries of both count.
func merge(environ, given, shells []string) []string {
	have, gave := values(environ), values(given)
	out := slices.Clone(environ)
	for _, entry := range shells {
		name, value, ok := strings.Cut(entry, "=")
		if !ok || !variable.MatchString(name) || own.MatchString(name) || len(value) > longest {
			continue
		}
		if was, ok := gave[name]; ok && was == value {
			continue
		}
		was, there := have[name]
		switch {
		case !there:
			out = append(out, entry)
		case name == "PATH":
			path := name + "=" + mergePath(was, value)
			out[slices.Index(out, name+"="+was)] = path
		}
	}
	return out
}

func values(environ []string) map[string]string {
	out := make(map[string]string, len(environ))
	for _, entry := range environ {
		if name, value, ok := strings.Cut(entry, "="); ok {
			out[name] = value
		}
	}
	return out
}

// mergePath adds the entries of a login shell's PATH to one that is there. Each comes before the entry that it came
// before, so that a version manager still hides the system's programs; entries that are there keep their order, so that
// an environment that was activated stays active, also where a profile begins PATH anew.
func mergePath(path, shells string) string {
	sep := string(filepath.ListSeparator)
	out := strings.Split(path, sep)
	var fresh []string
	for _, entry := range strings.Split(shells, sep) {
		if i := slices.Index(out, entry); i >= 0 {
			out, fresh = slices.Insert(out, i, fresh...), nil
			continue
		}
		if filepath.IsAbs(entry) && !slices.Contains(fresh, entry) {
			fresh = append(fresh, entry)
		}
	}
	return strings.Join(append(out, fresh...), sep)
}

// barred is an environment whose PATH names no program in the given folders, nor in one that depends on where a command
// runs.
func barred(environ, folders []string) []string {
	out := slices.Clone(environ)
	for i, entry := range out {
		path, ok := strings.CutPrefix(entry, "PATH=")
		if !ok {
			continue
		}
		var kept []string
		for _, dir := range filepath.SplitList(path) {
			if filepath.IsAbs(dir) && !slices.ContainsFunc(folders, func(f string) bool { return within(real(dir), f) || within(filepath.Clean(dir), f) }) {
				kept = append(kept, dir)
			}
		}
		out[i] = "PATH=" + strings.Join(kept, string(filepath.ListSeparator))
	}
	return out
}

func real(path string) string {
	if p, err := filepath.EvalSymlinks(path); err == nil {
		return p
	}
	return path
}

func within(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// plainName is a name that a function may have: no path, no pattern, nothing that a reader could take for something else.
var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_:.+-]*$`)

// hooks are functions that a shell calls by itself.
var hooks = regexp.MustCompile(`^(command_not_found_handler?|chpwd|precmd|preexec|periodic|zshaddhistory|zshexit|TRAP[A-Z0-9]+|_.*_hook)$`)

// believed are commands that people and approvals take at their word, whether this machine has them or not.
var believed = strings.Fields(`
	awk base64 basename bat cargo cat chgrp chmod chown cksum clang cmake cmp column comm cp curl cut date dd df diff
	dirname docker du dotnet egrep env expr fd fgrep file find gcc gh git go gradle grep gunzip gzip head helm hexdump hg
	hostname id install java javac join jq just kill kubectl less ln locate ls lsof make md5sum mkdir mkfifo mktemp more mv
	mvn nano nice nl node nohup npm npx od openssl paste patch perl pgrep php pip pip3 pkill pnpm podman ps pytest python
	python3 pwd readlink realpath rg rm rmdir rsync ruby rustc scp sed seq sh sha1sum sha256sum shuf sort split ssh stat
	strings su sudo svn tac tail tar tee terraform timeout touch tr tree tsc uname uniq unzip uptime uv vi vim wc wget
	which whoami xargs xxd yarn yes yq zip`)

// learn takes over functions and options.
func (s *Snapshot) learn(kind *dialect, parts []string) {
	words := strings.Fields(parts[0])
	for _, name := range strings.FieldsFunc(parts[1], func(r rune) bool { return r == ':' || r == '\n' }) {
		if slices.Contains(kind.options, name) {
			s.options = append(s.options, kind.plain+name)
		}
	}
	path := values(s.env)["PATH"]
	for _, text := range split(parts[2]) {
		text = strings.TrimSpace(text)
		name, _, _ := strings.Cut(text, " ")
		name = strings.TrimSuffix(name, "()")
		if !plainName.MatchString(name) || hooks.MatchString(name) || strings.Contains(text, "builtin autoload -X") ||
			slices.Contains(words, name) || slices.Contains(believed, name) || program(path, name) {
			continue
		}
		s.functions = append(s.functions, function{name, text})
	}
}

// program reports whether PATH has a program of a name.
func program(path, name string) bool {
	for _, dir := range filepath.SplitList(path) {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && !info.IsDir() && info.Mode().Perm()&0o111 != 0 {
			return true
		}
	}
	return false
}
