package deepseektui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"interpreter/harness"
	"interpreter/sandbox/action"
)

type fetchParams struct {
	URL     string   `json:"url"`
	Format  string   `json:"format,omitempty" enum:"text,markdown,raw"`
	Most    int      `json:"max_bytes,omitempty" default:"1000000" max:"10485760"`
	Timeout int      `json:"timeout_ms,omitempty" default:"15000" max:"60000" unit:"ms"`
	Fields  []string `json:"fields,omitempty"`
}

func fetch(p fetchParams) (harness.Step, error) {
	a := action.Fetch{URL: p.URL, Format: p.Format, Timeout: time.Duration(max(1, p.Timeout)) * time.Millisecond, Limit: max(1, min(p.Most, budget))}
	if p.Format == "raw" {
		a.Format = "html"
	}
	return harness.Do(a, func(f action.Fetched) string { return sayFetched(f, p.Fields) }), nil
}

// sayFetched names the page's facts, then its text; fields choose among them.
func sayFetched(f action.Fetched, fields []string) string {
	if f.Moved != "" {
		return fmt.Sprintf("Error: not available: %s has moved to another host, %s, and was not followed. Fetch that address if you want it.", f.URL, f.Moved)
	}
	wanted := func(name string) bool { return len(fields) == 0 || slices.Contains(fields, name) }
	var b strings.Builder
	for _, fact := range []struct{ name, value string }{
		{"url", f.URL}, {"status", fmt.Sprint(f.Status)}, {"content_type", f.MIME}, {"bytes", fmt.Sprint(f.Bytes)}, {"truncated", fmt.Sprint(f.Cut)},
	} {
		if wanted(fact.name) {
			b.WriteString(fact.name + ": " + fact.value + "\n")
		}
	}
	if wanted("content") {
		b.WriteString("\n" + strings.TrimRight(f.Text, "\n"))
	}
	text := strings.Trim(b.String(), "\n")
	if f.Status >= 400 {
		return fmt.Sprintf("Error: the server answered %d\n%s", f.Status, text)
	}
	return text
}
