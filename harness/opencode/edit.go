package opencode

import (
	"fmt"

	"interpreter/harness"
	"interpreter/sandbox/action"
)

type editParams struct {
	Path string `json:"filePath"`
	Old  string `json:"oldString"`
	New  string `json:"newString"`
	All  bool   `json:"replaceAll,omitempty" default:"false"`
}

func edit(p editParams) action.Edit {
	return action.Edit{Path: p.Path, Old: p.Old, New: p.New, All: p.All, Create: true}
}

// sayEdited confirms in a sentence and shows what the lines are now.
func sayEdited(c action.Changed) string {
	f := c.Files[0]
	switch {
	case c.Same:
		return fmt.Sprintf("%s has this text already; nothing was changed.", f.Path) + harness.ChangeNotes(c)
	case f.Kind == action.Added:
		return fmt.Sprintf("Created %s (%s).", f.Path, harness.Lines(f.After)) + harness.ChangeNotes(c)
	}
	text := fmt.Sprintf("Edited %s in %s.", f.Path, count(c.Spots, "place", "places"))
	if c.Level > "E1" {
		text += " The old text was matched loosely; check the lines below."
	}
	text += harness.ChangeNotes(c) + caution(c)
	if x := harness.ChangedLines(f, 3, 40); x.To > 0 {
		text += fmt.Sprintf("\n\nLines %d-%d of %d are now:\n", x.From, x.To, x.Total) + harness.Numbered(x.Text, x.From, "%d: ")
	}
	return text
}

// caution says when the model worked from something else than the file as it was: a change is not refused for that.
func caution(c action.Changed) string {
	switch {
	case c.Stale:
		return "\n[it had changed since it was last read; read it again before you rely on the rest of it]"
	case c.Unread:
		return "\n[it had not been read in this session; read a file before you change it]"
	}
	return ""
}

type writeParams struct {
	Content string `json:"content"`
	Path    string `json:"filePath"`
}

func write(p writeParams) action.Write { return action.Write{Path: p.Path, Content: p.Content} }

func sayWritten(c action.Changed) string {
	f := c.Files[0]
	switch {
	case c.Same:
		return fmt.Sprintf("%s has this content already; nothing was written.", f.Path) + harness.ChangeNotes(c)
	case f.Kind == action.Added:
		return fmt.Sprintf("Created %s (%s).", f.Path, harness.Lines(f.After)) + harness.ChangeNotes(c)
	}
	return fmt.Sprintf("Overwrote %s (%s).", f.Path, harness.Lines(f.After)) + harness.ChangeNotes(c) + caution(c)
}
