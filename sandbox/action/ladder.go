package action

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// The levels of the ladder, from tight to loose. Each is tried only when the tighter ones found nothing.
const (
	levelExact   = "E0" // to the letter
	levelEnds    = "E1" // line ends, byte order mark and encoding aside
	levelNumbers = "E2" // without line numbers or marks copied from a reading
	levelBlanks  = "E3" // blanks at line ends, a blank line before or after
	levelLetters = "E4" // typographic quotes, dashes, spaces
	levelEscapes = "E5" // \n and \t written out
	levelIndent  = "E6" // the whole block shifted
	levelLines   = "E7" // each line shifted by itself
	levelRuns    = "E8" // a run of blanks is one
	levelGaps    = "E9" // blank lines aside
)

// quest is one search for a place: old in a text, and what to put there.
type quest struct {
	path     string // tells the language, by its name; "" when unknown
	view     view
	old, new string // line feeds only
	all      bool
}

// rung is one level: it gives the spans of the view that match, each with its new text.
type rung struct {
	level string
	find  func(quest) []span
}

var rungs = []rung{
	{levelEnds, findPlain},
	{levelNumbers, findUnnumbered},
	{levelBlanks, func(q quest) []span { return findFolded(q, false) }},
	{levelLetters, func(q quest) []span { return findFolded(q, true) }},
	{levelEscapes, findUnescaped},
	{levelIndent, findShifted},
	{levelLines, findReindented},
	{levelRuns, findSpaced},
	{levelGaps, findUnspaced},
}

func findPlain(q quest) []span {
	var out []span
	for _, i := range places(q.view.text, q.old) {
		out = append(out, span{i, i + len(q.old), q.new})
	}
	return out
}

// findUnnumbered looks for old without the marks of a reading; what then does not match to the letter is given a
// chance on the looser levels by locate.
func findUnnumbered(q quest) []span {
	bare, ok := q.unnumbered()
	if !ok {
		return nil
	}
	return findPlain(bare)
}

var numbered = regexp.MustCompile(`^[ ]*L?([0-9]+)(?:\t|→|: ?| ?│ ?| ?\| ?)`)

// unnumbered takes line numbers, or one and the same diff mark, off every line.
func (q quest) unnumbered() (quest, bool) {
	old, ok := stripNumbers(q.old)
	strip := stripSomeNumbers
	if !ok {
		old, ok = stripMarks(q.old)
		strip = func(s string) string {
			if bare, every := stripMarks(s); every {
				return bare
			}
			return s
		}
	}
	if !ok || strings.TrimSpace(old) == "" {
		return q, false
	}
	q.old, q.new = old, strip(q.new)
	return q, true
}

func stripNumbers(text string) (string, bool) {
	lines := strings.Split(text, "\n")
	before := 0
	for i, line := range lines {
		if line == "" && i == len(lines)-1 && i > 0 {
			break
		}
		m := numbered.FindStringSubmatchIndex(line)
		if m == nil {
			return "", false
		}
		n, err := strconv.Atoi(line[m[2]:m[3]])
		if err != nil || i > 0 && n != before+1 {
			return "", false
		}
		before = n
		lines[i] = line[m[1]:]
	}
	return strings.Join(lines, "\n"), true
}

func stripSomeNumbers(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if m := numbered.FindStringIndex(line); m != nil {
			lines[i] = line[m[1]:]
		}
	}
	return strings.Join(lines, "\n")
}

func stripMarks(text string) (string, bool) {
	if text == "" || !strings.ContainsRune("+-", rune(text[0])) {
		return "", false
	}
	mark := text[:1]
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		switch {
		case strings.HasPrefix(line, mark):
			lines[i] = line[1:]
		case line == "" && i == len(lines)-1:
		default:
			return "", false
		}
	}
	return strings.Join(lines, "\n"), true
}

// findFolded compares without blanks at line ends, and without typography when plain. When that finds nothing, one
// blank line that only old has may go from its start, its end, or both.
func findFolded(q quest, plain bool) []span {
	text := foldLines(q.view.text, plain)
	for _, try := range q.trimmed() {
		old := foldLines(try.old, plain).text
		if strings.TrimSpace(old) == "" {
			continue
		}
		edge := !strings.HasSuffix(try.old, "\n") && strings.TrimRightFunc(try.old, unicode.IsSpace) != try.old
		spans := text.find(old, edge)
		if len(spans) == 0 && strings.HasSuffix(old, "\n") && !strings.HasSuffix(q.view.text, "\n") {
			// The file's last line has no line feed: neither gets the new text.
			for _, s := range text.find(strings.TrimSuffix(old, "\n"), true) {
				if strings.TrimSpace(q.view.text[s.end:]) == "" {
					s.end = len(q.view.text)
					spans = append(spans, s)
				}
			}
			try.new = strings.TrimSuffix(try.new, "\n")
		}
		for i := range spans {
			spans[i].text = try.new
		}
		if len(spans) > 0 {
			return spans
		}
	}
	return nil
}

// trimmed is the quest as it is, then without a blank line at the start, at the end, at both.
func (q quest) trimmed() []quest {
	out := []quest{q}
	start, okStart := q.withoutFirst()
	if okStart {
		out = append(out, start)
	}
	if end, ok := q.withoutLast(); ok {
		out = append(out, end)
	}
	if okStart {
		if both, ok := start.withoutLast(); ok {
			out = append(out, both)
		}
	}
	return out
}

func (q quest) withoutFirst() (quest, bool) {
	first, rest, more := strings.Cut(q.old, "\n")
	if !more || strings.TrimSpace(first) != "" {
		return q, false
	}
	q.old = rest
	if first, rest, more := strings.Cut(q.new, "\n"); more && strings.TrimSpace(first) == "" {
		q.new = rest
	}
	return q, true
}

func (q quest) withoutLast() (quest, bool) {
	cut := func(s string) (string, bool) {
		body := strings.TrimSuffix(s, "\n")
		i := strings.LastIndexByte(body, '\n')
		if i < 0 || strings.TrimSpace(body[i+1:]) != "" {
			return s, false
		}
		return s[:i] + s[len(body):], true
	}
	old, ok := cut(q.old)
	if !ok {
		return q, false
	}
	q.old = old
	q.new, _ = cut(q.new)
	return q, true
}

var unescaped = strings.NewReplacer(`\r\n`, "\n", `\n`, "\n", `\t`, "\t", `\"`, `"`, `\\`, `\`)

func findUnescaped(q quest) []span {
	if strings.Contains(q.old, "\n") {
		return nil
	}
	old := unescaped.Replace(q.old)
	if old == q.old || !substantial(old) {
		return nil
	}
	q.old = old
	if !strings.Contains(q.new, "\n") {
		q.new = unescaped.Replace(q.new) // real line ends in new say that its escapes are meant
	}
	for _, find := range []func(quest) []span{findPlain, func(q quest) []span { return findFolded(q, true) }} {
		if spans := find(q); len(spans) > 0 {
			return spans
		}
	}
	return nil
}

// substantial text is long enough not to be found by chance: two lines, or twelve letters in one.
func substantial(text string) bool {
	lines, letters := 0, 0
	for line := range strings.SplitSeq(text, "\n") {
		n := 0
		for _, r := range line {
			if !unicode.IsSpace(r) {
				n++
			}
		}
		if n > 0 {
			lines++
		}
		letters = max(letters, n)
	}
	return lines >= 2 || letters >= 12
}

// locate climbs the ladder. The spans it gives are of the view; none means no level found the text.
func (q quest) locate(strict bool) ([]span, string) {
	for _, r := range rungs {
		if strict && r.level != levelEnds {
			break
		}
		spans := r.find(q)
		if len(spans) == 0 && r.level > levelNumbers {
			if bare, ok := q.unnumbered(); ok {
				spans = r.find(bare)
			}
		}
		if q.all && r.level > levelLetters && len(spans) > 1 {
			break // that loosely, only the one place is certain
		}
		if len(spans) > 0 {
			return spans, r.level
		}
	}
	return nil, ""
}
