package qwencode

import (
	"fmt"
	"strings"

	"interpreter/harness"
	"interpreter/sandbox/action"
)

type editParams struct {
	Path string `json:"file_path"`
	Old  string `json:"old_string"`
	New  string `json:"new_string"`
	All  bool   `json:"replace_all,omitempty" default:"false"`
}

func edit(p editParams) action.Edit {
	return action.Edit{Path: p.Path, Old: p.Old, New: p.New, All: p.All, Create: true, Lines: true}
}

// sayEdited names the file and shows the changed lines with four around them.
func sayEdited(c action.Changed) string {
	f := c.Files[0]
	switch {
	case c.Same:
		return fmt.Sprintf("%s already reads as the edit wants it; nothing was written.", f.Path) + notes(c)
	case f.Kind == action.Added:
		return fmt.Sprintf("Created %s with %d line(s).", f.Path, lineCount(f.After)) + notes(c)
	}
	places := "1 place"
	if c.Spots != 1 {
		places = fmt.Sprintf("%d places", c.Spots)
	}
	text := fmt.Sprintf("Edited %s in %s.", f.Path, places)
	if c.Level > "E1" {
		text += " old_string was matched loosely; see whether the lines are as you want them."
	}
	return text + notes(c) + snippet(f)
}

// around and longest bound the lines shown after an edit.
const (
	around  = 4
	longest = 1000
)

func snippet(f action.FileChange) string {
	lines := strings.Split(strings.TrimSuffix(f.After, "\n"), "\n")
	if f.First < 1 || f.After == "" {
		return ""
	}
	from := max(1, f.First-around)
	to := min(len(lines), max(f.Last, f.First)+around, from+longest-1)
	if from > to {
		return ""
	}
	text := strings.Join(lines[from-1:to], "\n")
	return fmt.Sprintf("\nLines %d-%d of %d.\n\n---\n\n%s", from, to, len(lines), text)
}

func notes(c action.Changed) string {
	text := ""
	for _, n := range c.Notes {
		text += "\n[" + n + "]"
	}
	return text
}

func lineCount(text string) int {
	if text == "" {
		return 0
	}
	return strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1
}

type writeParams struct {
	Path    string `json:"file_path"`
	Content string `json:"content"`
}

func write(p writeParams) action.Write { return action.Write{Path: p.Path, Content: p.Content} }

func sayWritten(c action.Changed) string {
	f := c.Files[0]
	switch {
	case c.Same:
		return fmt.Sprintf("%s has this content already; nothing was written.", f.Path) + notes(c)
	case f.Kind == action.Added:
		return fmt.Sprintf("%s is new and holds %s.", f.Path, harness.Lines(f.After)) + notes(c)
	}
	return fmt.Sprintf("%s now holds %s, in place of what it had.", f.Path, harness.Lines(f.After)) + notes(c)
}
