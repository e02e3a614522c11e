package harness

import "strings"

// SummaryDigest is Digest for summaries in <summary>, which may have thoughts in <analysis> before them: what is kept is
// the summary. A model that wrote no summary has its own words kept, without the analysis.
func SummaryDigest(text string) string {
	if _, rest, ok := strings.Cut(text, "<summary>"); ok {
		body, _, _ := strings.Cut(rest, "</summary>")
		if body = strings.TrimSpace(body); body != "" {
			return "Summary:\n" + body
		}
	}
	before, rest, ok := strings.Cut(text, "<analysis>")
	if !ok {
		return text
	}
	if _, after, ok := strings.Cut(rest, "</analysis>"); ok {
		return strings.TrimSpace(before + after)
	}
	return before + rest // it never ended: better thoughts than nothing
}
