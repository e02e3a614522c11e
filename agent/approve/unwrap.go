package approve

import (
	"slices"
	"strings"
)

// A wrapper is a program that starts the command which stands behind its options.
type wrapper struct {
	values string   // letters whose value is the next word
	long   []string // long options whose value is the next word
	first  int      // operands before the command
	script bool     // what follows is a shell line
}

var wrappers = map[string]wrapper{
	"sudo": {values: "ugpCrtTUDhR", long: []string{"user", "group", "prompt", "close-from", "role", "type", "command-timeout", "other-user", "chdir", "host", "chroot"}},
	"doas": {values: "uC"}, "runuser": {values: "ugGsw", long: []string{"user", "group", "supp-group", "shell", "whitelist-environment"}}, "pkexec": {long: []string{"user"}}, "run0": {values: "ugD", long: []string{"user", "group", "chdir", "setenv", "unit"}},
	"nice":   {values: "n", long: []string{"adjustment"}},
	"ionice": {values: "cnpPu", long: []string{"class", "classdata", "pid", "pgid", "uid"}},
	"stdbuf": {values: "ioe", long: []string{"input", "output", "error"}}, "taskset": {first: 1}, "chrt": {values: "TPD", first: 1},
	"time": {values: "fo", long: []string{"format", "output"}}, "nohup": {}, "setsid": {}, "command": {}, "builtin": {}, "exec": {values: "a"},
	"busybox": {}, "toybox": {}, "unbuffer": {}, "caffeinate": {values: "tw"}, "fakeroot": {values: "lsfib"}, "coproc": {},
	"timeout": {values: "ks", long: []string{"kill-after", "signal"}, first: 1}, "gtimeout": {values: "ks", long: []string{"kill-after", "signal"}, first: 1},
	"chroot": {first: 1}, "unshare": {values: "SGRw", long: []string{"setuid", "setgid", "root", "wd"}}, "nsenter": {values: "tSG", long: []string{"target"}},
	"strace": {values: "aeEIoOpPsSuUX"}, "ltrace": {values: "aeFlnoopsSuwx"}, "flock": {values: "wE", first: 1}, "systemd-run": {values: "EpGutM", long: []string{"unit", "property", "slice"}},
	"watch": {values: "nq", long: []string{"interval", "equexit"}, script: true},
	"xargs": {values: "ILnPsEdaJRS", long: []string{"arg-file", "delimiter", "max-lines", "max-args", "max-procs", "max-chars", "replace", "process-slot-var"}},
	"parallel": {values: "jNnIaSLCPs", long: []string{"jobs", "max-args", "arg-file", "delay", "timeout", "joblog", "colsep", "sshlogin", "results", "retries"},
		script: true},
}

// unwrap finds what a wrapper starts: commands, and scripts in a word. Both are empty when name is no wrapper, or
// starts nothing.
func unwrap(name string, args []string) (commands [][]string, scripts []string) {
	if w, ok := wrappers[name]; ok {
		rest := w.skip(args)
		rest = rest[min(w.first, len(rest)):]
		switch {
		case len(rest) == 0:
		case w.script:
			scripts = []string{strings.Join(rest, " ")}
		default:
			commands = [][]string{rest}
		}
		if name == "sudo" && len(rest) == 0 || name != "flock" && name != "systemd-run" && name != "runuser" {
			return commands, scripts
		}
	}
	switch name {
	case "bash", "zsh", "sh", "dash", "ksh", "ash", "fish", "mksh", "rbash", "su", "runuser", "script", "flock":
		for i, a := range args {
			if name != "bash" && i+1 < len(args) && (a == "--command" || a == "--session-command") {
				return commands, append(scripts, args[i+1])
			}
			if strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.Contains(a, "c") && i+1 < len(args) {
				return commands, append(scripts, args[i+1])
			}
		}
	case "pwsh", "powershell", "powershell.exe", "pwsh.exe":
		for i, a := range args {
			if a = strings.ToLower(a); len(a) > 1 && strings.HasPrefix("-command", a) {
				return nil, []string{strings.Join(args[i+1:], " ")}
			}
		}
	case "cmd", "cmd.exe":
		for i, a := range args {
			if a = strings.ToLower(a); a == "/c" || a == "/k" || a == "//c" {
				return nil, []string{strings.Join(args[i+1:], " ")}
			}
		}
	case "eval":
		return nil, []string{strings.Join(args, " ")}
	case "trap":
		if len(args) > 0 && args[0] == "--" {
			args = args[1:]
		}
		if len(args) > 1 {
			return nil, args[:1]
		}
	case "env":
		return unwrapEnv(args)
	case "git":
		return unwrapGit(args)
	case "find", "fd", "fdfind":
		return found(args), nil
	}
	return commands, scripts
}

// unwrapEnv knows the string that env splits into words.
func unwrapEnv(args []string) ([][]string, []string) {
	for i, a := range args {
		long, isLong := strings.CutPrefix(a, "--")
		name, value, has := strings.Cut(long, "=")
		switch {
		case a == "--":
			return one(args[i+1:]), nil
		case isLong && len(name) > 1 && strings.HasPrefix("split-string", name):
			if !has && i+1 < len(args) {
				return nil, []string{strings.Join(args[i+1:], " ")}
			}
			return nil, []string{strings.Join(append([]string{value}, args[i+1:]...), " ")}
		case !isLong && strings.HasPrefix(a, "-") && strings.Contains(a, "S"):
			_, rest, _ := strings.Cut(a, "S")
			return nil, []string{strings.TrimSpace(strings.Join(append([]string{rest}, args[i+1:]...), " "))}
		case !strings.HasPrefix(a, "-") && !strings.Contains(a, "=") && (i == 0 || !takesNext(args[i-1], "uC") && args[i-1] != "--unset" && args[i-1] != "--chdir"):
			return one(args[i:]), nil
		}
	}
	return nil, nil
}

func one(command []string) [][]string {
	if len(command) == 0 {
		return nil
	}
	return [][]string{command}
}

// unwrapGit knows the commands of git that run others.
func unwrapGit(args []string) ([][]string, []string) {
	args = gitCommand(args)
	if len(args) < 2 {
		return nil, nil
	}
	switch rest := args[2:]; {
	case args[0] == "bisect" && args[1] == "run":
		return one(rest), nil
	case args[0] == "submodule" && slices.Contains(args, "foreach"):
		rest = args[slices.Index(args, "foreach")+1:]
		for len(rest) > 0 && strings.HasPrefix(rest[0], "-") {
			rest = rest[1:]
		}
		return nil, []string{strings.Join(rest, " ")}
	case args[0] == "rebase":
		var scripts []string
		for i, a := range args {
			if value, ok := strings.CutPrefix(a, "--exec="); ok {
				scripts = append(scripts, value)
			} else if (a == "--exec" || takesNext(a, "x")) && i+1 < len(args) {
				scripts = append(scripts, args[i+1])
			}
		}
		return nil, scripts
	}
	return nil, nil
}

// found are the commands that find starts, each up to its ; or +.
func found(args []string) [][]string {
	var commands [][]string
	for i := 0; i < len(args); i++ {
		var joined []string // of fd: -xrm, --exec=rm
		for _, option := range []string{"--exec=", "--exec-batch=", "-x", "-X"} {
			if value, ok := strings.CutPrefix(args[i], option); ok && value != "" && value != "dev" && value != "type" {
				joined = []string{value}
			}
		}
		if joined == nil && !slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"}, args[i]) {
			continue
		}
		end := i + 1
		for end < len(args) && args[end] != ";" && args[end] != "+" {
			end++
		}
		commands = append(commands, one(append(joined, args[i+1:end]...))...)
		i = end
	}
	return commands
}

// skip leaves out the options and assignments before the command of a wrapper.
func (w wrapper) skip(args []string) []string {
	for len(args) > 0 {
		a := args[0]
		name, long := strings.CutPrefix(a, "--")
		switch {
		case a == "--":
			return args[1:]
		case len(args) > 1 && (!long && takesNext(a, w.values) || long && slices.Contains(w.long, name)):
			args = args[2:]
		case strings.HasPrefix(a, "-"), assigns(a):
			args = args[1:]
		default:
			return args
		}
	}
	return nil
}

// takesNext reports whether a cluster of letters ends in one that takes a value, which is the next word then.
func takesNext(cluster, values string) bool {
	return len(cluster) > 1 && cluster[0] == '-' && strings.IndexAny(cluster[1:], values) == len(cluster)-2
}

func assigns(a string) bool {
	name, _, ok := strings.Cut(a, "=")
	return ok && !strings.ContainsAny(name, "/.")
}
