package action

import (
	"slices"
	"strings"
)

// findReindented ignores the indentation of each line (E7).
func findReindented(q quest) []span { return findLoose(q, false, false) }

// findSpaced takes a run of blanks for one as well (E8).
func findSpaced(q quest) []span { return findLoose(q, true, false) }

// findUnspaced ignores blank lines as well (E9).
func findUnspaced(q quest) []span { return findLoose(q, true, true) }

// findLoose looks for old line by line. Of the new text, lines that old has too are taken from the file as they are;
// others get the indentation that the file has at that place. Several places come without a text: they are too many.
func findLoose(q quest, runs, blanks bool) []span {
	if !substantial(q.old) || lostIndent(q.path, q.new) {
		return nil
	}
	for _, try := range q.trimmed() {
		if spans := try.loose(runs, blanks); len(spans) > 0 {
			return spans
		}
		if blanks {
			break // blank lines at the ends are ignored anyway
		}
	}
	return nil
}

func (q quest) loose(runs, blanks bool) []span {
	file, old := splitLines(q.view.text), splitLines(q.old)
	found, lines := sameLines(file, old, runs, blanks)
	if len(found) == 0 || len(lines) == 0 {
		return nil
	}
	starts := lineStarts(file)
	var out []span
	for _, at := range found {
		out = append(out, span{start: starts[at[0]], end: starts[at[len(at)-1]+1] - 1})
	}
	if len(out) > 1 {
		return out
	}
	p := placing{quest: q, file: file, old: old, new: splitLines(q.new), oldAt: lines, fileAt: found[0], blanks: blanks}
	text, ok := p.text()
	if !ok {
		return nil
	}
	s := &out[0]
	s.text = text
	switch endsOld, endsNew := strings.HasSuffix(q.old, "\n"), strings.HasSuffix(q.new, "\n"); {
	case endsOld && s.end < len(q.view.text):
		s.end++
		if endsNew {
			s.text += "\n"
		}
	case !endsOld && endsNew:
		s.text += "\n"
	}
	if q.new == "" && strings.HasSuffix(q.old, "\n") {
		s.text = ""
	}
	return out
}

// sameLines gives the places of old in file by the numbers of the lines that count, and those numbers in old.
func sameLines(file, old []string, runs, blanks bool) (found [][]int, oldAt []int) {
	key := func(line string) string {
		line = plainText(strings.TrimSpace(line))
		if runs {
			line = strings.Join(strings.Fields(line), " ")
		}
		return line
	}
	join := func(lines []string) (string, []int) {
		var b strings.Builder
		var at []int
		b.WriteByte('\n')
		for i, line := range lines {
			k := key(line)
			if blanks && k == "" {
				continue
			}
			at = append(at, i)
			b.WriteString(k)
			b.WriteByte('\n')
		}
		return b.String(), at
	}
	have, fileAt := join(file)
	want, oldAt := join(old)
	if len(oldAt) == 0 || len(oldAt) > len(fileAt) {
		return nil, nil
	}
	line, from := 0, 0
	for _, i := range places(have, want) {
		line += strings.Count(have[from:i], "\n")
		from = i
		found = append(found, fileAt[line:line+len(oldAt)])
	}
	return found, oldAt
}

// placing puts a new text where an old one was found loosely.
type placing struct {
	quest
	file, old, new []string
	oldAt, fileAt  []int // numbers of lines that belong together
	blanks         bool  // blank lines were ignored

	pairs []indentPair
	table map[string]string // indentation of old to that of the file; nil when they do not agree
	kept  []int             // for each new line, the index in pairs of the old line that it is, or -1
	tabs  bool              // the file indents with tabs
}

// indentPair is the indentation of a line as it was quoted and as the file has it.
type indentPair struct {
	old, file     string
	oldAt, fileAt int
}

// text is the new text as the file would have it; false when its indentation cannot be told.
func (p *placing) text() (string, bool) {
	for i, n := range p.oldAt {
		if strings.TrimSpace(p.old[n]) != "" {
			p.pairs = append(p.pairs, indentPair{indentOf(p.old[n]), indentOf(p.file[p.fileAt[i]]), n, p.fileAt[i]})
		}
	}
	if len(p.pairs) == 0 {
		return "", false
	}
	p.table = indentTable(p.pairs)
	if p.table == nil && !bracedFile(p.path) {
		return "", false
	}
	p.tabs, _ = fileIndent(p.file)
	p.kept = p.pairUp()
	return p.write()
}

// pairUp finds the lines of old that stay in new.
func (p *placing) pairUp() []int {
	var old, new []string
	for _, pair := range p.pairs {
		old = append(old, strings.TrimSpace(p.old[pair.oldAt]))
	}
	var at []int
	for i, line := range p.new {
		if line = strings.TrimSpace(line); line != "" {
			new = append(new, line)
			at = append(at, i)
		}
	}
	kept := make([]int, len(p.new))
	for i := range kept {
		kept[i] = -1
	}
	for n, o := range commonLines(new, old) {
		if o >= 0 {
			kept[at[n]] = o
		}
	}
	return kept
}

// write gives the lines one by one. Between two of them the file's own blank lines stay, unless new has more or fewer
// there than old.
func (p *placing) write() (string, bool) {
	var out []string
	used := map[int]bool{}   // gaps of the file that are written, by the pair before them
	before, blank := -2, 0   // kept pair of the line before, -1: a new line, -2: none; blank lines of new since
	gap := func(after int) { // after is the kept pair of the next line, -1: a new line, len(pairs): the end
		lines, asked := p.gap(before, after)
		switch edge := before == -2 || after == len(p.pairs); {
		case p.blanks && edge: // blank lines around old are not part of the place
			out = append(out, make([]string, max(0, blank-asked))...)
		case lines != nil && asked == blank && !used[p.gapID(before, after)]:
			used[p.gapID(before, after)] = true
			out = append(out, lines...)
		case lines == nil || asked != blank:
			out = append(out, make([]string, blank)...)
		}
		blank = 0
	}
	for i, line := range p.new {
		if strings.TrimSpace(line) == "" {
			blank++
			continue
		}
		k := p.kept[i]
		gap(k)
		text, ok := p.line(i, k)
		if !ok {
			return "", false
		}
		out = append(out, text)
		before = k
	}
	if before == -2 {
		return strings.Join(make([]string, max(blank-1, 0)), "\n"), true
	}
	gap(len(p.pairs))
	return strings.Join(out, "\n"), true
}

// gapID names a gap by the pair it follows.
func (p *placing) gapID(before, after int) int {
	if before >= 0 {
		return before
	}
	return after - 1
}

// gap gives the file's blank lines at a seam of the new text and how many old has there; nil when old has no such seam.
func (p *placing) gap(before, after int) (lines []string, asked int) {
	last := len(p.pairs) - 1
	var oldFrom, oldTo, fileFrom, fileTo int
	switch {
	case before == -2: // the start
		oldTo = p.pairs[0].oldAt
		fileFrom, fileTo = p.fileAt[0], p.pairs[0].fileAt
	case after > last: // the end
		oldFrom, oldTo = p.pairs[last].oldAt+1, len(p.old)
		fileFrom, fileTo = p.pairs[last].fileAt+1, p.fileAt[len(p.fileAt)-1]+1
	case before >= 0 && before < last:
		oldFrom, oldTo = p.pairs[before].oldAt+1, p.pairs[before+1].oldAt
		fileFrom, fileTo = p.pairs[before].fileAt+1, p.pairs[before+1].fileAt
	case after > 0:
		oldFrom, oldTo = p.pairs[after-1].oldAt+1, p.pairs[after].oldAt
		fileFrom, fileTo = p.pairs[after-1].fileAt+1, p.pairs[after].fileAt
	default:
		return nil, 0
	}
	return append([]string{}, p.file[fileFrom:fileTo]...), oldTo - oldFrom
}

// line is a line of the new text with the indentation it has in the file.
func (p *placing) line(i, kept int) (string, bool) {
	blanks, body := indentOf(p.new[i]), strings.TrimLeft(p.new[i], " \t")
	if kept >= 0 {
		pair := p.pairs[kept]
		if pair.old == blanks {
			return p.file[pair.fileAt], true
		}
		body = strings.TrimLeft(p.file[pair.fileAt], " \t")
	}
	if to, ok := p.table[blanks]; ok {
		return to + body, true
	}
	to, ok := p.indent(blanks, p.reference(i))
	return to + body, ok
}

// reference is the old line that a new one goes by: of those it replaces, one that was indented alike, or the one in
// the same place; else the nearest that stays.
func (p *placing) reference(i int) indentPair {
	blanks := indentOf(p.new[i])
	above, below := -1, len(p.pairs) // kept pairs around the new line
	order := 0                       // which of the new lines between them it is
	for j := i - 1; j >= 0 && above < 0; j-- {
		if above = p.kept[j]; above < 0 && strings.TrimSpace(p.new[j]) != "" {
			order++
		}
	}
	next := i + 1
	for ; next < len(p.new) && p.kept[next] < 0; next++ {
	}
	if next < len(p.new) {
		below = p.kept[next]
	}
	replaced := p.pairs[above+1 : max(below, above+1)]
	for _, pair := range replaced {
		if pair.old == blanks {
			return pair
		}
	}
	switch {
	case len(replaced) > 0:
		return replaced[min(order, len(replaced)-1)]
	case above < 0:
		return p.pairs[min(below, len(p.pairs)-1)]
	case !opens(p.old[p.pairs[above].oldAt]):
		return p.pairs[above]
	case below == len(p.pairs):
		pair := p.pairs[above]
		if _, step := fileIndent(p.file); pair.old == blanks { // its indentation was lost: a step further in
			pair.file += p.blanks4(step)
		}
		return pair
	}
	return p.pairs[below]
}

// opens tells whether a line begins a block, so that what follows goes by the line below it.
func opens(line string) bool {
	line = strings.TrimRight(line, " \t")
	return line != "" && strings.ContainsRune("{([:", rune(line[len(line)-1]))
}

const tabColumns = 4 // what a tab counts when indentations are compared

// indent moves the file's indentation of a pair by as much as the new line is moved from the old one.
func (p *placing) indent(blanks string, ref indentPair) (string, bool) {
	num, den := p.ratio()
	by := (columns(blanks, tabColumns) - columns(ref.old, tabColumns)) * num
	if _, step := fileIndent(p.file); !bracedFile(p.path) && (by%den != 0 || step > 0 && by/den%step != 0) {
		return "", false // where indentation has a meaning it is not guessed
	}
	by /= den
	have := columns(ref.file, tabColumns)
	switch {
	case by == 0:
		return ref.file, true
	case have+by < 0:
		return "", false
	case by > 0 && (!p.tabs || by%tabColumns == 0):
		return ref.file + p.blanks4(by), true
	}
	return p.blanks4(have + by), true
}

// blanks4 are so many columns in the file's style.
func (p *placing) blanks4(n int) string {
	if p.tabs {
		return strings.Repeat("\t", n/tabColumns) + strings.Repeat(" ", n%tabColumns)
	}
	return strings.Repeat(" ", n)
}

// ratio is how many columns of the file one column of old is: by two lines that are indented differently, else by the
// steps that both sides indent with.
func (p *placing) ratio() (num, den int) {
	if p.table != nil {
		first := p.pairs[0]
		for _, pair := range p.pairs {
			o := columns(pair.old, tabColumns) - columns(first.old, tabColumns)
			f := columns(pair.file, tabColumns) - columns(first.file, tabColumns)
			if o != 0 && f != 0 && (o > 0) == (f > 0) {
				return max(f, -f), max(o, -o)
			}
		}
	}
	quoted := append(slices.Clone(p.old), p.new...)
	_, from := fileIndent(quoted)
	_, to := fileIndent(p.file)
	if tabs, spaces := indentStyle(quoted); from == 0 || to == 0 || tabs == p.tabs && spaces != p.tabs {
		return 1, 1
	}
	return to, from
}

// indentTable is the indentation of old as the file has it, when that is the same for every line and keeps the order.
func indentTable(pairs []indentPair) map[string]string {
	table := map[string]string{}
	for _, p := range pairs {
		if to, ok := table[p.old]; ok && to != p.file {
			return nil
		}
		table[p.old] = p.file
	}
	for a, to := range table {
		for b, other := range table {
			if columns(a, tabColumns) < columns(b, tabColumns) && columns(to, tabColumns) >= columns(other, tabColumns) {
				return nil
			}
		}
	}
	return table
}

// fileIndent tells whether lines are indented with tabs, and by how many columns a step goes; 0 when none is indented.
func fileIndent(lines []string) (tabs bool, step int) {
	steps := map[int]int{}
	tabbed, spaced, before := 0, 0, 0
	for _, line := range lines {
		if strings.TrimSpace(line) == "" {
			continue
		}
		blanks := indentOf(line)
		switch {
		case strings.HasPrefix(blanks, "\t"):
			tabbed++
		case blanks != "":
			spaced++
		}
		now := columns(blanks, tabColumns)
		if by := now - before; by > 1 {
			steps[by]++
		}
		before = now
	}
	if tabbed > spaced {
		return true, tabColumns
	}
	for by, n := range steps {
		if n > steps[step] || n == steps[step] && by < step {
			step = by
		}
	}
	return false, step
}
