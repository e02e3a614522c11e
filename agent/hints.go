package agent

import (
	"fmt"
	"regexp"
	"strings"

	"interpreter/sandbox/action"
)

// finder looks a program up on the PATH of commands; a Workspace is one.
type finder interface {
	Which(program string) (path string, ok bool)
}

// hint explains a failure whose cause is known, or an end that hides one: the fact, and one thing to do. kept tells that
// the next command goes on where this one ended. kind names the cause.
func hint(ran action.Ran, kept bool, find finder) (kind, words string) {
	if ran.Session != 0 || len(ran.Denied) > 0 {
		return "", "" // of a refusal by the sandbox it is told what, and what can be done
	}
	out := ran.Output
	if len(out) > 16<<10 {
		out = out[len(out)-16<<10:]
	}
	switch {
	case ran.Exit.TimedOut && forPeople.MatchString(ran.Script):
		return "interactive", "it waited for a person; nobody can type here. Use the form of the program that asks nothing, or another program"
	case ran.Exit.TimedOut:
		return "timeout", "it ran out of time. Do less in one command, or run it in the background if there is a way to"
	case ran.Exit.Code == 0:
		return masked(ran, out, kept)
	}
	for _, c := range causes {
		m := c.pattern.FindStringSubmatch(out)
		if m == nil {
			continue
		}
		name := ""
		if len(m) > 1 {
			for _, group := range m[1:] {
				if group != "" {
					name = group
					break
				}
			}
		}
		if c.kind == "blanks" {
			name = out
		}
		if words := c.words(name, ran.Script, find); words != "" {
			return c.kind, words
		}
	}
	return "", ""
}

// masked explains an exit code 0 that says nothing.
func masked(ran action.Ran, out string, kept bool) (kind, words string) {
	script := strings.TrimSpace(ran.Script)
	if !kept && onlyMoves.MatchString(script) {
		return "folder", "each command starts in the workspace folder again. Put cd and the command in one line"
	}
	if _, _, some := action.InBackground(script); some && !kept {
		return "background", "what the command put into the background with & ended with it. Use the background of the tool, if it has one, or start it, use it and stop it in one command"
	}
	if !troubles.MatchString(out) {
		return "", ""
	}
	if m := hides.FindString(script); m != "" {
		return "masked", fmt.Sprintf("`%s` hides the exit code; what it printed tells of a failure", strings.TrimSpace(m))
	}
	if at := pipes.FindStringSubmatch(script); at != nil {
		return "masked", fmt.Sprintf("the exit code is that of %s, not of what stands before the pipe; what it printed tells of a failure", at[1])
	}
	return "", ""
}

var (
	forPeople = regexp.MustCompile(`(?:^|[;&|]\s*|\n\s*)(?:sudo\s+)?(?:vim?|nano|emacs|less|more|top|htop|man|ssh|ftp|mysql|psql|gdb)\s*(?:$|[;&|\n]|[\w./~-]+\s*$)|(?:^|[;&|]\s*)(?:python3?|node|irb|php -a|bash|sh)\s*$|git (?:rebase -i|add -[pi]|commit\s*$)|npm init\s*$`)
	onlyMoves = regexp.MustCompile(`^cd(?:\s+(?:"[^"]*"|'[^']*'|[^\s;&|"']+))?$`)
	troubles  = regexp.MustCompile(`(?m)^(?:---\s)?FAIL\b|^Traceback \(most recent call last\)|^panic: |\berror(?:\[\w+\])?: |^npm ERR!|: command not found|^=+ .*\d+ failed|^FAILED\b|^\d+ failed|\bError: |^make: \*\*\*|: fatal error:`)
	hides     = regexp.MustCompile(`\|\|\s*(?:true|:|exit 0)\b|\|\|\s*:|\|\|\s*echo\b[^;&|]*$|;\s*(?:true|:|exit 0)\s*$|\bset \+e\b`)
	pipes     = regexp.MustCompile(`\|\s*(tail|head|grep|tee|cat|sed|less|wc|sort)\b[^|]*$`)
	heredoc   = regexp.MustCompile(`<<-?\s*["']?(\w+)`)
)

// cause is one that output tells, and what to say of it. words may decline.
type cause struct {
	kind    string
	pattern *regexp.Regexp
	words   func(name, script string, find finder) string
}

// always says the same.
func always(words string) func(string, string, finder) string {
	return func(string, string, finder) string { return words }
}

var causes = []cause{
	{"here-doc", regexp.MustCompile(`here-?document.*(?:delimited by end-of-file|unterminated)|unexpected end of file|(?:Unterminated|unterminated) here`), func(_, script string, _ finder) string {
		m := heredoc.FindStringSubmatch(script)
		if m == nil {
			return ""
		}
		return fmt.Sprintf("the text after << has no end: %s must stand alone in a line, with nothing before or behind it", m[1])
	}},
	{"not found", regexp.MustCompile(`command not found: ([\w.+-]+)`), missing},
	{"not found", regexp.MustCompile(`(?m)([\w.+-]+): (?:command )?not found|exec: "?([\w.+-]+)"?: executable file not found|'([\w.+-]+)' is not recognized`), missing},
	{"module", regexp.MustCompile(`No module named '?([\w.]+)|Cannot find module '([^']+)'|no required module provides package ([^\s;]+)|can't find crate for .(\w+)|cannot load such file -- (\S+)|package (\S+) is not in std`), func(name, _ string, _ finder) string {
		return fmt.Sprintf("%s is not installed. Look whether the project declares it, and how it installs; a download needs the network", name)
	}},
	{"no terminal", regexp.MustCompile(`(?i)EOF when reading a line|inappropriate ioctl for device|not a (?:tty|terminal)|input device is not a TTY|no tty present|\(y/n\)|\[y/N\]|Aborted by user input|Press (?:any key|ENTER)`), always("its input is closed: nobody can answer it. Use its option for that, such as -y, --yes or --non-interactive")},
	{"port", regexp.MustCompile(`(?i)address already in use|EADDRINUSE|port \d+ is (?:already )?(?:in use|allocated)`), always("another process has that port. Use another one, or see whether a command you started still runs")},
	{"sed", regexp.MustCompile(`sed: .*(?:invalid command code|command expects|extra characters at the end of|undefined label)|sed: -i may not be used`), always("this sed wants a suffix after -i: sed -i '' …; an edit tool is safer")},
	{"glob", regexp.MustCompile(`no matches found: (\S+)|cannot access '([^']*[*?][^']*)'|: ([^\s:]*[*?][^\s:]*): No such file`), func(name, _ string, _ finder) string {
		return fmt.Sprintf("nothing matches %s here. List the folder first", name)
	}},
	{"blanks", regexp.MustCompile(`(?s)No such file or directory.*No such file or directory`), blanked},
	{"permission", regexp.MustCompile(`(?m)([\w./-]+): Permission denied|Permission denied|EACCES`), func(name, script string, _ finder) string {
		if name != "" && strings.Contains(script, name) && strings.Contains(name, "/") {
			return fmt.Sprintf("%s may not be executed as it is: run it with its interpreter, such as sh %s, or chmod +x it", name, name)
		}
		return "the user it runs as may not do that. sudo does not help here; work inside the workspace"
	}},
	{"too long", regexp.MustCompile(`(?i)argument list too long`), always("too many arguments for one command: use find … -exec … +, or a loop")},
	{"no repository", regexp.MustCompile(`not a git repository`), always("there is no git repository here: compare files by reading them")},
}

// stands lists what does the same as a program that is often missing.
var stands = map[string]string{
	"python": "python3", "python3": "python", "pip": "pip3", "pip3": "pip", "node": "nodejs", "rg": "grep", "ag": "grep", "ack": "grep", "fd": "find", "fdfind": "find",
	"make": "gmake", "gmake": "make", "vim": "vi", "nano": "vi", "docker": "podman", "podman": "docker", "gsed": "sed", "gawk": "awk", "awk": "gawk", "batcat": "cat", "bat": "cat",
	"exa": "ls", "eza": "ls", "ll": "ls", "wget": "curl", "curl": "wget", "pytest": "python3", "py.test": "python3", "yarn": "npm", "pnpm": "npm", "npx": "npm", "jq": "python3",
	"tree": "find", "unzip": "python3", "md5": "md5sum", "md5sum": "md5", "shasum": "sha256sum", "sha256sum": "shasum", "open": "xdg-open", "gcc": "cc", "cc": "gcc", "clang": "cc", "g++": "c++",
}

// missing names what is there instead of a program that is not.
func missing(name, _ string, find finder) string {
	if name == "" || name == "sh" || name == "bash" {
		return ""
	}
	other := stands[name]
	if path, ok := find.Which(name); ok {
		return fmt.Sprintf("%s is at %s, but not on the PATH of this shell", name, path)
	}
	if _, ok := find.Which(other); !ok || other == "" {
		return fmt.Sprintf("%s is not installed. Use what is there; check with: command -v NAME", name)
	}
	switch name {
	case "pytest", "py.test":
		other = "python3 -m pytest, if that module is there, or python3 -m unittest"
	case "jq", "unzip":
		other = "python3 for it: " + map[string]string{"jq": "python3 -m json.tool", "unzip": "python3 -m zipfile -e"}[name]
	}
	return fmt.Sprintf("%s is not installed; use %s", name, other)
}

var absent = regexp.MustCompile(`(?m)['‘]?([^\s:'‘’]+)['’]?: No such file or directory`)

// blanked notices a path with blanks that stood without quotes: its parts were looked for one by one.
func blanked(out, script string, _ finder) string {
	parts := absent.FindAllStringSubmatch(out, 20)
	for i := 1; i < len(parts); i++ {
		if path := parts[i-1][1] + " " + parts[i][1]; strings.Contains(script, path) {
			return fmt.Sprintf("if %q is one path, it must stand in quotes", path)
		}
	}
	return ""
}

// keepsPlace reports whether a command starts where the last one ended, or has its folder beside it.
func keepsPlace(s action.Action) bool {
	run, ok := s.(action.Run)
	return !ok || run.Keep != action.KeepNothing || run.Dir != ""
}

// lasting reports whether a command may run for long: nobody waits for its end.
func lasting(s action.Action) bool {
	run, ok := s.(action.Run)
	return ok && (run.Background || run.Yield > 0)
}
