package opencode

import (
	"fmt"
	"strings"
	"time"

	"interpreter/harness"
	"interpreter/sandbox/action"
)

type fetchParams struct {
	URL     string  `json:"url"`
	Format  string  `json:"format,omitempty" enum:"text,markdown,html" default:"markdown"`
	Timeout float64 `json:"timeout,omitempty" max:"120" unit:"s"`
}

func fetch(p fetchParams) (harness.Step, error) {
	a := action.Fetch{URL: harness.Secure(p.URL), Format: p.Format, Timeout: time.Duration(max(p.Timeout, 0) * float64(time.Second)), Limit: budget}
	return harness.Do(a, sayFetched), nil
}

func sayFetched(f action.Fetched) string {
	if f.Moved != "" {
		return fmt.Sprintf("%s leads to another host: %s. Fetch that if you trust it.", f.URL, f.Moved)
	}
	text := strings.TrimRight(f.Text, "\n")
	if text == "" {
		text = "(the page has no text)"
	}
	if f.Cut {
		text += fmt.Sprintf("\n\n(Output capped. The page has %d bytes)", f.Bytes)
	}
	return text
}
