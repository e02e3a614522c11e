package action

import (
	"slices"
	"strings"
)

// fileLine is a line of a file with its own bytes and ending.
type fileLine struct {
	raw, end string
	text     string // readable form of raw, for comparing
}

// patched is a file while a patch is applied to it.
type patched struct {
	coding coding
	lines  []fileLine
	end    string // how new lines end
}

func newPatched(content []byte) (*patched, error) {
	decoded, c, err := decode(content)
	if err != nil {
		return nil, err
	}
	f := &patched{coding: c, end: "\n"}
	for line := range strings.Lines(decoded) {
		l := fileLine{raw: line}
		for _, end := range []string{"\r\n", "\n"} {
			if raw, ok := strings.CutSuffix(line, end); ok {
				l.raw, l.end = raw, end
				break
			}
		}
		l.text = readable(l.raw)
		f.lines = append(f.lines, l)
	}
	if len(f.lines) > 0 && f.lines[0].end != "" {
		f.end = f.lines[0].end
	}
	return f, nil
}

// bytes are the content; an updated file ends with a line break, unless open leaves one without as it is, or cut takes
// it off.
func (f *patched) bytes(open, cut bool) []byte {
	var b strings.Builder
	for i, l := range f.lines {
		b.WriteString(l.raw)
		if last := i == len(f.lines)-1; last && (cut || open && l.end == "") {
			break
		}
		if l.end == "" {
			l.end = f.end
			if i > 0 {
				l.end = f.lines[i-1].end
			}
		}
		b.WriteString(l.end)
	}
	return f.coding.encode(b.String())
}

// passes compare a line of the file with one of the patch, from strict to loose.
var passes = []func(file, patch string) bool{
	func(a, b string) bool { return a == b },
	func(a, b string) bool { return strings.TrimRight(a, " \t") == strings.TrimRight(b, " \t") },
	func(a, b string) bool { return strings.TrimSpace(a) == strings.TrimSpace(b) },
	func(a, b string) bool { return plainText(strings.TrimSpace(a)) == plainText(strings.TrimSpace(b)) },
}

// seek gives the places at or after from where all of old stands, by the strictest pass that finds any.
func (f *patched) seek(old []PatchLine, from int) []int {
	for n, same := range passes {
		var found []int
		for i := from; i+len(old) <= len(f.lines); i++ {
			if f.fits(old, i, same, n == 0) {
				found = append(found, i)
			}
		}
		if found != nil {
			return found
		}
	}
	return nil
}

// fits compares a block at a place. A line without a prefix must be there to the letter.
func (f *patched) fits(old []PatchLine, at int, same func(a, b string) bool, exact bool) bool {
	for i, l := range old {
		have := f.lines[at+i].text
		if l.Op == 0 && !exact {
			if have != l.Text {
				return false
			}
		} else if !same(have, l.Text) {
			return false
		}
	}
	return true
}

// edit is a part of the file to be replaced by lines of the patch.
type patchEdit struct {
	at    int
	block Block
	old   int // lines of the file it covers
	fuzz  int // lines of context at the start that were left out
}

// placeFuzzy finds where a block belongs. When it does not fit, context goes from its ends, a line at a time, as long
// as a line with something in it remains; then, without a line number, there must be one place only.
func (f *patched) placeFuzzy(b Block, cursor, fuzz int) (patchEdit, error) {
	e, err := f.place(b, cursor)
	if err == nil || fuzz == 0 {
		return e, err
	}
	head, tail := 0, 0
	for head < len(b.Lines) && b.Lines[head].Op == ' ' {
		head++
	}
	for tail < len(b.Lines)-head && b.Lines[len(b.Lines)-1-tail].Op == ' ' {
		tail++
	}
	for n := 1; n <= min(fuzz, max(head, tail)); n++ {
		short := b
		first := min(n, head)
		short.Lines = b.Lines[first : len(b.Lines)-min(n, tail)]
		old := oldLines(short.Lines)
		if !slices.ContainsFunc(old, func(l PatchLine) bool { return strings.TrimSpace(l.Text) != "" }) {
			break
		}
		if short.Hint > 0 {
			short.Hint += first
		} else if len(f.seek(old, cursor)) != 1 {
			continue
		}
		if e, ok := f.place(short, cursor); ok == nil {
			e.fuzz = first
			return e, nil
		}
	}
	return patchEdit{}, err
}

// place finds where a block belongs, at or after the cursor.
func (f *patched) place(b Block, cursor int) (patchEdit, error) {
	anchor := -1
	for _, text := range b.Anchors {
		at := f.seekAnchor(text, cursor)
		if at < 0 {
			e := &PatchError{Kind: NoContext, Line: b.Line, Block: text}
			f.near(e, []PatchLine{{Text: text}}, cursor)
			return patchEdit{}, e
		}
		anchor, cursor = at, at+1
	}
	old := oldLines(b.Lines)
	if len(old) == 0 {
		return patchEdit{at: f.insertion(b, anchor, cursor), block: b}, nil
	}
	starts := []int{cursor}
	if anchor >= 0 && strings.TrimSpace(old[0].Text) == strings.TrimSpace(f.lines[anchor].text) {
		starts = append(starts, anchor) // the anchor was repeated as the first line
	}
	for _, from := range starts {
		if at, ok := f.seekBlock(b, old, from); ok {
			return patchEdit{at: at, block: b, old: len(old)}, nil
		}
		// A block may end with an empty line that stands for the end of the text.
		if last := len(old) - 1; last > 0 && old[last].Text == "" {
			short := b
			short.Lines = withoutLastEmpty(b.Lines)
			if at, ok := f.seekBlock(b, old[:last], from); ok {
				return patchEdit{at: at, block: short, old: last}, nil
			}
		}
	}
	e := &PatchError{Kind: NoLines, Line: old[0].Line, Block: joinLines(old)}
	f.near(e, old, cursor)
	for _, l := range old {
		if l.Op == 0 && !slices.ContainsFunc(f.lines, func(have fileLine) bool { return have.text == l.Text }) {
			e.Kind, e.Line, e.Block = BadLine, l.Line, l.Text
			break
		}
	}
	return patchEdit{}, e
}

func (f *patched) seekAnchor(text string, from int) int {
	tries := []string{text}
	if bare, ok := strings.CutSuffix(text, "@@"); ok {
		tries = append(tries, strings.TrimSpace(bare))
	}
	for _, t := range tries {
		if found := f.seek([]PatchLine{{Op: ' ', Text: t}}, from); len(found) > 0 {
			return found[0]
		}
	}
	return -1
}

// seekBlock takes the first place, or with a line number the one nearest to it. A block that ends the file has one
// place only.
func (f *patched) seekBlock(b Block, old []PatchLine, from int) (int, bool) {
	if b.End {
		from = max(from, len(f.lines)-len(old))
	}
	found := f.seek(old, from)
	if len(found) == 0 {
		return 0, false
	}
	if b.Hint > 0 {
		return slices.MinFunc(found, func(x, y int) int { return distance(x, b.Hint-1) - distance(y, b.Hint-1) }), true
	}
	return found[0], true
}

func distance(a, b int) int { return max(a-b, b-a) }

// insertion is where lines go that replace none: below the anchor, at the line number, or at the end.
func (f *patched) insertion(b Block, anchor, cursor int) int {
	switch {
	case b.End:
		return len(f.lines)
	case anchor >= 0:
		return anchor + 1
	case b.Hint > 0:
		return min(max(b.Hint, cursor), len(f.lines))
	}
	if n := len(f.lines); n > cursor && n > 0 && f.lines[n-1].raw == "" && f.lines[n-1].end == "" {
		return n - 1
	}
	return len(f.lines)
}

func oldLines(lines []PatchLine) []PatchLine {
	var out []PatchLine
	for _, l := range lines {
		if l.Op != '+' {
			out = append(out, l)
		}
	}
	return out
}

func withoutLastEmpty(lines []PatchLine) []PatchLine {
	out := slices.Clone(lines)
	for i := len(out) - 1; i >= 0; i-- {
		if out[i].Op == '+' {
			if out[i].Text == "" {
				out = slices.Delete(out, i, i+1)
			}
			continue
		}
		return slices.Delete(out, i, i+1)
	}
	return out
}

func joinLines(lines []PatchLine) string {
	texts := make([]string, len(lines))
	for i, l := range lines {
		texts[i] = l.Text
	}
	return strings.Join(texts, "\n")
}

// replacement gives the new lines of an edit: context keeps the file's bytes, additions end lines as their
// surroundings do and follow a shifted indentation.
func (f *patched) replacement(e patchEdit) []fileLine {
	move := f.shiftOf(e)
	var out []fileLine
	at := e.at
	end := f.end
	if e.at > 0 && f.lines[e.at-1].end != "" {
		end = f.lines[e.at-1].end
	}
	var removed []string // endings of removed lines, for the additions that take their place
	for _, l := range e.block.Lines {
		switch l.Op {
		case '+':
			text := l.Text
			if strings.TrimSpace(text) != "" {
				if moved, ok := move.line(text); ok {
					text = moved
				}
			}
			if len(removed) > 0 {
				end, removed = removed[0], removed[1:]
			}
			out = append(out, fileLine{raw: f.coding.spell(text), end: end, text: text})
		case '-':
			if f.lines[at].end != "" {
				removed = append(removed, f.lines[at].end)
			}
			at++
		default:
			out = append(out, f.lines[at])
			if f.lines[at].end != "" {
				end = f.lines[at].end
			}
			removed = nil
			at++
		}
	}
	for i := range out {
		if out[i].end == "" && (i < len(out)-1 || e.at+e.old < len(f.lines)) {
			out[i].end = end
		}
	}
	return out
}

// shiftOf tells how the file's indentation differs from the patch's where a block was found.
func (f *patched) shiftOf(e patchEdit) shift {
	var old, have, quoted []string
	at := e.at
	for _, l := range e.block.Lines {
		quoted = append(quoted, l.Text)
		if l.Op == '+' {
			continue
		}
		old = append(old, plainText(l.Text))
		have = append(have, plainText(f.lines[at].text))
		at++
	}
	texts := make([]string, len(f.lines))
	for i, l := range f.lines {
		texts[i] = l.text
	}
	if s, ok := shiftBetween(old, have, stepBetween(quoted, texts)); ok {
		return s
	}
	return shift{}
}

const patchNear = 20 // lines of a PatchError

// near completes an error with the file's own lines where the wanted ones fit best.
func (f *patched) near(e *PatchError, wanted []PatchLine, from int) {
	texts := make([]string, len(f.lines))
	for i, l := range f.lines {
		texts[i] = l.text
	}
	want := strings.Split(joinLines(wanted), "\n")
	best := nearest(texts, want)
	if best.score == 0 {
		return
	}
	region := texts[best.at-1:]
	same := passes[len(passes)-1]
	for i, w := range want {
		if i >= len(region) {
			e.Want = w
			break
		}
		if !same(region[i], w) {
			e.Want, e.Have, e.HaveAt = w, region[i], best.at+i
			break
		}
	}
	start := max(0, best.at-1-(patchNear-len(want))/2)
	if len(want) >= patchNear {
		start = best.at - 1
		if e.HaveAt > 0 {
			start = max(start, e.HaveAt-1-patchNear/2)
		}
	}
	end := min(len(texts), start+patchNear)
	e.Near, e.NearAt = strings.Join(texts[start:end], "\n"), start+1
}
