package sandbox

import (
	"slices"
	"strings"
)

// EnvPolicy chooses what a command sees of the agent's environment. The zero value is the default: everything but
// what looks like a secret.
type EnvPolicy struct {
	Inherit     string            // "all" (or ""), "core", "none"
	Secrets     bool              // keep variables whose names look like secrets
	Keys        []string          // names, in any case, that hold keys of providers: dropped whatever Secrets says
	Exclude     []string          // patterns with * and ?, in any case
	Set         map[string]string // added, over what is there
	IncludeOnly []string          // patterns; when there are any, nothing else is kept
}

var coreNames = []string{"PATH", "SHELL", "TMPDIR", "TEMP", "TMP", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "USER",
	"SYSTEMROOT", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "COMSPEC", "PATHEXT"}

var secretPatterns = []string{"*KEY*", "*SECRET*", "*TOKEN*", "*PASSWORD*", "*PASSWD*", "*CREDENTIAL*", "*_PAT"}

// loaders are variables that make programs run something else, or read their settings elsewhere.
var loaders = []string{"LD_*", "DYLD_*", "BASH_ENV", "ENV", "PROMPT_COMMAND", "SHELLOPTS", "BASHOPTS", "BASH_FUNC_*",
	"GIT_EXTERNAL_DIFF", "GIT_SSH*", "GIT_CONFIG*", "GIT_PROXY_COMMAND", "RIPGREP_CONFIG_PATH"}

// internal are what one run of the agent tells another: a command of ours belongs to this run, not to one around it.
var internal = []string{"INTERPRETER_THREAD_ID", "INTERPRETER_CI", "CODEX_THREAD_ID", "CODEX_INTERNAL_*"}

// markers tell a command where it runs. Nothing may trust them; Box.Start sets them.
var markers = []string{"INTERPRETER_SANDBOX", "INTERPRETER_SANDBOX_NETWORK_DISABLED", "CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED"}

// fixed is set for every command: it has no screen, nobody to page for, nobody to ask and nobody to type into an editor,
// which leaves a text as it is.
var fixed = []string{"NO_COLOR=1", "TERM=dumb", "LANG=C.UTF-8", "LC_ALL=C.UTF-8", "LC_CTYPE=C.UTF-8", "COLORTERM=",
	"PAGER=cat", "MANPAGER=cat", "GIT_PAGER=cat", "GH_PAGER=cat", "SYSTEMD_PAGER=cat",
	"EDITOR=true", "VISUAL=true", "GIT_EDITOR=true", "GIT_SEQUENCE_EDITOR=true",
	"GIT_TERMINAL_PROMPT=0", "GH_PROMPT_DISABLED=1", "PIP_NO_INPUT=1", "PIP_PROGRESS_BAR=off", "TQDM_DISABLE=1", "INTERPRETER_CI=1"}

// Environ is the environment of a command, sorted by name. Box.Start adds the markers of the sandbox to it.
func Environ(parent []string, p EnvPolicy) []string {
	vars := map[string]string{}
	for _, entry := range parent {
		name, value, ok := strings.Cut(entry, "=")
		if !ok || name == "" || p.Inherit == "none" || p.Inherit == "core" && !slices.Contains(coreNames, strings.ToUpper(name)) {
			continue
		}
		if matchAny(loaders, name) || strings.HasPrefix(value, "() {") || matchAny(internal, name) || slices.Contains(markers, name) {
			continue
		}
		if slices.ContainsFunc(p.Keys, func(key string) bool { return strings.EqualFold(key, name) }) {
			continue
		}
		if !p.Secrets && matchAny(secretPatterns, name) || matchAny(p.Exclude, name) {
			continue
		}
		vars[name] = value
	}
	for name, value := range p.Set {
		vars[name] = value
	}
	if len(p.IncludeOnly) > 0 {
		for name := range vars {
			if !matchAny(p.IncludeOnly, name) {
				delete(vars, name)
			}
		}
	}
	for _, entry := range fixed {
		name, value, _ := strings.Cut(entry, "=")
		vars[name] = value
	}
	out := make([]string, 0, len(vars))
	for name, value := range vars {
		out = append(out, name+"="+value)
	}
	slices.Sort(out)
	return out
}

func matchAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return match(strings.ToUpper(p), strings.ToUpper(name)) })
}

// match knows * and ?.
func match(pattern, name string) bool {
	star, from := -1, 0
	p, n := 0, 0
	for n < len(name) {
		switch {
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == name[n]) && pattern[p] != '*':
			p, n = p+1, n+1
		case p < len(pattern) && pattern[p] == '*':
			star, from = p, n
			p++
		case star >= 0:
			from++
			p, n = star+1, from
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// withMarkers is env with the truth about the sandbox and the given variables set.
func withMarkers(env []string, set ...string) []string {
	drop := slices.Clone(markers)
	for _, entry := range set {
		name, _, _ := strings.Cut(entry, "=")
		drop = append(drop, name)
	}
	out := slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(drop, name)
	})
	return append(out, set...)
}
