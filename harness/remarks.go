package harness

import (
	"slices"
	"strings"

	"interpreter/sandbox/action"
)

// Unsignalled are the notes of a command but the one that names its signal, for words that name it themselves.
func Unsignalled(r action.Ran) []string {
	if r.Exit.Signal == "" {
		return r.Notes
	}
	return slices.DeleteFunc(slices.Clone(r.Notes), func(note string) bool { return strings.HasSuffix(note, "killed by "+r.Exit.Signal) })
}
