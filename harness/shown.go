package harness

import (
	"fmt"
	"strconv"
	"strings"

	"interpreter/sandbox/action"
)

// Shown says which lines of a file a reading shows, of how many, why it ends there, and which lines were cut. offset is
// the parameter to go on with, columns is where a line is cut.
func Shown(s action.Seen, offset string, columns int) string {
	if s.Total == 0 {
		return "Shown: 0 lines, the file is empty."
	}
	count := s.Last - s.First + 1
	noun := "lines"
	if count == 1 {
		noun = "line"
	}
	text := fmt.Sprintf("Shown: %d %s, the first is line %d, of %d; ", count, noun, s.First, s.Total)
	switch {
	case !s.Cut:
		text += "nothing follows."
	case s.ByLimit:
		text += fmt.Sprintf("the limit of lines was reached, go on with %s %d.", offset, s.Last+1)
	default:
		text += fmt.Sprintf("the limit of bytes was reached, go on with %s %d.", offset, s.Last+1)
	}
	if len(s.Longer) > 0 {
		numbers := make([]string, 0, 20)
		for _, n := range s.Longer {
			if len(numbers) == 20 {
				numbers = append(numbers, "…")
				break
			}
			numbers = append(numbers, strconv.Itoa(n))
		}
		text += fmt.Sprintf(" Cut at %d characters: line %s.", columns, strings.Join(numbers, ", "))
	}
	return text
}

// Marked is a reading whose cut lines end in a mark.
func Marked(s action.Seen, mark string) action.Seen {
	if len(s.Longer) == 0 {
		return s
	}
	lines := strings.SplitAfter(s.Text, "\n")
	for _, n := range s.Longer {
		if i := n - s.First; i >= 0 && i < len(lines) {
			bare := strings.TrimSuffix(lines[i], "\n")
			lines[i] = bare + mark + lines[i][len(bare):]
		}
	}
	s.Text = strings.Join(lines, "")
	return s
}

// Search is how a list of what was found is worded: the list itself, and notes on what is missing from it.
type Search struct {
	Numbers bool                    // of lines
	Most    int                     // bytes of the list
	Skip    int                     // hits that the call left out at the beginning
	None    string                  // the note when nothing was found
	Name    func(action.Hit) string // spells a path
}

// Words lists what a search found: paths, "path:count", or "path:line:text" with "path-line-text" for neighbours and
// "--" between groups. What is in files that look like secrets is left out.
func (s Search) Words(f action.Found) (body, notes string) {
	f, hidden := Public(f)
	body, left := s.list(f)
	var all []string
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	what := "line"
	if f.Mode != "" || f.What == "files" {
		what = "file"
	}
	matches := 0
	for _, h := range f.Hits {
		if !h.Context {
			matches++
		}
	}
	if body == "" {
		add("%s", s.None)
	} else if f.Mode == "count" {
		add("%s in %s.", counted(f.Total, "match", "matches"), counted(matches, "file", "files"))
	}
	switch {
	case left > 0 || f.More < 0:
		add("There are more %ss than are shown; narrow the search.", what)
	case f.More > 0 && f.What == "files":
		add("%d more match; narrow the pattern.", f.More)
	case f.More > 0:
		add("%d more %ss match; go on with offset %d.", f.More, what, s.Skip+matches)
	}
	if hidden > 0 {
		add("%s that may hold secrets left out.", counted(hidden, "file", "files"))
	}
	for _, skipped := range f.Skipped {
		add("Not searched: %s.", skipped)
	}
	return body, strings.Join(all, " ")
}

// CountedHits says how much was found, when nothing else is to be said.
func CountedHits(f action.Found) string {
	n := 0
	for _, h := range f.Hits {
		if !h.Context {
			n++
		}
	}
	switch {
	case f.Mode == "files":
		return "Found in " + counted(n, "file", "files") + "."
	case f.What == "files":
		return counted(n, "path", "paths") + " found."
	}
	return counted(n, "match", "matches") + " found."
}

// counted is a number with its noun.
func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// list is as much of the hits as fits, and how many did not.
func (s Search) list(f action.Found) (body string, left int) {
	var b strings.Builder
	neighbours := grouped(f)
	for i, h := range f.Hits {
		line := s.Name(h)
		switch {
		case f.Mode == "count":
			line += ":" + strconv.Itoa(h.Count)
		case f.Mode == "" && f.What != "files":
			mark := ":"
			if h.Context {
				mark = "-"
			}
			if s.Numbers {
				line += mark + strconv.Itoa(h.Line)
			}
			line += mark + strings.TrimRight(h.Text, "\r\n")
			if i > 0 && neighbours && (f.Hits[i-1].Path != h.Path || f.Hits[i-1].Line+1 != h.Line) {
				line = "--\n" + line
			}
		}
		if b.Len()+len(line)+1 > s.Most && i > 0 {
			return strings.TrimSuffix(b.String(), "\n"), len(f.Hits) - i
		}
		b.WriteString(line + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n"), 0
}

// grouped reports whether matches come with neighbours.
func grouped(f action.Found) bool {
	for _, h := range f.Hits {
		if h.Context {
			return true
		}
	}
	return false
}

// SpelledFrom spells the paths of hits so that a model can use them as they are: from the folder it named, or from the
// working folder when it named none.
func SpelledFrom(asked, where string) func(action.Hit) string {
	return func(h action.Hit) string {
		rel := Relative(where, h.Path)
		switch {
		case asked == "" || asked == "." || rel == h.Path:
			return rel
		case rel == ".":
			return asked
		}
		return strings.TrimSuffix(asked, "/") + "/" + rel
	}
}

// Truncated is what a command printed, with the mark "[...truncated]" where its middle is missing.
func Truncated(r action.Ran) string {
	g := r.Gap
	if g == nil || g.At+g.Mark > len(r.Output) {
		return r.Output
	}
	where := ""
	if r.Full != "" {
		where = "; all of it is in " + r.Full
	}
	return fmt.Sprintf("%s[...truncated] lines %d-%d of %d are left out%s\n%s", r.Output[:g.At], g.First, g.Last, g.Total, where, r.Output[g.At+g.Mark:])
}

// LongLines cuts the lines of an output that are too long for a model, in characters, with a mark.
func LongLines(text string, most int, mark string) string {
	if len(text) <= most {
		return text
	}
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		if bare := strings.TrimSuffix(line, "\n"); len(bare) > most {
			if runes := []rune(bare); len(runes) > most {
				lines[i] = string(runes[:most]) + mark + line[len(bare):]
			}
		}
	}
	return strings.Join(lines, "")
}
