// Package rules is what people wrote down about commands, in files that end in .rules: which may run outside the sandbox,
// which need a person each time, which never run. It reads and changes such files and matches commands against them. It
// knows nothing of policies or of sandboxes, and a file with a mistake in it counts as a whole or not at all.
package rules

// Decision is what a rule says of a command.
type Decision string

// The decisions, from mild to strict. Where several rules match, the strictest holds.
const (
	Allow  Decision = "allow"
	Prompt Decision = "prompt"
	Forbid Decision = "forbidden"
)

// Match is one rule that holds for a command.
type Match struct {
	Prefix   []string // the words that matched, as the rule spells them
	Decision Decision
	Why      string // the rule's justification, "" when it gives none
	Resolved string // path of the program, when the rule matched its base name
	File     string // where the rule stands
	Line     int    // 1-based
}

// Ruling is what all rules together say of a command.
type Ruling struct {
	Decision Decision // "" when no rule matches
	Why      string   // justification of the longest match with that decision
	Matches  []Match  // every rule that matches, in the order they were loaded
}

// Set is the rules in force. A nil Set has none.
type Set struct {
	prefixes []prefix
}

// prefix is one prefix_rule.
type prefix struct {
	pattern  [][]string // alternatives, a place each
	decision Decision
	why      string
	file     string
	line     int
}

// Match gives what the rules say of one command. writable reports whether commands may write a path: a program in such a
// place is not taken for the one a rule names by its base name. It may be nil.
func (s *Set) Match(argv []string, writable func(path string) bool) Ruling {
	return Ruling{}
}
