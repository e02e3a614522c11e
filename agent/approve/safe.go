package approve

import (
	"runtime"
	"slices"
	"strings"
)

// Safe reports whether a script is known to only read: a plain sequence of commands from a short list, with none
// of the options that write or start other programs.
func Safe(script string) bool {
	commands, plain := Plain(script)
	if !plain {
		return false
	}
	moved := false // a cd came before: what git's configuration says there is not known
	for _, argv := range commands {
		if !safe(argv) || moved && argv[0] == "git" {
			return false
		}
		moved = moved || argv[0] == "cd"
	}
	return true
}

func safe(argv []string) bool {
	args := argv[1:]
	switch argv[0] {
	case "cat", "cd", "cut", "echo", "expr", "false", "grep", "head", "id", "ls", "nl", "paste", "pwd", "rev", "seq",
		"stat", "tail", "tr", "true", "uname", "wc", "which", "whoami":
		return true
	case "numfmt", "tac":
		return runtime.GOOS == "linux"
	case "uniq": // a second file is written to
		return len(slices.DeleteFunc(slices.Clone(args), func(a string) bool { return strings.HasPrefix(a, "-") && a != "-" })) <= 1
	case "base64":
		return !option(args, []string{"output"}, "o")
	case "find":
		return !slices.ContainsFunc(args, func(a string) bool {
			return slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir", "-delete", "-fls", "-fprint",
				"-fprint0", "-fprintf", "-files0-from"}, a)
		})
	case "rg":
		return !option(args, []string{"pre", "pre-glob", "hostname-bin", "search-zip"}, "z")
	case "sed":
		return sedPrint(args)
	case "git":
		return gitReads(args)
	}
	return false
}

// option reports whether args hold one of the long options (abbreviated or with a value) or a short one (alone or
// in a cluster).
func option(args, long []string, short string) bool {
	for _, a := range args {
		if a == "--" {
			return false
		}
		if name, ok := strings.CutPrefix(a, "--"); ok {
			name, _, _ = strings.Cut(name, "=")
			if slices.ContainsFunc(long, func(l string) bool { return strings.HasPrefix(l, name) }) {
				return true
			}
		} else if len(a) > 1 && a[0] == '-' && strings.ContainsAny(a[1:], short) {
			return true
		}
	}
	return false
}

// sedPrint accepts `-n Np [FILE]` and `-n N,Mp [FILE]`.
func sedPrint(args []string) bool {
	if len(args) < 2 || len(args) > 3 || args[0] != "-n" || len(args) == 3 && strings.HasPrefix(args[2], "-") {
		return false
	}
	lines, ok := strings.CutSuffix(args[1], "p")
	from, to, both := strings.Cut(lines, ",")
	return ok && digits(from) && (!both || digits(to))
}

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

func gitReads(args []string) bool {
	for len(args) > 0 && (args[0] == "--no-pager" || args[0] == "--no-optional-locks") {
		args = args[1:]
	}
	if len(args) == 0 {
		return false
	}
	rest := args[1:]
	if option(rest, []string{"output", "ext-diff", "textconv", "exec", "no-index"}, "O") {
		return false
	}
	switch args[0] {
	case "status", "log", "diff", "show":
		return true
	case "branch":
		return !slices.ContainsFunc(rest, func(a string) bool {
			return !slices.Contains([]string{"--list", "-l", "--show-current", "-a", "--all", "-r", "--remotes", "-v",
				"-vv", "--verbose"}, a) && !strings.HasPrefix(a, "--format=")
		})
	}
	return false
}
