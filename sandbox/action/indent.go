package action

import (
	"slices"
	"strings"
)

// findShifted looks for old with every line moved in or out by the same amount, and moves the new text alike.
func findShifted(q quest) []span {
	if !substantial(q.old) || lostIndent(q.path, q.new) {
		return nil
	}
	lines := splitLines(q.view.text)
	old := splitLines(q.old)
	step := stepBetween(append(slices.Clone(old), splitLines(q.new)...), lines)
	found, _ := sameLines(lines, old, false, false)
	starts := lineStarts(lines)
	var out []span
	work := shiftWork
	for _, place := range found {
		if work -= len(old); work < 0 || len(out) >= manyPlaces {
			break
		}
		i := place[0]
		s, ok := shiftBetween(old, lines[i:i+len(old)], step)
		if !ok {
			continue
		}
		text, ok := s.apply(q.new)
		if !ok {
			continue
		}
		sp := span{start: starts[i], end: starts[i+len(old)] - 1, text: text}
		if strings.HasSuffix(q.old, "\n") {
			if sp.end < len(q.view.text) {
				sp.end++
			} else {
				sp.text = strings.TrimSuffix(sp.text, "\n")
			}
		}
		out = append(out, sp)
	}
	return out
}

const (
	shiftWork  = 4_000_000 // lines compared at most
	manyPlaces = 1000      // more are not counted where a text was found loosely
)

// lineStarts are the offsets of lines, and that behind the last one.
func lineStarts(lines []string) []int {
	starts := make([]int, len(lines)+1)
	for i, line := range lines {
		starts[i+1] = starts[i] + len(line) + 1
	}
	return starts
}

// shift is how the indentation of a file differs from that of a quotation.
type shift struct {
	add, cut string // blanks to put before a line, or to take off
	tab      int    // 0, or the columns of a tab where one side has tabs and the other spaces
	by       int    // columns to move, with tab
	tabs     bool   // the file indents with tabs, with tab
}

func (s shift) none() bool { return s == shift{} }

// shiftBetween compares line by line. Blank lines match any blank line. step is what a tab is likely to stand for where
// one side has tabs, in columns; 0 when nothing tells.
func shiftBetween(old, file []string, step int) (shift, bool) {
	var s shift
	known, mixed := false, false
	for i := range old {
		a, b := strings.TrimSpace(old[i]), strings.TrimSpace(file[i])
		if a != b {
			return s, false
		}
		if a == "" {
			continue
		}
		from, to := indentOf(old[i]), indentOf(file[i])
		var d shift
		switch {
		case strings.HasSuffix(to, from):
			d.add = to[:len(to)-len(from)]
		case strings.HasSuffix(from, to):
			d.cut = from[:len(from)-len(to)]
		default:
			mixed = true
			continue
		}
		if known && d != s {
			mixed = true
		}
		s, known = d, true
	}
	if !mixed {
		return s, known
	}
	return shiftInColumns(old, file, step)
}

// stepBetween is how many columns one step of indentation is where the other side has a tab for it: of the quoted
// lines when the file has tabs, else of the file.
func stepBetween(quoted, file []string) int {
	tabs, step := fileIndent(file)
	if !tabs {
		return step
	}
	var widths []int
	for _, line := range quoted {
		if strings.TrimSpace(line) != "" {
			widths = append(widths, columns(indentOf(line), tabColumns))
		}
	}
	slices.Sort(widths)
	step = 0
	for i := 1; i < len(widths); i++ {
		if by := widths[i] - widths[i-1]; by > 0 && (step == 0 || by < step) {
			step = by
		}
	}
	return step
}

// shiftInColumns is for tabs on one side and spaces on the other: some width of a tab must make the shift uniform.
func shiftInColumns(old, file []string, step int) (shift, bool) {
	oldTabs, oldSpaces := indentStyle(old)
	fileTabs, fileSpaces := indentStyle(file)
	if oldTabs && oldSpaces || fileTabs && fileSpaces || oldTabs == fileTabs {
		return shift{}, false
	}
	tabs := []int{4, 2, 8, 3}
	if step > 1 && step <= 8 {
		tabs = append([]int{step}, tabs...)
	}
	for _, tab := range tabs {
		s := shift{tab: tab, tabs: fileTabs}
		known, fits := false, true
		for i := range old {
			if strings.TrimSpace(old[i]) == "" {
				continue
			}
			by := columns(indentOf(file[i]), tab) - columns(indentOf(old[i]), tab)
			if known && by != s.by {
				fits = false
				break
			}
			s.by, known = by, true
		}
		if fits && known {
			return s, true
		}
	}
	return shift{}, false
}

// apply moves every line that is not blank; it fails when a line has less indentation than must go.
func (s shift) apply(text string) (string, bool) {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.TrimSpace(line) == "" {
			continue
		}
		moved, ok := s.line(line)
		if !ok {
			return "", false
		}
		lines[i] = moved
	}
	return strings.Join(lines, "\n"), true
}

func (s shift) line(line string) (string, bool) {
	if s.tab == 0 {
		if !strings.HasPrefix(line, s.cut) {
			return "", false
		}
		return s.add + line[len(s.cut):], true
	}
	blanks := indentOf(line)
	at := columns(blanks, s.tab) + s.by
	if at < 0 {
		return "", false
	}
	if s.tabs {
		return strings.Repeat("\t", at/s.tab) + strings.Repeat(" ", at%s.tab) + line[len(blanks):], true
	}
	return strings.Repeat(" ", at) + line[len(blanks):], true
}

func indentOf(line string) string {
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

func indentStyle(lines []string) (tabs, spaces bool) {
	for _, line := range lines {
		if strings.TrimSpace(line) == "" {
			continue
		}
		blanks := indentOf(line)
		tabs = tabs || strings.Contains(blanks, "\t")
		spaces = spaces || strings.Contains(blanks, " ")
	}
	return tabs, spaces
}

func columns(blanks string, tab int) int {
	n := 0
	for _, c := range blanks {
		if c == '\t' {
			n += tab - n%tab
		} else {
			n++
		}
	}
	return n
}
