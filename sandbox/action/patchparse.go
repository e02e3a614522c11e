package action

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// Parsed is a patch taken apart, nothing of it checked against a file yet.
type Parsed struct {
	Hunks []Hunk
	Notes []string // what was tolerated
}

// Hunk is what a patch wants of one file.
type Hunk struct {
	Kind   ChangeKind
	Path   string // as spelled
	To     string // of Moved
	Line   int    // 1-based line in the patch
	Lines  []string
	Blocks []Block

	Unified bool // of a unified diff: a last line without an end stays so
	NoEnd   bool // the file is to end without a line break
	Fuzz    int  // lines of context at the ends of a block that need not fit

	whole  *string // the whole new content, of Patch.Whole
	other  string  // the path with its a/ or b/, should only that exist
	create bool    // an update that only adds may make the file
}

// Block is one place of an updated file.
type Block struct {
	Anchors []string // lines to go past first, in order
	Hint    int      // a line number where the place may be; 0 when none was given
	Lines   []PatchLine
	End     bool // the block ends the file
	Line    int
}

// PatchLine is a line of a block. Op is ' ', '-' or '+'; 0 marks a line without a prefix, which counts as context
// only if the file has exactly that line there.
type PatchLine struct {
	Op   byte
	Text string
	Line int
}

const (
	beginMark  = "*** Begin Patch"
	endMark    = "*** End Patch"
	addMark    = "*** Add File: "
	deleteMark = "*** Delete File: "
	updateMark = "*** Update File: "
	moveMark   = "*** Move to: "
	eofMark    = "*** End of File"
	envMark    = "*** Environment ID: "
)

// ParsePatch reads a patch, in the apply_patch format or as a unified diff. Wrappers that models put around one are
// peeled off: a code fence, a here-document, the JSON of a tool call, lines before and behind it. The error is a
// *PatchError.
func ParsePatch(text string) (Parsed, error) { return parsePatch(text, "") }

// parsePatch reads a patch; a unified diff of one file is for path unless that is empty.
func parsePatch(text, path string) (Parsed, error) {
	body := unwrapPatch(text)
	lines := strings.Split(trimBlankLines(unix(body)), "\n")
	if !strings.HasPrefix(lines[0], beginMark) {
		if at := unifiedAt(lines); at >= 0 {
			u := unifiedReader{lines: lines, at: at}
			return u.read(path)
		}
		if path != "" && strings.HasPrefix(lines[0], "@@") {
			u := unifiedReader{lines: lines}
			return u.read(path)
		}
	}
	if last := len(lines) - 1; strings.TrimSpace(lines[last]) == endMark {
		lines[last] = endMark // inside an update an indented one would be context
	}
	p := patchReader{lines: lines}
	switch {
	case strings.TrimSpace(lines[0]) == beginMark:
		p.at = 1
	case p.marker():
		p.out.Notes = append(p.out.Notes, "the patch had no begin marker")
	default:
		return Parsed{}, &PatchError{Kind: BadBegin, Line: 1, Block: lines[0]}
	}
	return p.read()
}

var (
	fence   = regexp.MustCompile("(?s)\\A(```+|~~~+)[^\\n`]*\\n(.*?)\\n?[ \\t]*(```+|~~~+)[ \\t]*\\z")
	heredoc = regexp.MustCompile(`\A(?:apply_?patch[ \t]+)?<<-?[ \t]*(?:'(\w+)'|"(\w+)"|(\w+))[ \t]*\r?\n`)
)

// unwrapPatch peels wrappers until none is left.
func unwrapPatch(text string) string {
	for range 5 {
		text = trimBlankLines(strings.TrimPrefix(text, bomUTF8))
		if strings.HasPrefix(text, beginMark) {
			break
		}
		inner, ok := unfence(text)
		if !ok {
			inner, ok = unquoteHeredoc(text)
		}
		if !ok {
			inner, ok = unwrapJSON(text)
		}
		if !ok {
			inner, ok = between(text)
		}
		if !ok {
			break
		}
		text = inner
	}
	return text
}

// bareDiff is the beginning of a unified diff, which no marker ends.
var bareDiff = regexp.MustCompile(`\A(--- |diff |@@ )`)

// trimBlankLines takes off what is blank at the start, and blank lines at the end: the blanks at the end of a last line
// may be part of a patch, and in a unified diff a line of one blank is an empty line of the file.
func trimBlankLines(text string) string {
	text = strings.TrimLeftFunc(text, unicode.IsSpace)
	bare := bareDiff.MatchString(text)
	for {
		i := strings.LastIndexByte(text, '\n')
		if i < 0 || strings.TrimSpace(text[i:]) != "" || bare && text[i:] == "\n " {
			return text
		}
		text = text[:i]
	}
}

func unfence(text string) (string, bool) {
	m := fence.FindStringSubmatch(text)
	if m == nil {
		return "", false
	}
	return m[2], true
}

// between is the one patch that stands, with both its marks, among other lines: words about it, a command around it.
func between(text string) (string, bool) {
	lines := strings.Split(text, "\n")
	begin, end := -1, -1
	for i, line := range lines {
		switch strings.TrimSpace(line) {
		case beginMark:
			if begin >= 0 {
				return "", false
			}
			begin = i
		case endMark:
			if begin < 0 || end >= 0 {
				return "", false
			}
			end = i
		}
	}
	if begin < 0 || end < 0 {
		return "", false
	}
	return strings.Join(lines[begin:end+1], "\n"), true
}

func unquoteHeredoc(text string) (string, bool) {
	m := heredoc.FindStringSubmatchIndex(text)
	if m == nil {
		return "", false
	}
	word := ""
	for i := 2; i < len(m); i += 2 {
		if m[i] >= 0 {
			word = text[m[i]:m[i+1]]
		}
	}
	body := text[m[1]:]
	i := strings.LastIndexByte(body, '\n')
	if i < 0 || strings.TrimSpace(body[i+1:]) != word {
		return "", false
	}
	return body[:i], true
}

// unwrapJSON finds the patch in arguments of a tool call, or of a shell call that runs apply_patch.
func unwrapJSON(text string) (string, bool) {
	if text == "" || !strings.ContainsRune(`{["`, rune(text[0])) {
		return "", false
	}
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return "", false
	}
	return patchIn(v)
}

func patchIn(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, strings.Contains(v, beginMark) || unifiedAt(strings.Split(unix(v), "\n")) >= 0
	case []any:
		for _, item := range v {
			if s, ok := patchIn(item); ok {
				return s, true
			}
		}
	case map[string]any:
		for _, key := range []string{"input", "patch", "diff", "command", "cmd", "arguments", "content"} {
			if s, ok := patchIn(v[key]); ok {
				return s, true
			}
		}
	}
	return "", false
}

type patchReader struct {
	lines []string
	at    int
	out   Parsed
}

// bad is an error at the current line.
func (p *patchReader) bad(kind PatchErrorKind) error {
	e := &PatchError{Kind: kind, Line: min(p.at+1, len(p.lines))}
	if p.at < len(p.lines) {
		e.Block = p.lines[p.at]
	}
	if n := len(p.out.Hunks); n > 0 {
		e.Path = p.out.Hunks[n-1].Path
	}
	return e
}

func (p *patchReader) more() bool { return p.at < len(p.lines) }

// sloppy are markers without the blank behind their stars.
var sloppy = regexp.MustCompile(`^\*\*\*(Add|Delete|Update) File:|^\*\*\*Move to:`)

// starred is a line as it would be with that blank.
func starred(line string) string {
	if sloppy.MatchString(line) {
		return "*** " + line[len("***"):]
	}
	return line
}

// mark tells whether the current line is a marker, and what follows it.
func (p *patchReader) mark(name string) (string, bool) {
	line := starred(strings.TrimSpace(p.lines[p.at]))
	rest, ok := strings.CutPrefix(line+" ", name)
	return strings.TrimSpace(rest), ok
}

func (p *patchReader) read() (Parsed, error) {
	if p.more() {
		if _, ok := p.mark(envMark); ok {
			p.at++
		}
	}
	for p.more() {
		line := strings.TrimSpace(p.lines[p.at])
		if line == "" {
			p.at++
			continue
		}
		if line == endMark {
			return p.out, p.nothingFollows()
		}
		if err := p.hunk(); err != nil {
			return Parsed{}, err
		}
	}
	if len(p.out.Hunks) == 0 {
		return Parsed{}, &PatchError{Kind: BadEnd, Line: len(p.lines)}
	}
	p.out.Notes = append(p.out.Notes, "the patch had no end marker")
	return p.out, nil
}

func (p *patchReader) nothingFollows() error {
	for p.at++; p.more(); p.at++ {
		if strings.TrimSpace(p.lines[p.at]) != "" {
			return p.bad(BadEnd)
		}
	}
	return nil
}

func (p *patchReader) hunk() error {
	h := Hunk{Line: p.at + 1}
	if path, ok := p.mark(addMark); ok {
		h.Kind, h.Path = Added, path
	} else if path, ok := p.mark(deleteMark); ok {
		h.Kind, h.Path = Deleted, path
	} else if path, ok := p.mark(updateMark); ok {
		h.Kind, h.Path = Modified, path
	}
	if h.Path == "" {
		return p.bad(BadHeader)
	}
	p.out.Hunks = append(p.out.Hunks, h)
	p.at++
	last := &p.out.Hunks[len(p.out.Hunks)-1]
	switch h.Kind {
	case Added:
		p.added(last)
	case Modified:
		return p.update(last)
	}
	return nil
}

// marker tells whether the current line begins something new.
func (p *patchReader) marker() bool {
	line := starred(strings.TrimRight(p.lines[p.at], " \t"))
	for _, m := range []string{endMark, strings.TrimSpace(addMark), strings.TrimSpace(deleteMark), strings.TrimSpace(updateMark)} {
		if strings.HasPrefix(line, m) {
			return true
		}
	}
	return false
}

// blank lines are part of an added file only when more of it follows.
func (p *patchReader) added(h *Hunk) {
	blank := 0
	for ; p.more() && !p.marker(); p.at++ {
		line := p.lines[p.at]
		text, ok := strings.CutPrefix(line, "+")
		if !ok {
			if strings.TrimSpace(line) != "" {
				return
			}
			blank++
			continue
		}
		for ; blank > 0; blank-- {
			h.Lines = append(h.Lines, "")
		}
		h.Lines = append(h.Lines, text)
	}
}

func (p *patchReader) update(h *Hunk) error {
	for p.more() && strings.TrimSpace(p.lines[p.at]) == "" {
		p.at++
	}
	if p.more() {
		if to, ok := p.mark(moveMark); ok && to != "" {
			h.Kind, h.To = Moved, to
			p.at++
		}
	}
	for p.more() && !p.marker() {
		if strings.TrimSpace(p.lines[p.at]) == "" && (len(h.Blocks) == 0 || p.onlyBlank() || h.Blocks[len(h.Blocks)-1].End) {
			p.at++
			continue
		}
		if len(h.Blocks) > 0 && !strings.HasPrefix(p.lines[p.at], "@@") {
			return p.bad(NoAnchor)
		}
		b, err := p.block()
		if err != nil {
			return err
		}
		h.Blocks = append(h.Blocks, b)
	}
	if len(h.Blocks) == 0 && h.Kind != Moved {
		p.at = h.Line - 1
		return p.bad(EmptyUpdate)
	}
	return nil
}

// onlyBlank tells whether nothing but blank lines comes before the next header or the end.
func (p *patchReader) onlyBlank() bool {
	for i := p.at; i < len(p.lines); i++ {
		if strings.TrimSpace(p.lines[i]) != "" {
			probe := patchReader{lines: p.lines, at: i}
			return probe.marker()
		}
	}
	return true
}

var unifiedRange = regexp.MustCompile(`^@@ +-(\d+)(?:,\d+)? +\+\d+(?:,\d+)? +@@`)

func (p *patchReader) block() (Block, error) {
	b := Block{Line: p.at + 1}
	for ; p.more() && strings.HasPrefix(p.lines[p.at], "@@"); p.at++ {
		line := p.lines[p.at]
		if m := unifiedRange.FindStringSubmatch(line); m != nil {
			b.Hint, _ = strconv.Atoi(m[1])
			continue
		}
		if text := strings.TrimPrefix(strings.TrimPrefix(line, "@@"), " "); strings.TrimSpace(text) != "" {
			b.Anchors = append(b.Anchors, strings.TrimRight(text, " \t"))
		}
	}
	for ; p.more() && !p.marker() && !strings.HasPrefix(p.lines[p.at], "@@"); p.at++ {
		line := p.lines[p.at]
		if strings.TrimRight(line, " \t") == eofMark {
			b.End = true
			p.at++
			break
		}
		l := PatchLine{Line: p.at + 1}
		switch {
		case line == "":
			if p.onlyBlank() {
				continue
			}
			l.Op = ' '
		case strings.ContainsRune(" -+", rune(line[0])):
			l.Op, l.Text = line[0], line[1:]
		case line[0] == '\\' && strings.HasPrefix(line, `\ No newline`):
			continue
		default:
			l.Text = line
		}
		b.Lines = append(b.Lines, l)
	}
	if len(b.Lines) == 0 {
		p.at = b.Line - 1
		return b, p.bad(EmptyBlock)
	}
	for _, l := range b.Lines {
		if l.Op != 0 {
			return b, nil
		}
	}
	p.at = b.Lines[0].Line - 1
	return b, p.bad(BadLine) // not one line has a prefix: this is no patch
}
