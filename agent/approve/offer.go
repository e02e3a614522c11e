package approve

import (
	"path/filepath"
	"slices"
	"strings"

	"interpreter/sandbox/action"
)

// Offer reports whether the prefix an action proposes may become a rule: every simple command of its line begins with
// it, and it is not so wide that it would allow anything. A rule holds outside the sandbox, so programs that run what
// their arguments or a file of the workspace name are never among them.
func Offer(need action.Need) bool {
	commands, plain := Plain(need.Script)
	return plain && !need.Kept && offers(need.Prefix, commands) && Dangerous(need.Script) == ""
}

func offers(prefix []string, commands [][]string) bool {
	return offerable(prefix) && !slices.ContainsFunc(commands, func(argv []string) bool { return !hasPrefix(argv, prefix) })
}

// anything are programs that start, or are, whatever their arguments say.
var anything = strings.Fields("sudo doas su runuser pkexec run0 env eval exec xargs nohup command builtin time timeout gtimeout watch parallel nice ionice " +
	"stdbuf setsid taskset chrt unbuffer busybox toybox caffeinate fakeroot chroot unshare nsenter strace ltrace flock systemd-run script trap source . " +
	"find fd fdfind rm make gmake cmake ninja just task rake ant mvn mvnw gradle gradlew bazel buck npx bunx pnpx uvx pipx tsx ts-node nodemon docker podman " +
	"nerdctl kubectl ssh scp rsync sftp tmux screen at batch crontab expect gdb lldb perf entr direnv nix-shell nix-env vim vi nvim emacs ed ex sed tclsh wish " +
	"osascript start powershell pwsh cmd wscript cscript mshta rundll32 git-shell dd mkfs shred kill pkill killall chmod chown curl wget nc ncat socat telnet " +
	"tar zip rg sort split less more man pager gpg")

// wide are prefixes that are too wide, and everything that begins with one.
var wide = [][]string{
	{"npm", "run"}, {"npm", "run-script"}, {"npm", "exec"}, {"npm", "x"}, {"npm", "explore"}, {"pnpm", "run"}, {"pnpm", "dlx"}, {"yarn", "run"}, {"yarn", "dlx"}, {"yarn", "exec"},
	{"bun", "run"}, {"bun", "x"}, {"bun", "exec"}, {"cargo", "run"}, {"go", "run"}, {"go", "generate"}, {"go", "tool"}, {"uv", "run"}, {"uv", "tool"},
	{"poetry", "run"}, {"pdm", "run"}, {"hatch", "run"}, {"pipenv", "run"}, {"conda", "run"}, {"dotnet", "run"}, {"swift", "run"}, {"bundle", "exec"}, {"deno", "run"},
	{"git", "submodule"}, {"git", "bisect"}, {"git", "rebase"}, {"git", "difftool"}, {"git", "mergetool"}, {"git", "filter-branch"}, {"git", "config"}, {"git", "clean"}, {"git", "reset"},
	{"gh", "alias"}, {"gh", "extension"}, {"cargo", "install"}, {"go", "env"},
}

// narrow are prefixes that are too wide by themselves, and say enough with a further word.
var narrow = [][]string{{"pnpm", "exec"}, {"npm", "config"}, {"gh", "api"}}

// tools are programs whose first word behind the name says what they do.
var tools = strings.Fields("git npm pnpm yarn bun cargo go uv pip pip3 poetry pdm gem bundle composer dotnet swift rustup brew apt apt-get dnf pacman zypper gh glab " +
	"terraform tofu helm aws gcloud az flutter dart mix stack cabal zig deno conda mamba nix systemctl pipenv hatch tox nox npm.cmd sbt lein elixir")

func offerable(prefix []string) bool {
	if len(prefix) == 0 || slices.Contains(prefix, "") {
		return false
	}
	name := strings.TrimSuffix(strings.ToLower(filepath.Base(prefix[0])), ".exe")
	if name != prefix[0] && filepath.Base(prefix[0]) != prefix[0] && !filepath.IsAbs(prefix[0]) {
		return false // a program of the workspace: what it does changes with the workspace
	}
	if slices.Contains(anything, name) || interpreter(name) || strings.HasPrefix(name, "mkfs") {
		return false
	}
	named := append([]string{name}, prefix[1:]...)
	if slices.Contains(tools, name) && (len(named) == 1 || strings.HasPrefix(named[1], "-") || strings.HasPrefix(named[1], "+")) {
		return false
	}
	return !slices.ContainsFunc(wide, func(w []string) bool { return hasPrefix(named, w) || hasPrefix(w, named) }) &&
		!slices.ContainsFunc(narrow, func(n []string) bool { return slices.Equal(named, n) })
}

// derive makes the prefix of a command that a rule could be made of: what is done, without to what. nil when there is
// none.
func derive(argv []string) []string {
	name := filepath.Base(argv[0])
	n := 1
	if slices.Contains(tools, name) {
		n = 2
	}
	if len(argv) >= 2 && slices.ContainsFunc(narrow, func(p []string) bool { return slices.Equal(p, []string{name, argv[1]}) }) {
		n = 4
	}
	if (name == "gh" || name == "glab" || name == "aws" || name == "gcloud" || name == "az") && len(argv) > 2 {
		n = 3
	}
	if n > len(argv) {
		n = len(argv)
	}
	for n > 1 && !plainWord(argv[n-1]) {
		n--
	}
	if prefix := argv[:n]; offerable(prefix) {
		return slices.Clone(prefix)
	}
	return nil
}

// plainWord tells names of what to do from paths, options and values.
func plainWord(w string) bool {
	return w != "" && strings.IndexFunc(w, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == ':')
	}) < 0 && w[0] != '-'
}

func interpreter(name string) bool {
	name = strings.TrimRight(strings.TrimSuffix(name, ".exe"), "0123456789.")
	switch name {
	case "python", "pypy", "node", "nodejs", "deno", "perl", "ruby", "php", "lua", "luajit", "bash", "zsh", "sh", "dash", "fish", "ksh", "ash", "mksh", "rbash",
		"csh", "tcsh", "pwsh", "powershell", "cmd", "awk", "gawk", "mawk", "nawk", "osascript", "Rscript", "R", "julia", "java", "groovy", "scala", "guile",
		"ipython", "jshell", "ghci", "runghc", "irb", "elixir", "erl", "nu", "xonsh", "elvish":
		return true
	}
	return false
}
