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
			strconv.FormatBool(need.Escalate), strconv.FormatBool(need.TTY),
			strconv.FormatBool(need.Opens.Network), strings.Join(need.Opens.Paths, sep)}, sep)}
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
