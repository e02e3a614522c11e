package action

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
)

// ReplaceText replaces old by new in the content of a file, by the ladder from exact to loose, and touches no byte
// outside the places found: byte order mark, line ends, encoding and final newline stay. Without all there must be
// one place. spots is the number of places and level the rung that found them; first and last are the changed lines
// of the new text. No spot and no error means that the change is there already. A failure is a *MatchError, or one
// of the sentinel errors.
func ReplaceText(before []byte, old, new string, all bool) (after []byte, spots int, level string, first, last int, err error) {
	r, err := replaceOne(before, Edit{Old: old, New: new, All: all})
	if err != nil {
		return before, 0, "", 0, 0, err
	}
	return r.after, r.spots, r.level, r.first, r.last, nil
}

// replaced is the answer of replaceOne.
type replaced struct {
	after       []byte
	spots       int
	level       string
	first, last int
}

func replaceOne(before []byte, e Edit) (replaced, error) {
	none := replaced{after: before}
	t, err := openText(before)
	if err != nil {
		return none, err
	}
	spans, level, err := t.find(e)
	if err != nil {
		if at, ok := t.already(e.Old, e.New, err); ok {
			return replaced{after: before, first: at, last: at + len(splitLines(unix(e.New))) - 1}, nil
		}
		return none, err
	}
	r := replaced{after: t.splice(spans), spots: len(spans), level: level}
	if bytes.Equal(r.after, before) {
		at := lineAt(t.decoded, spans[0].start) // only the quotation differed from the file
		return replaced{after: before, first: at, last: at}, nil
	}
	r.first, r.last = changedLines(shown(before), shown(r.after))
	return r, nil
}

// fileText is a file opened for editing.
type fileText struct {
	coding  coding
	decoded string
	view    view
}

func openText(content []byte) (fileText, error) {
	decoded, c, err := decode(content)
	if err != nil {
		return fileText{}, err
	}
	return fileText{c, decoded, newView(decoded)}, nil
}

// find gives the spans of the decoded text to replace, in order, with the new text spelled as the file spells.
func (t fileText) find(e Edit) ([]span, string, error) {
	old, new := strings.TrimPrefix(e.Old, bomUTF8), strings.TrimPrefix(e.New, bomUTF8)
	switch {
	case old == "":
		return nil, "", ErrEmptyOld
	case old == new:
		return nil, "", t.same(unix(old))
	}
	spans, level := t.exact(old, new), levelExact
	if t.coding.order != nil {
		level = levelEnds
	}
	if len(spans) == 0 {
		q := quest{path: e.Path, view: t.view, old: unix(old), new: unix(new), all: e.All}
		var seen []span
		seen, level = q.locate(e.Strict)
		for _, s := range seen {
			from, to := t.view.at(s.start), t.view.at(s.end)
			text := breaks(s.text, t.decoded[from:to], t.decoded[:from], t.decoded[to:])
			spans = append(spans, span{from, to, t.coding.spell(text)})
		}
	}
	if line := placeholder(e.Path, t.view.text, unix(old), unix(new)); line != "" {
		return nil, "", &PlaceholderError{Text: line}
	}
	switch {
	case len(spans) == 0:
		return nil, "", t.absent(unix(old))
	case len(spans) > 1 && !e.All:
		return nil, "", t.ambiguous(spans)
	}
	spans = apart(spans)
	if e.Lines && new == "" {
		for i, s := range spans {
			spans[i].end = t.wholeLines(s)
		}
	}
	return spans, level, nil
}

// wholeLines is the end of a span moved past its line break when only whole lines are in it.
func (t fileText) wholeLines(s span) int {
	if s.start > 0 && t.decoded[s.start-1] != '\n' || s.end > s.start && t.decoded[s.end-1] == '\n' {
		return s.end
	}
	for _, end := range []string{"\r\n", "\n"} {
		if strings.HasPrefix(t.decoded[s.end:], end) {
			return s.end + len(end)
		}
	}
	return s.end
}

// exact looks for old to the letter. New line breaks follow the file unless old has the file's own carriage returns:
// then both texts are meant byte for byte.
func (t fileText) exact(old, new string) []span {
	var out []span
	verbatim := strings.Contains(old, "\r\n")
	for _, i := range places(t.decoded, old) {
		if i > 0 && t.decoded[i] == '\n' && t.decoded[i-1] == '\r' {
			continue // half a line break: the next level sees it whole
		}
		s := span{i, i + len(old), new}
		if !verbatim {
			s.text = breaks(unix(new), old, t.decoded[:i], t.decoded[s.end:])
		}
		s.text = t.coding.spell(s.text)
		out = append(out, s)
	}
	return out
}

// apart drops spans that overlap the one before: of "aa" in "aaa" the first is replaced.
func apart(spans []span) []span {
	out := spans[:0:0]
	for _, s := range spans {
		if len(out) == 0 || s.start >= out[len(out)-1].end {
			out = append(out, s)
		}
	}
	return out
}

func (t fileText) splice(spans []span) []byte {
	var b strings.Builder
	at := 0
	for _, s := range spans {
		b.WriteString(t.decoded[at:s.start])
		b.WriteString(s.text)
		at = s.end
	}
	b.WriteString(t.decoded[at:])
	return t.coding.encode(b.String())
}

func (t fileText) ambiguous(spans []span) *MatchError {
	e := &MatchError{Index: -1, Count: len(spans), Err: ErrAmbiguous}
	lines := strings.Split(t.view.text, "\n")
	for _, s := range spans {
		n := lineAt(t.decoded, s.start)
		if len(e.Lines) == 5 {
			break
		}
		if slices.Contains(e.Lines, n) {
			continue
		}
		e.Lines = append(e.Lines, n)
		e.Texts = append(e.Texts, lines[n-1])
	}
	return e
}

func (t fileText) absent(old string) *MatchError {
	e := &MatchError{Index: -1, Err: ErrAbsent}
	lines, wanted := splitLines(t.view.text), splitLines(old)
	best := nearest(lines, wanted)
	if best.score >= nearEnough {
		e.Near, e.NearAt = best.excerpt(lines, wanted)
		e.Likeness = best.score
		e.Differs, e.Sent, e.DiffersAt = blankDifference(lines, wanted, best.at)
	}
	if !substantial(old) {
		loosely, _ := sameLines(lines, wanted, true, true)
		e.Short = len(loosely) > 0
	}
	return e
}

// same is the error of an edit that changes nothing, with the lines of the file that it is about.
func (t fileText) same(old string) *MatchError {
	e := t.absent(old)
	e.Err = ErrSame
	e.Differs, e.Sent, e.DiffersAt, e.Short = "", "", 0, false
	if found := places(t.view.text, old); len(found) > 0 {
		lines := splitLines(t.view.text)
		at := lineAt(t.view.text, found[0])
		e.Near, e.NearAt = region{at, 1}.excerpt(lines, lines[at-1:min(len(lines), at-1+len(splitLines(old)))])
		e.Likeness = 1
	}
	return e
}

// already tells whether new stands in the file where old was to be found, and at which line.
func (t fileText) already(old, new string, err error) (int, bool) {
	me, ok := err.(*MatchError)
	new = unix(new)
	if !ok || me.Err != ErrAbsent || !substantial(new) {
		return 0, false
	}
	lines, wanted, now := splitLines(t.view.text), splitLines(unix(old)), splitLines(new)
	at := 0
	if found := places(t.view.text, new); len(found) == 1 {
		at = lineAt(t.view.text, found[0])
	} else if loosely, _ := sameLines(lines, now, false, false); len(loosely) == 1 && !sameBut(wanted, now) {
		at = loosely[0][0] + 1
	} else {
		return 0, false
	}
	best := nearest(lines, wanted)
	close := best.at < at+len(now) && at < best.at+max(1, len(wanted))
	return at, best.score < nearEnough || close
}

// sameBut tells whether two texts differ in blanks only.
func sameBut(a, b []string) bool {
	bare := func(lines []string) string { return strings.Join(strings.Fields(strings.Join(lines, " ")), " ") }
	return bare(a) == bare(b)
}

// commentDots are comments that stand for code left out.
var commentDots = regexp.MustCompile(`(?i)^(//|#|--|/\*|<!--|;|\{/\*)\s*(\.\.\.|…)?\s*` +
	`((the )?(rest|remainder) of (the |this )?\w+( (is|are|remains|stays))?( unchanged| the same| as before| here)?` +
	`|(the )?(existing|unchanged|remaining|previous) (code|lines|content|implementation)\w*( (is|remains|stays|continues|goes))?( unchanged| the same| as before| here)?` +
	`|(code|rest|remainder)( \w+)? (unchanged|as before|stays the same|remains the same))\s*(\.\.\.|…)?\s*(\*/\}?|-->)?$`)

// placeholder gives the first line of old or new that stands for text left out and is not in the file.
func placeholder(path, file, old, new string) string {
	prose := isProse(path)
	var have []string
	for _, text := range []string{old, new} {
		above := ""
		for line := range strings.SplitSeq(text, "\n") {
			bare := strings.TrimSpace(line)
			if leavesOut(bare, above) && !(prose && !dotsAndWords(bare)) {
				if have == nil {
					have = strings.Split(file, "\n")
				}
				if !slices.ContainsFunc(have, func(s string) bool { return strings.TrimSpace(s) == bare }) {
					return bare
				}
			}
			if bare != "" {
				above = bare
			}
		}
	}
	return ""
}

// dotsAndWords is what stands for code left out even in a text, where dots, or a heading, are just that.
func dotsAndWords(line string) bool {
	return strings.Trim(line, ".…/#*-<!> ") != "" && (strings.Contains(line, "...") || strings.Contains(line, "…"))
}

// leavesOut judges one line. Three dots below a colon or a docstring are Python for an empty body.
func leavesOut(line, above string) bool {
	switch line {
	case "...":
		return !strings.HasSuffix(above, ":") && !strings.HasSuffix(above, `"""`)
	case "…", "<unchanged>", "// ...", "# ...", "/* ... */", "<!-- ... -->":
		return true
	}
	return commentDots.MatchString(line)
}
