package action

import (
	"regexp"
	"strconv"
	"strings"
)

const (
	noFile     = "/dev/null"
	noNewline  = `\ No newline`
	gitHeader  = "diff --git "
	renameFrom = "rename from "
	renameTo   = "rename to "
)

var hunkRange = regexp.MustCompile(`^@@+ +-(\d+)(?:,(\d+))? +\+\d+(?:,\d+)? +@@`)

// unifiedAt tells where a unified diff begins in a text, as diff -u or git diff write it; -1 when there is none.
func unifiedAt(lines []string) int {
	for i, line := range lines {
		if strings.HasPrefix(line, gitHeader) || unifiedHeader(lines, i) {
			return i
		}
	}
	return -1
}

// unifiedHeader tells whether a file of a diff begins at a line: "---", "+++", and then a hunk or nothing more. A
// removed line that begins with two dashes looks like the first of them.
func unifiedHeader(lines []string, i int) bool {
	if i+1 >= len(lines) || !strings.HasPrefix(lines[i], "--- ") || !strings.HasPrefix(lines[i+1], "+++ ") {
		return false
	}
	for _, line := range lines[i+2:] {
		if strings.TrimSpace(line) != "" {
			return strings.HasPrefix(line, "@@") || strings.HasPrefix(line, gitHeader) || strings.HasPrefix(line, "--- ")
		}
	}
	return true
}

// unifiedReader takes a unified diff apart. The counts of its hunks are not believed: models count badly.
type unifiedReader struct {
	lines []string
	at    int
	out   Parsed
}

func (u *unifiedReader) bad(kind PatchErrorKind) error {
	e := &PatchError{Kind: kind, Line: min(u.at+1, len(u.lines))}
	if u.at < len(u.lines) {
		e.Block = u.lines[u.at]
	}
	if n := len(u.out.Hunks); n > 0 {
		e.Path = u.out.Hunks[n-1].Path
	}
	return e
}

func (u *unifiedReader) more() bool { return u.at < len(u.lines) }

// starts tells whether a new file begins here.
func (u *unifiedReader) starts() bool {
	return strings.HasPrefix(u.lines[u.at], gitHeader) || unifiedHeader(u.lines, u.at)
}

// read takes one file after the other. path, unless it is empty, is the only file and needs no header.
func (u *unifiedReader) read(path string) (Parsed, error) {
	if path != "" && strings.HasPrefix(u.lines[u.at], "@@") {
		if err := u.hunks(Hunk{Kind: Modified, Path: path, Line: u.at + 1, Unified: true}); err != nil {
			return Parsed{}, err
		}
	}
	for u.more() {
		switch {
		case u.starts():
			if err := u.file(); err != nil {
				return Parsed{}, err
			}
		case strings.TrimSpace(u.lines[u.at]) == "":
			u.at++
		default:
			return Parsed{}, u.bad(BadHunk)
		}
	}
	if path == "" {
		return u.out, nil
	}
	if len(u.out.Hunks) != 1 {
		return Parsed{}, &PatchError{Kind: OnePath, Path: path, Line: 1}
	}
	u.out.Hunks[0].Path, u.out.Hunks[0].other = path, ""
	return u.out, nil
}

// file reads the header of a file and its hunks.
func (u *unifiedReader) file() error {
	h := Hunk{Kind: Modified, Line: u.at + 1, Unified: true}
	var from, to, movedFrom, movedTo string
	for ; u.more() && !strings.HasPrefix(u.lines[u.at], "@@"); u.at++ {
		line := u.lines[u.at]
		switch {
		case strings.HasPrefix(line, "--- "):
			from = headerPath(line[4:])
		case strings.HasPrefix(line, "+++ "):
			to = headerPath(line[4:])
		case strings.HasPrefix(line, renameFrom):
			movedFrom = headerPath(line[len(renameFrom):])
		case strings.HasPrefix(line, renameTo):
			movedTo = headerPath(line[len(renameTo):])
		case strings.HasPrefix(line, "deleted file"):
			h.Kind = Deleted
		case strings.HasPrefix(line, "new file"):
			h.Kind = Added
		case strings.HasPrefix(line, "Binary files "), strings.HasPrefix(line, "GIT binary patch"):
			return u.bad(BinaryPart)
		case u.at >= h.Line && u.starts():
			return u.add(h, from, to, movedFrom, movedTo)
		case strings.HasPrefix(line, gitHeader) && u.at == h.Line-1:
			if a, b, ok := strings.Cut(line[len(gitHeader):], " b/"); ok && strings.HasPrefix(a, "a/") {
				from, to = a, "b/"+b // for a file without hunks; the two lines that follow say it better
			}
		}
		if strings.HasPrefix(line, "+++ ") && u.at+1 < len(u.lines) && !strings.HasPrefix(u.lines[u.at+1], "@@") {
			u.at++
			break
		}
	}
	return u.add(h, from, to, movedFrom, movedTo)
}

// headerPath is a path of a header line without the time behind it, quotes, and blanks.
func headerPath(text string) string {
	text, _, _ = strings.Cut(text, "\t")
	text = strings.TrimSpace(text)
	if bare, err := strconv.Unquote(text); err == nil && strings.HasPrefix(text, `"`) {
		return bare
	}
	return text
}

// add settles what happens to the file, and reads its hunks.
func (u *unifiedReader) add(h Hunk, from, to, movedFrom, movedTo string) error {
	switch {
	case from == noFile && to == noFile:
		return u.bad(BadHeader)
	case from == noFile:
		h.Kind, h.Path = Added, to
	case to == noFile:
		h.Kind, h.Path = Deleted, from
	case movedFrom != "" && movedTo != "":
		h.Kind, h.Path, h.To = Moved, movedFrom, movedTo
	case h.Kind == Added:
		h.Path = to
	case from != "":
		h.Path = from
		a, b := withoutPrefix(from, "a/"), withoutPrefix(to, "b/")
		if to != "" && a != b && from != to && !strings.HasSuffix(from, ".orig") {
			h.Kind, h.To = Moved, b
		} else if to != "" && strings.HasSuffix(from, ".orig") {
			h.Path = to
		}
	default:
		h.Path = to
	}
	if h.Path == "" {
		return u.bad(BadHeader)
	}
	if h.Kind != Moved || movedFrom == "" {
		for _, prefix := range []string{"a/", "b/"} {
			if bare := withoutPrefix(h.Path, prefix); bare != h.Path {
				h.Path, h.other = bare, h.Path
				break
			}
		}
	}
	return u.hunks(h)
}

func withoutPrefix(path, prefix string) string {
	if bare, ok := strings.CutPrefix(path, prefix); ok && bare != "" {
		return bare
	}
	return path
}

// hunks reads what follows a header.
func (u *unifiedReader) hunks(h Hunk) error {
	zero := false // a hunk says that the file was empty
	for u.more() && strings.HasPrefix(u.lines[u.at], "@@") {
		b := Block{Line: u.at + 1}
		if m := hunkRange.FindStringSubmatch(u.lines[u.at]); m != nil {
			b.Hint, _ = strconv.Atoi(m[1])
			zero = zero || m[1] == "0" && m[2] == "0"
		}
		u.at++
		u.body(&h, &b)
		if len(b.Lines) == 0 {
			u.at = b.Line - 1
			return u.bad(EmptyBlock)
		}
		h.Blocks = append(h.Blocks, b)
	}
	for u.more() && strings.TrimSpace(u.lines[u.at]) == "" {
		u.at++
	}
	switch h.Kind {
	case Added:
		h.Lines = addedLines(h.Blocks)
		h.Blocks = nil
	case Deleted:
		h.Blocks = nil
	case Modified:
		if len(h.Blocks) == 0 {
			u.at = h.Line - 1
			return u.bad(EmptyUpdate)
		}
		h.create = zero
	}
	u.out.Hunks = append(u.out.Hunks, h)
	return nil
}

// body reads the lines of one hunk.
func (u *unifiedReader) body(h *Hunk, b *Block) {
	blank := 0
	for ; u.more() && !strings.HasPrefix(u.lines[u.at], "@@") && !u.starts(); u.at++ {
		line := u.lines[u.at]
		if line == "" {
			blank++ // an empty line of context that lost its blank, unless nothing follows
			continue
		}
		for ; blank > 0; blank-- {
			b.Lines = append(b.Lines, PatchLine{Op: ' ', Line: u.at + 1 - blank})
		}
		switch {
		case strings.HasPrefix(line, noNewline):
			if n := len(b.Lines); n > 0 && b.Lines[n-1].Op != '-' {
				h.NoEnd = true
			}
		case strings.ContainsRune(" -+", rune(line[0])):
			b.Lines = append(b.Lines, PatchLine{Op: line[0], Text: line[1:], Line: u.at + 1})
		default:
			b.Lines = append(b.Lines, PatchLine{Text: line, Line: u.at + 1})
		}
	}
}

func addedLines(blocks []Block) []string {
	var out []string
	for _, b := range blocks {
		for _, l := range b.Lines {
			if l.Op != '-' {
				out = append(out, l.Text)
			}
		}
	}
	return out
}
