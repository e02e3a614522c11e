package deepseektui

import (
	"fmt"
	"strings"

	"interpreter/harness"
	"interpreter/sandbox/action"
)

// Limits of one reading, in lines.
const (
	page     = 200
	pageMost = 500
	columns  = 2000 // characters of a line

	numberBytes = len("     1│ ")
)

type readParams struct {
	Path  string `json:"path"`
	Start *int   `json:"start_line,omitempty" min:"1"`
	Lines *int   `json:"max_lines,omitempty" max:"500"`
	End   *int   `json:"end_line,omitempty" hidden:"yes"`
}

func read(p readParams) (harness.Step, error) {
	a := action.Read{Path: p.Path, Offset: 1, Limit: page, Columns: columns}
	if p.Start != nil {
		a.Offset = *p.Start
	}
	switch {
	case p.Lines != nil:
		a.Limit = max(1, *p.Lines)
	case p.End != nil && *p.End >= a.Offset:
		a.Limit = min(*p.End-a.Offset+1, pageMost)
	}
	a.MaxBytes = budget - min(a.Limit, page)*numberBytes // so that a part keeps near the budget with its numbers
	ranged := p.Start != nil || p.Lines != nil || p.End != nil
	return harness.Do(a, func(s action.Seen) string { return saySeen(s, a.Limit, ranged) }), nil
}

// saySeen gives a whole file as it is, and a part of one with its place and numbers.
func saySeen(s action.Seen, asked int, ranged bool) string {
	switch {
	case s.MIME != "":
		return fmt.Sprintf("%s is an image (%s). It follows if you can see images.", s.Path, s.MIME)
	case s.Total == 0:
		return fmt.Sprintf("<file path=\"%s\" total_lines=\"0\" shown_lines=\"none\" truncated=\"false\">\n(no content: the file is empty)\n</file>", s.Path)
	case !ranged && !s.Cut && s.First <= 1 && len(s.Longer) == 0:
		return s.Text
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<file path=\"%s\" total_lines=\"%d\" shown_lines=\"%d-%d\" truncated=\"%t\"", s.Path, s.Total, s.First, s.Last, s.Cut)
	if s.Cut {
		fmt.Fprintf(&b, " next_start_line=\"%d\"", s.Last+1)
	}
	b.WriteString(">\n" + strings.TrimSuffix(harness.Numbered(harness.Marked(s, "…").Text, s.First, "%6d│ "), "\n") + "\n")
	if n := len(s.Longer); n > 0 {
		fmt.Fprintf(&b, "[CUT] line %d is longer than %d characters; exec_shell with cut -c shows more of it\n", s.Longer[0], columns)
	}
	if s.Cut {
		fmt.Fprintf(&b, "[TRUNCATED] lines %d-%d of %d; next: read_file path=\"%s\" start_line=%d max_lines=%d\n", s.First, s.Last, s.Total, s.Path, s.Last+1, asked)
	}
	return b.String() + "</file>"
}

type editParams struct {
	Path    string `json:"path"`
	Search  string `json:"search"`
	Replace string `json:"replace"`
	Fuzz    bool   `json:"fuzz,omitempty" default:"false"`
}

// edit replaces all places to the letter, or, when asked to look loosely, the only one.
func edit(p editParams) (harness.Step, error) {
	a := action.Edit{Path: p.Path, Old: p.Search, New: p.Replace, All: !p.Fuzz}
	return harness.Do(a, sayEdited), nil
}

func sayEdited(c action.Changed) string {
	f := c.Files[0]
	if c.Same {
		return fmt.Sprintf("No change: %s already reads as the edit wants it.", f.Path) + harness.ChangeNotes(c)
	}
	text := diff(f)
	if c.Spots == 1 {
		text += "1 occurrence replaced: " + f.Path
	} else {
		text += fmt.Sprintf("%d occurrences replaced: %s\nWarning: all places were changed. If you meant one of them, put back the others; next time give more lines around it.", c.Spots, f.Path)
	}
	if c.Level > "E4" {
		text += "\n[matched loosely: white space or escapes differed from the file]"
	}
	return text + harness.ChangeNotes(c)
}

// diff is the change as these models read it, bounded.
func diff(f action.FileChange) string {
	text := f.Diff
	for _, mark := range []string{"--- ", "+++ "} {
		side := map[string]string{"--- ": "a/", "+++ ": "b/"}[mark]
		if path := strings.TrimPrefix(f.Path, "/"); strings.Contains(text, mark+f.Path+"\n") {
			text = strings.Replace(text, mark+f.Path+"\n", mark+side+path+"\n", 1)
		}
	}
	if text = capped(text, budget/2); text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text
}

type writeParams struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

func write(p writeParams) (harness.Step, error) {
	return harness.Do(action.Write{Path: p.Path, Content: p.Content}, sayWritten), nil
}

func sayWritten(c action.Changed) string {
	f := c.Files[0]
	switch {
	case c.Same:
		return f.Path + " has this content already; nothing was written."
	case f.Kind == action.Added: // the model has just written what a diff would show
		return fmt.Sprintf("Created %s (%d bytes, %s)", f.Path, len(f.After), harness.Lines(f.After)) + harness.ChangeNotes(c)
	}
	text := diff(f) + fmt.Sprintf("Wrote %d bytes to %s", len(f.After), f.Path)
	if c.Unread {
		text += "\nWarning: the file was not read before; check that nothing of it was needed."
	}
	return text + harness.ChangeNotes(c)
}

type patchParams struct {
	Path    string `json:"path,omitempty"`
	Patch   string `json:"patch,omitempty" also:"diff,input" raw:"@@"`
	Changes []struct {
		Path    string `json:"path"`
		Content string `json:"content"`
	} `json:"changes,omitempty"`
	Fuzz   *int `json:"fuzz,omitempty"`
	Create bool `json:"create_if_missing,omitempty" default:"false"`
}

// Fuzz of a patch that asks for none, and the most there is.
const (
	fuzzPlain = 3
	fuzzMost  = 50
)

func patch(p patchParams) (harness.Step, error) {
	if (p.Patch == "") == (len(p.Changes) == 0) {
		return harness.Step{}, &harness.RefusedError{Words: "give either patch, a unified diff, or changes, a list of whole files; exactly one of them."}
	}
	a := action.Patch{Text: p.Patch, Path: p.Path, Create: p.Create, Fuzz: fuzzPlain}
	if p.Fuzz != nil {
		a.Fuzz = max(0, min(*p.Fuzz, fuzzMost))
	}
	for _, c := range p.Changes {
		a.Whole = append(a.Whole, action.WholeFile{Path: c.Path, Content: c.Content})
	}
	return harness.Do(a, sayPatched), nil
}

func sayPatched(c action.Changed) string {
	said := struct {
		Success bool     `json:"success"`
		Files   int      `json:"files_applied"`
		Hunks   int      `json:"hunks_applied"`
		Touched []string `json:"touched_files"`
		Message string   `json:"message"`
	}{true, len(c.Files), c.Spots, nil, ""}
	for _, f := range c.Files {
		name := f.Path
		if f.To != "" {
			name = f.To
		}
		said.Touched = append(said.Touched, name)
	}
	said.Message = fmt.Sprintf("%d file(s) changed", len(c.Files))
	for _, n := range c.Notes {
		said.Message += "; " + n
	}
	return encoded(said, "")
}
