// Package rules is what people wrote down about commands, in files that end in .rules: which may run outside the sandbox,
// which need a person each time, which never run. It reads and changes such files and matches commands against them. It
// knows nothing of policies or of sandboxes, it runs nothing, and a file with a mistake in it counts as a whole or not at
// all.
package rules

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Decision is what a rule says of a command.
type Decision string

// The decisions, from mild to strict. Where several rules match, the strictest holds.
const (
	Allow  Decision = "allow"
	Prompt Decision = "prompt"
	Forbid Decision = "forbidden"
	Deny   Decision = "deny" // of a network_rule alone, where it stands for Forbid
)

func (d Decision) strictness() int { return slices.Index([]Decision{Allow, Prompt, Forbid}, d) }

// Layer is whose file a rule stands in. The zero value is the person's own.
type Layer int

// The layers. A project's files may make things stricter and never milder: an allow from there counts as nothing.
const (
	User Layer = iota
	Project
	System
)

func (l Layer) String() string { return [...]string{"user", "project", "system"}[l] }

// trust orders layers by who may speak for whom: what a layer says of programs holds for its own rules and for those of
// layers that are trusted less.
func (l Layer) trust() int { return [...]int{User: 1, Project: 0, System: 2}[l] }

// Match is one rule that holds for a command.
type Match struct {
	Prefix   []string // the words that matched, as the rule spells them
	Decision Decision
	Why      string // the rule's justification, "" when it gives none
	Resolved string // path of the program, when the rule matched its base name
	File     string // where the rule stands, "" for one that was made in this session
	Line     int    // 1-based
}

// Ruling is what all rules together say of a command.
type Ruling struct {
	Decision Decision // "" when no rule matches
	Why      string   // justification of the longest match with that decision
	Matches  []Match  // every rule that matches, in the order they were loaded
}

// Set is the rules in force. A nil Set has none. It never changes; With makes another.
type Set struct {
	prefixes []Rule
	hosts    []executable
	networks []Network
}

// Place is where something stands in a file.
type Place struct {
	File  string // "" when it was made in this session
	Line  int    // 1-based
	Layer Layer
}

// void reports whether a decision counts as nothing where it stands.
func (p Place) void(d Decision) bool { return p.Layer == Project && d == Allow }

// Rule is one prefix_rule.
type Rule struct {
	Place
	Pattern  [][]string // the words of a command it speaks of, from the first; a place may have alternatives
	Decision Decision
	Why      string // "" when it gives none
	Void     bool   // it counts as nothing: a project may not allow
}

// String is the rule as a line of a file, without its examples.
func (r Rule) String() string {
	places := make([]string, len(r.Pattern))
	for i, words := range r.Pattern {
		if places[i] = literal(words[0]); len(words) > 1 {
			places[i] = list(words)
		}
	}
	text := "prefix_rule(pattern=[" + strings.Join(places, ", ") + `], decision="` + string(r.Decision) + `"`
	if r.Why != "" {
		text += ", justification=" + literal(r.Why)
	}
	return text + ")"
}

// Words is the pattern as a person types it: git {pull,fetch}.
func (r Rule) Words() string {
	var words []string
	for _, place := range r.Pattern {
		quoted := make([]string, len(place))
		for i, word := range place {
			quoted[i] = shellWord(word)
		}
		text := strings.Join(quoted, ",")
		if len(place) > 1 {
			text = "{" + text + "}"
		}
		words = append(words, text)
	}
	return strings.Join(words, " ")
}

// Network is one network_rule. It is read and listed; nothing in this program enforces it.
type Network struct {
	Place
	Host     string // lower case, without port and brackets
	Protocol string // "http", "https", "socks5_tcp" or "socks5_udp"
	Decision Decision
	Why      string
	Void     bool // it counts as nothing: a project may not allow
}

// String is the rule as a line of a file.
func (n Network) String() string {
	text := "network_rule(host=" + literal(n.Host) + ", protocol=" + literal(n.Protocol) + ", decision=" + literal(string(n.Decision))
	if n.Why != "" {
		text += ", justification=" + literal(n.Why)
	}
	return text + ")"
}

// executable is one host_executable: the only paths at which the program of a name is that program.
type executable struct {
	Place
	name  string
	paths []string
}

// Rules lists every prefix_rule in the order they were loaded, those that count as nothing included.
func (s *Set) Rules() []Rule {
	if s == nil {
		return nil
	}
	return slices.Clone(s.prefixes)
}

// Networks lists every network_rule in the order they were loaded.
func (s *Set) Networks() []Network {
	if s == nil {
		return nil
	}
	return slices.Clone(s.networks)
}

// With is the set and one more rule, which allows every command that begins with these words and stands in no file. An
// empty prefix adds nothing.
func (s *Set) With(prefix []string) *Set {
	if len(prefix) == 0 {
		return s
	}
	with := &Set{}
	if s != nil {
		*with = *s
	}
	with.prefixes = append(slices.Clip(with.prefixes), allow(prefix))
	return with
}

// allow is the rule that a person makes by saying yes for good.
func allow(prefix []string) Rule {
	r := Rule{Decision: Allow}
	for _, word := range prefix {
		r.Pattern = append(r.Pattern, []string{word})
	}
	return r
}

// Match gives what the rules say of one command. The first word counts as it is; only when no rule matches that and it is
// an absolute path, by its base name, unless a host_executable of the name does not list the path. writable reports
// whether commands may write a path: a program in such a place is not taken for the one a rule names by its base name. It
// may be nil. What prompts or forbids also counts for git with options before its command: git -C DIR push is a git push.
func (s *Set) Match(argv []string, writable func(path string) bool) Ruling {
	if s == nil || len(argv) == 0 {
		return Ruling{}
	}
	var matches []Match
	for i := range s.prefixes {
		if r := &s.prefixes[i]; !r.Void && r.holds(argv) {
			matches = append(matches, r.match(argv, ""))
		}
	}
	if len(matches) == 0 && filepath.IsAbs(argv[0]) && !s.mayBeWritten(argv[0], writable) {
		for i := range s.prefixes {
			if r := &s.prefixes[i]; !r.Void && s.names(r, argv) {
				matches = append(matches, r.match(named(argv), argv[0]))
			}
		}
	}
	if bare := bareGit(argv); bare != nil {
		for i := range s.prefixes {
			if r := &s.prefixes[i]; !r.Void && r.Decision != Allow && !r.holds(argv) && r.holds(bare) {
				matches = append(matches, r.match(bare, ""))
			}
		}
	}
	return rule(matches)
}

// gitValues are git's options before its command that take the next word along.
var gitValues = []string{"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env", "--super-prefix", "--attr-source"}

// bareGit is a git command without the options before its own command, nil when there are none, or no git.
func bareGit(argv []string) []string {
	if programName(argv[0]) != "git" {
		return nil
	}
	rest := argv[1:]
	for len(rest) > 0 && strings.HasPrefix(rest[0], "-") {
		if slices.Contains(gitValues, rest[0]) && len(rest) > 1 {
			rest = rest[1:]
		}
		rest = rest[1:]
	}
	if len(rest) == 0 || len(rest) == len(argv)-1 {
		return nil
	}
	return append([]string{"git"}, rest...)
}

// mayBeWritten asks of a path as it is spelled, and as it reads without its dots.
func (s *Set) mayBeWritten(path string, writable func(string) bool) bool {
	return writable != nil && (writable(path) || writable(filepath.Clean(path)))
}

// names reports whether a rule speaks of a command by the base name of its program, an absolute path.
func (s *Set) names(r *Rule, argv []string) bool {
	if !filepath.IsAbs(argv[0]) || !r.holds(named(argv)) {
		return false
	}
	known := false
	for _, e := range s.hosts {
		if e.name == programName(argv[0]) && e.Layer.trust() >= r.Layer.trust() {
			if slices.Contains(e.paths, filepath.Clean(argv[0])) {
				return true
			}
			known = true
		}
	}
	return !known
}

// named is a command with the base name in place of the path.
func named(argv []string) []string { return append([]string{programName(argv[0])}, argv[1:]...) }

// programName is the name of the program at a path. Windows looks past case and the endings of programs.
func programName(path string) string {
	name := filepath.Base(path)
	if runtime.GOOS != "windows" {
		return name
	}
	name = strings.ToLower(name)
	for _, ending := range []string{".exe", ".cmd", ".bat", ".com"} {
		if bare, ok := strings.CutSuffix(name, ending); ok {
			return bare
		}
	}
	return name
}

// holds reports whether a command begins as the rule says.
func (r *Rule) holds(argv []string) bool {
	if len(argv) < len(r.Pattern) {
		return false
	}
	for i, words := range r.Pattern {
		if !slices.Contains(words, argv[i]) {
			return false
		}
	}
	return true
}

func (r *Rule) match(argv []string, resolved string) Match {
	return Match{Prefix: slices.Clone(argv[:len(r.Pattern)]), Decision: r.Decision, Why: r.Why, Resolved: resolved, File: r.File, Line: r.Line}
}

// rule makes one decision of all matches.
func rule(matches []Match) Ruling {
	out := Ruling{Matches: matches}
	for _, m := range matches {
		if out.Decision == "" || m.Decision.strictness() > out.Decision.strictness() {
			out.Decision = m.Decision
		}
	}
	longest := 0
	for _, m := range matches {
		if m.Decision != out.Decision || len(m.Prefix) < longest {
			continue
		}
		if len(m.Prefix) > longest || out.Why == "" {
			out.Why = m.Why
		}
		longest = len(m.Prefix)
	}
	return out
}
