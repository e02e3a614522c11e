package kimicli

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

// readable turns down files that hold secrets.
func readable(path string) error {
	if harness.Secret(path) {
		return &harness.RefusedError{Words: path + " is likely to hold secrets and is not shown. Work without its content, or ask the user for what you need of it."}
	}
	return nil
}

func saySeen(s action.Seen) string {
	if s.MIME != "" {
		return alone(fmt.Sprintf("%s is an image (%s), not text; it follows if you can see images.", s.Path, s.MIME))
	}
	return after(harness.Shown(s, "line_offset", readColumns), strings.TrimSuffix(harness.Numbered(harness.Marked(s, "...").Text, s.First, "%6d\t"), "\n"))
}

type mediaParams struct {
	Path string `json:"path"`
}

func media(p mediaParams) (harness.Step, error) {
	if err := readable(p.Path); err != nil {
		return harness.Step{}, err
	}
	return harness.Do(action.Read{Path: p.Path}, func(s action.Seen) string {
		if s.MIME == "" {
			return after(fmt.Sprintf("ERROR: %s is no image", s.Path), fmt.Sprintf("It is text, %s. ReadFile shows it.", harness.Lines(s.Text)))
		}
		return alone(fmt.Sprintf("The content is not text: an image (%s) of %s follows.", s.MIME, s.Path))
	}), nil
}

type writeParams struct {
	Path    string `json:"path"`
	Content string `json:"content"`
	Mode    string `json:"mode,omitempty" enum:"overwrite,append" default:"overwrite"`
}

func write(p writeParams) (harness.Step, error) {
	a := action.Write{Path: p.Path, Content: p.Content, Append: p.Mode == "append"}
	return harness.Do(a, func(c action.Changed) string { return sayWritten(c, a.Append) }), nil
}

func sayWritten(c action.Changed, added bool) string {
	f := c.Files[0]
	size := fmt.Sprintf(" Size now %d bytes.", len(f.After))
	switch {
	case c.Same:
		return alone("The file has this content already; nothing was written." + size)
	case f.Kind == action.Added:
		return alone("File created."+size) + harness.ChangeNotes(c)
	case added:
		return alone("Appended to the file."+size) + harness.ChangeNotes(c)
	}
	status := "File overwritten." + size
	if c.Unread {
		status += fmt.Sprintf(" You had not read the %s it had: check that nothing of it was needed.", harness.Lines(f.Before))
	}
	return alone(status) + harness.ChangeNotes(c)
}

type replaceParams struct {
	Path string `json:"path"`
	Edit []struct {
		Old string `json:"old" also:"old_string,old_str,old_text,oldText,oldString,search"`
		New string `json:"new" also:"new_string,new_str,new_text,newText,newString,replace"`
		All bool   `json:"replace_all,omitempty" default:"false"`
	} `json:"edit" single:"ok" also:"edits" absent:"ok"`
	Old *string `json:"old,omitempty" hidden:"yes" also:"old_string,old_str,old_text"`
	New *string `json:"new,omitempty" hidden:"yes" also:"new_string,new_str,new_text"`
	All bool    `json:"replace_all,omitempty" hidden:"yes"`
}

// replace makes one edit or several. An edit that was not wrapped in its object is understood as well.
func replace(p replaceParams) (harness.Step, error) {
	say := func(c action.Changed) string { return sayReplaced(c, max(1, len(p.Edit))) }
	switch {
	case len(p.Edit) == 1:
		e := p.Edit[0]
		return harness.Do(action.Edit{Path: p.Path, Old: e.Old, New: e.New, All: e.All}, say), nil
	case len(p.Edit) > 1:
		a := action.Edits{Path: p.Path}
		for _, e := range p.Edit {
			a.Pairs = append(a.Pairs, action.Pair{Old: e.Old, New: e.New, All: e.All})
		}
		return harness.Do(a, say), nil
	case p.Old != nil && p.New != nil:
		return harness.Do(action.Edit{Path: p.Path, Old: *p.Old, New: *p.New, All: p.All}, say), nil
	}
	return harness.Step{}, &harness.ArgumentsError{Tool: "StrReplaceFile", Problems: []harness.Problem{{Field: "edit", What: "is missing"}},
		Expected: []string{"path: string", "edit: {old: string, new: string, replace_all?: boolean} or an array of such"}}
}

func sayReplaced(c action.Changed, edits int) string {
	if c.Same {
		return alone("The file already reads as the edit wants it; nothing was written.") + harness.ChangeNotes(c)
	}
	status := fmt.Sprintf("Applied %d edit(s), %d replacement(s).", edits, c.Spots)
	if c.Stale {
		status += " The file had changed since you read it."
	}
	body := ""
	if now := harness.ChangedLines(c.Files[0], 3, 60); now.To > 0 {
		status += fmt.Sprintf(" Lines %d-%d of %d now read:", now.From, now.To, now.Total)
		body = strings.TrimSuffix(harness.Numbered(now.Text, now.From, "%6d\t"), "\n")
	}
	return after(status, body) + harness.Loosely(c) + harness.ChangeNotes(c)
}
