package zcode

import (
	"strings"

	"interpreter/harness"
)

// digest keeps the summary, and asks to go on from it without a word about it.
func digest(text string) string {
	kept := strings.TrimSpace(harness.SummaryDigest(text))
	if kept == "" {
		return ""
	}
	if !strings.HasPrefix(kept, "Summary:") {
		kept = "Summary:\n" + kept
	}
	return kept + "\nTake the work up where it stands, without retelling it and without questions that this answers."
}
