package harness

import (
	"fmt"
	"strings"
)

// Streak words repeated calls for the families that know a ladder of reminders: first to say what the call is for,
// then to give the idea up. What was answered without a run keeps its plain words, which hold the facts.
func Streak(r Repeated, plain string) string {
	if r.Row < 3 {
		return ""
	}
	text := fmt.Sprintf("The same call of %s came %d times in a row. Say what new information you expect from it before you make it again; if there is none, do something else.", r.Tool, r.Row)
	if r.Row >= 5 {
		text = fmt.Sprintf("%s came %d times in a row with the same arguments: %s. It will not show anything new. Take what you assumed for wrong and test that in another way, ask the user, or end with what you know.", r.Tool, r.Row, clipped(r.Args, 300))
	}
	if plain = strings.Trim(plain, "\n"); !r.Ran && plain != "" {
		return plain + "\n" + Reminded(text)
	}
	return Reminded(text)
}
