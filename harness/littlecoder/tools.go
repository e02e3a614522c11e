package littlecoder

import (
	"fmt"
	"strings"

	"interpreter/harness"
	"interpreter/sandbox/action"
)

func edit(p harness.TerseEdits) (harness.Step, error) { return p.Plan("edit", sayEdited) }

// sayEdited shows the lines after every edit: a small model works from them instead of reading the file again.
func sayEdited(c action.Changed) string {
	text := harness.SayTerseEdited(c)
	if c.Same || c.Level > "E1" || c.Files[0].Kind == action.Added {
		return text
	}
	return text + harness.TerseExcerpt(c.Files[0])
}

func write(p harness.TerseWrite) action.Write {
	return action.Write{Path: p.Path, Content: p.Content, Guard: true}
}

func sayWritten(c action.Changed) string {
	f := c.Files[0]
	switch {
	case c.Same:
		return f.Path + " has this content already; nothing was written." + harness.ChangeNotes(c)
	case f.Kind == action.Added:
		return fmt.Sprintf("Created %s (%s)", f.Path, harness.Lines(f.After)) + harness.ChangeNotes(c)
	}
	return fmt.Sprintf("Replaced %s (%s)", f.Path, harness.Lines(f.After)) + harness.ChangeNotes(c)
}

// most is how many files one search names.
const most = 500

type globParams struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path,omitempty"`
}

func glob(p globParams) action.Find {
	return action.Find{Pattern: p.Pattern, Path: p.Path, Limit: most}
}

func sayFiles(f action.Found) string {
	if len(f.Hits) == 0 {
		return "No files found that match " + f.Pattern + "."
	}
	lines, size, more := []string{}, 0, f.More
	for i, h := range f.Hits {
		path := harness.Relative(f.Where, h.Path)
		if size += len(path) + 1; size > harness.TerseBytes {
			if more >= 0 {
				more += len(f.Hits) - i
			}
			break
		}
		lines = append(lines, path)
	}
	text := strings.Join(lines, "\n")
	switch {
	case more > 0:
		text += fmt.Sprintf("\n\n[%d more; use a narrower pattern.]", more)
	case more < 0:
		text += "\n\n[There are more; use a narrower pattern.]"
	}
	return text
}

type fetchParams struct {
	URL    string `json:"url"`
	Prompt string `json:"prompt,omitempty"` // for the reader of the log
}

// pageBytes bounds the text of a page.
const pageBytes = 25_000

func fetch(p fetchParams) action.Fetch { return action.Fetch{URL: p.URL, Limit: pageBytes} }

func sayFetched(f action.Fetched) string {
	if f.Moved != "" {
		return fmt.Sprintf("The page is on another host now: %s. Fetch that if you trust it.", f.Moved)
	}
	text := strings.TrimRight(f.Text, "\n")
	if text == "" {
		text = "(the page has no text)"
	}
	if f.Cut {
		text += fmt.Sprintf("\n\n[Cut here; the page has %d bytes.]", f.Bytes)
	}
	return text
}
