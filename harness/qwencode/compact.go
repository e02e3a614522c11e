package qwencode

import "strings"

// digest keeps the snapshot of a summary and drops the thinking aloud before it. A model that wrote no snapshot has its
// own words kept, without the analysis.
func digest(text string) string {
	if _, rest, ok := strings.Cut(text, "<state_snapshot>"); ok {
		body, _, _ := strings.Cut(rest, "</state_snapshot>")
		return "<state_snapshot>" + strings.TrimRight(body, " \n") + "\n</state_snapshot>"
	}
	before, rest, ok := strings.Cut(text, "<analysis>")
	if !ok {
		return text
	}
	if _, after, ok := strings.Cut(rest, "</analysis>"); ok {
		return before + after
	}
	return before + rest // it never ended: better thoughts than nothing
}
