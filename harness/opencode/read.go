package opencode

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"interpreter/harness"
	"interpreter/sandbox/action"
)

type readParams struct {
	Path   string `json:"filePath"`
	Offset int    `json:"offset,omitempty" default:"1"`
	Limit  int    `json:"limit,omitempty" default:"2000"`
}

const (
	page    = 2000 // lines, or entries of a folder, that come at once
	columns = 2000 // characters of a line
)

// read shows a file, or lists a folder.
func read(p readParams) (harness.Step, error) {
	p.Offset = max(p.Offset, 1)
	a := action.Guided{Read: action.Read{Path: p.Path, Offset: p.Offset, Limit: max(p.Limit, 0), MaxBytes: budget, Columns: columns}}
	if a.Limit == page {
		a.Limit = 0 // the action's own
	}
	entries := harness.Do(list(listParams{p.Path}), func(f action.Found) string { return sayEntries(f, p) })
	folder := func(err error) bool {
		var e *action.IsDirectoryError
		return errors.As(err, &e)
	}
	return harness.Do(a, saySeen).Otherwise(folder, entries), nil
}

// listParams are those of a tool of older builds.
type listParams struct {
	Path string `json:"path,omitempty"`
}

func list(p listParams) action.List { return action.List{Path: p.Path, Limit: 100_000, All: true} }

func sayListed(f action.Found) string { return sayEntries(f, readParams{Offset: 1}) }

func saySeen(s action.Seen) string {
	if s.MIME != "" {
		return fmt.Sprintf("Image %s (%s) was read. It follows below if you can see images.", s.Path, s.MIME) + guides(s)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<path>%s</path>\n<type>file</type>\n<content>\n", shownPath(s))
	b.WriteString(numbered(s))
	switch {
	case s.Total == 0:
		b.WriteString("(End of file, it is empty)\n")
	case s.Cut && !s.ByLimit && s.Last-s.First+1 < page:
		fmt.Fprintf(&b, "(Output capped. Lines %d-%d of %d; continue with offset %d)\n", s.First, s.Last, s.Total, s.Last+1)
	case s.Cut:
		fmt.Fprintf(&b, "(Lines %d-%d of %d; continue with offset %d)\n", s.First, s.Last, s.Total, s.Last+1)
	default:
		fmt.Fprintf(&b, "(End of file, %s)\n", count(s.Total, "line", "lines"))
	}
	b.WriteString("</content>")
	return b.String() + guides(s)
}

func shownPath(s action.Seen) string {
	if s.Real != "" {
		return s.Real
	}
	return s.Path
}

// numbered is the text with numbers, a mark behind lines that were cut, and a blank line below.
func numbered(s action.Seen) string {
	if s.Text == "" {
		return ""
	}
	lines := strings.Split(strings.TrimSuffix(s.Text, "\n"), "\n")
	for i := range lines {
		if slices.Contains(s.Longer, s.First+i) {
			lines[i] += fmt.Sprintf("… (line cut at %d characters)", columns)
		}
	}
	return harness.Numbered(strings.Join(lines, "\n"), s.First, "%d: ") + "\n\n"
}

// guides are instruction files that hold for the file and were not shown before.
func guides(s action.Seen) string {
	if len(s.Guides) == 0 {
		return ""
	}
	var parts []string
	for _, g := range s.Guides {
		parts = append(parts, "Instructions from: "+g.Path+"\n"+strings.TrimSpace(g.Text))
	}
	return "\n\n" + harness.Reminded(strings.Join(parts, "\n\n"))
}

func sayEntries(f action.Found, p readParams) string {
	names := make([]string, 0, len(f.Hits))
	for _, h := range f.Hits {
		name := filepath.Base(h.Path)
		if h.Dir {
			name += "/"
		}
		names = append(names, name)
	}
	sort.Strings(names)
	var b strings.Builder
	fmt.Fprintf(&b, "<path>%s</path>\n<type>directory</type>\n<entries>\n", f.Where)
	limit := p.Limit
	if limit < 1 {
		limit = page
	}
	from := min(p.Offset-1, len(names))
	to, size := from, 0
	for ; to < min(from+limit, len(names)); to++ {
		if size += len(names[to]) + 1; size > budget {
			break
		}
		b.WriteString(names[to] + "\n")
	}
	total := len(names) + max(f.More, 0)
	switch {
	case to < total:
		fmt.Fprintf(&b, "\n(Entries %d-%d of %d; continue with offset %d)\n", from+1, to, total, to+1)
	default:
		fmt.Fprintf(&b, "(%s)\n", count(total, "entry", "entries"))
	}
	return b.String() + "</entries>"
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
