package kimicode

import (
	"fmt"
	"strings"

	"interpreter/harness"
	"interpreter/sandbox/action"
)

// Limits of one reading.
const (
	readLines   = 1000
	readBytes   = 102_400
	readColumns = 2000
)

type readParams struct {
	Path   string `json:"path"`
	Offset int    `json:"line_offset,omitempty" default:"1" min:"-1000"`
	Count  int    `json:"n_lines,omitempty" default:"1000" min:"1"`
}

func read(p readParams) (harness.Step, error) {
	if err := readable(p.Path); err != nil {
		return harness.Step{}, err
	}
	a := action.Read{Path: p.Path, Offset: max(p.Offset, 1), Limit: min(p.Count, readLines), MaxBytes: readBytes, Columns: readColumns}
	if p.Offset < 0 {
		a.Offset, a.Tail = 0, -p.Offset
	}
	return harness.Do(a, saySeen), nil
}

// readable turns down files that hold secrets, and relative paths that leave the working folder.
func readable(path string) error {
	switch {
	case harness.Secret(path):
		return &harness.RefusedError{Words: path + " is likely to hold secrets and is not shown. Work without its content, or ask the user for what you need of it."}
	case harness.Escapes(path):
		return &harness.RefusedError{Words: path + " leads out of the working directory. Give the absolute path if you mean a file outside."}
	}
	return nil
}

func saySeen(s action.Seen) string {
	if s.MIME != "" {
		return fmt.Sprintf("<system>%s is an image (%s), not text; it follows if you can see images.</system>", s.Path, s.MIME)
	}
	return noted(strings.TrimSuffix(harness.Numbered(harness.Marked(s, "...").Text, s.First, "%d\t"), "\n"), harness.Shown(s, "line_offset", readColumns))
}

type mediaParams struct {
	Path   string `json:"path"`
	Region *struct {
		X int `json:"x" min:"0"`
		Y int `json:"y" min:"0"`
		W int `json:"width" min:"1"`
		H int `json:"height" min:"1"`
	} `json:"region,omitempty"`
	Full bool `json:"full_resolution,omitempty" default:"false"` // an image is always shown as it is
}

func media(p mediaParams) (harness.Step, error) {
	if err := readable(p.Path); err != nil {
		return harness.Step{}, err
	}
	a := action.Crop{Path: p.Path}
	if r := p.Region; r != nil {
		a.X, a.Y, a.W, a.H = r.X, r.Y, r.W, r.H
	}
	return harness.Do(a, sayMedia), nil
}

func sayMedia(s action.Seen) string {
	if s.MIME == "" {
		return fmt.Sprintf("<system>ERROR: %s is no image</system>\nIt is text, %s. Read shows it.", s.Path, harness.Lines(s.Text))
	}
	return fmt.Sprintf("<system>The content is not text: an image (%s) of %s follows.</system>", s.MIME, s.Path)
}

type editParams struct {
	Path  string `json:"path"`
	Old   string `json:"old_string" unless:"edits"`
	New   string `json:"new_string" unless:"edits"`
	All   bool   `json:"replace_all,omitempty" default:"false"`
	Edits []struct {
		Old string `json:"old_string" also:"old_text,oldText,oldString,old"`
		New string `json:"new_string" also:"new_text,newText,newString,new"`
		All bool   `json:"replace_all,omitempty"`
	} `json:"edits,omitempty" hidden:"yes" min:"1"`
}

func edit(p editParams) (harness.Step, error) {
	if err := within(p.Path); err != nil {
		return harness.Step{}, err
	}
	if len(p.Edits) == 0 {
		return harness.Do(action.Edit{Path: p.Path, Old: p.Old, New: p.New, All: p.All}, sayEdited), nil
	}
	a := action.Edits{Path: p.Path}
	for _, e := range p.Edits {
		a.Pairs = append(a.Pairs, action.Pair{Old: e.Old, New: e.New, All: e.All})
	}
	return harness.Do(a, sayEdited), nil
}

func within(path string) error {
	if harness.Escapes(path) {
		return &harness.RefusedError{Words: path + " leads out of the working directory. Give the absolute path if you mean a file outside."}
	}
	return nil
}

// sayEdited counts the places and shows the lines around them as they are now.
func sayEdited(c action.Changed) string {
	f := c.Files[0]
	if c.Same {
		return fmt.Sprintf("%s already reads as the edit wants it; nothing was written.", f.Path) + harness.ChangeNotes(c)
	}
	places := "1 occurrence"
	if c.Spots != 1 {
		places = fmt.Sprintf("%d occurrences", c.Spots)
	}
	text := fmt.Sprintf("%s replaced: %s", places, f.Path) + harness.Loosely(c) + harness.ChangeNotes(c)
	if c.Stale {
		text += "\n[the file had changed since you read it]"
	}
	if now := harness.ChangedLines(f, 3, 60); now.To > 0 {
		text += fmt.Sprintf("\n<system>It now reads, lines %d-%d of %d:</system>\n%s", now.From, now.To, now.Total, harness.Numbered(now.Text, now.From, "%d\t"))
	}
	return text
}

type writeParams struct {
	Path    string `json:"path"`
	Content string `json:"content"`
	Mode    string `json:"mode,omitempty" enum:"overwrite,append" default:"overwrite"`
}

func write(p writeParams) (harness.Step, error) {
	if err := within(p.Path); err != nil {
		return harness.Step{}, err
	}
	a := action.Write{Path: p.Path, Content: p.Content, Append: p.Mode == "append"}
	return harness.Do(a, func(c action.Changed) string { return sayWritten(c, a.Append, len(p.Content)) }), nil
}

func sayWritten(c action.Changed, added bool, size int) string {
	f := c.Files[0]
	text := ""
	switch {
	case c.Same:
		text = f.Path + " has this content already; nothing was written."
	case added:
		text = fmt.Sprintf("%d bytes appended to %s, which now has %d bytes.", size, f.Path, len(f.After))
	case f.Kind == action.Added:
		text = fmt.Sprintf("%d bytes written to the new file %s.", size, f.Path)
	default:
		text = fmt.Sprintf("%d bytes written to %s, in place of the %s it had.", size, f.Path, harness.Lines(f.Before))
	}
	if c.Unread && !added && !c.Same && f.Kind != action.Added {
		text += "\n<system>You had not read this file: check that nothing of it was needed.</system>"
	}
	return text + harness.ChangeNotes(c)
}
