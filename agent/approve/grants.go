package approve

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"interpreter/sandbox/action"
)

// Grants is what a person allowed for the rest of a session. The zero value grants nothing.
type Grants struct {
	keys     map[string]bool
	prefixes [][]string
}

// Add remembers a decision on an action. Once, No and Stop leave no trace.
func (g *Grants) Add(d Decision, need action.Need) {
	switch d {
	case ForSession:
		if g.keys == nil {
			g.keys = map[string]bool{}
		}
		for _, k := range keys(need) {
			g.keys[k] = true
		}
	case ByPrefix:
		if Offer(need) && !slices.ContainsFunc(g.prefixes, func(p []string) bool { return slices.Equal(p, need.Prefix) }) {
			g.prefixes = append(g.prefixes, slices.Clone(need.Prefix))
		}
	}
}

// Covers reports whether an action was granted before.
func (g *Grants) Covers(need action.Need) bool {
	ks := keys(need)
	if len(ks) > 0 && !slices.ContainsFunc(ks, func(k string) bool { return !g.keys[k] }) {
		return true
	}
	if need.Effect != action.Runs || need.Kept || len(g.prefixes) == 0 || Dangerous(need.Script) != "" {
		return false
	}
	commands, plain := Plain(need.Script)
	return plain && !slices.ContainsFunc(commands, func(argv []string) bool {
		return !slices.ContainsFunc(g.prefixes, func(p []string) bool { return hasPrefix(argv, p) })
	})
}

// keys names an action for "the rest of the session": a command by itself, its folder and what it asks for; a
// change by each file.
func keys(need action.Need) []string {
	const sep = "\x00"
	switch need.Effect {
	case action.Runs:
		what := need.Script
		if what == "" {
			what = strings.Join(need.Argv, sep)
		}
		return []string{strings.Join([]string{"run", what, filepath.Clean(need.Dir),
			strconv.FormatBool(need.Escalate), strconv.FormatBool(need.TTY)}, sep)}
	case action.Writes:
		var out []string
		for _, p := range need.Paths {
			out = append(out, "write"+sep+filepath.Clean(p))
		}
		return out
	case action.Connect:
		return []string{"connect" + sep + strings.Join(need.Paths, sep)}
	}
	return nil
}

func hasPrefix(argv, prefix []string) bool {
	return len(argv) >= len(prefix) && slices.Equal(argv[:len(prefix)], prefix)
}

// Offer reports whether the prefix an action proposes may be granted: it says something, and it is not so wide
// that it would allow anything.
func Offer(need action.Need) bool {
	p := need.Prefix
	if len(p) == 0 || slices.Contains(p, "") {
		return false
	}
	name := filepath.Base(p[0])
	switch name {
	case "rm", "sudo", "doas", "env", "eval", "exec", "xargs", "nohup", "command", "time", "timeout", "watch", "parallel":
		return false
	case "git", "npm", "pnpm", "yarn", "bun", "cargo", "go", "make", "docker", "uv", "pip", "npx", "bunx", "uvx":
		if len(p) == 1 || p[1] == "run" && len(p) == 2 {
			return false
		}
	}
	if interpreter(name) {
		return len(p) > 1 && !strings.HasPrefix(p[1], "-")
	}
	commands, plain := Plain(need.Script)
	return plain && Dangerous(need.Script) == "" &&
		!slices.ContainsFunc(commands, func(argv []string) bool { return !hasPrefix(argv, p) })
}

func interpreter(name string) bool {
	name = strings.TrimRight(strings.TrimSuffix(name, ".exe"), "0123456789.")
	switch name {
	case "python", "node", "deno", "perl", "ruby", "php", "lua", "bash", "zsh", "sh", "dash", "fish", "ksh",
		"pwsh", "powershell", "cmd", "awk", "osascript":
		return true
	}
	return false
}
