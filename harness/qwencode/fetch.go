package qwencode

import (
	"fmt"

	"interpreter/sandbox/action"
)

type fetchParams struct {
	URL    string `json:"url"`
	Prompt string `json:"prompt" absent:"ok"`
	Format string `json:"format,omitempty" enum:"auto,markdown,html,text" default:"auto"`
}

// fetch gets the page itself: there is no second model to read it with the prompt in mind.
func fetch(p fetchParams) action.Fetch {
	format := p.Format
	if format == "auto" {
		format = ""
	}
	return action.Fetch{URL: p.URL, Format: format}
}

func sayFetched(f action.Fetched) string {
	if f.Moved != "" {
		return fmt.Sprintf("The page moved to another host and was not followed there: %s\nFetch that address if it is the one you need.", f.Moved)
	}
	text := f.Text
	if text == "" {
		text = "(the page is empty)"
	}
	if f.Cut {
		text += "\n[the page is longer; this is its beginning]"
	}
	return fmt.Sprintf("Content of %s, to answer the prompt from:\n\n%s", f.URL, text)
}
