package harness

import (
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// Cut is what Clip took from the middle of a text.
type Cut struct {
	At    int // in the text that is left, where the middle was
	Bytes int
	Lines int // line breaks among them
}

// Clip shortens a text to at most bytes and, unless 0, at most lines, taking the middle out: head is the share, from
// 0 to 1, that stays from the beginning. It cuts at line breaks where that costs little, never inside a character.
func Clip(text string, bytes, lines int, head float64) (string, Cut) {
	from, to := len(text), len(text) // what is taken out
	if len(text) > bytes {
		from = int(float64(bytes) * head)
		to = len(text) - (bytes - from)
	}
	if lines > 0 {
		total := strings.Count(text, "\n")
		if !strings.HasSuffix(text, "\n") {
			total++
		}
		if total > lines {
			first := int(float64(lines) * head)
			last := len(text)
			if first < lines {
				last = nthBreak(text, total-(lines-first))
			}
			if from == len(text) { // the bytes alone would have fitted
				to = last
			}
			from, to = min(from, nthBreak(text, first)), max(to, last)
		}
	}
	if from >= to {
		return text, Cut{}
	}
	if at := strings.LastIndexByte(text[:from], '\n'); at >= from/2 && at >= 0 {
		from = at + 1
	}
	if at := strings.IndexByte(text[to:], '\n'); at >= 0 && at < (len(text)-to)/2 && to > 0 && text[to-1] != '\n' {
		to += at + 1
	}
	for from > 0 && from < len(text) && !utf8.RuneStart(text[from]) {
		from--
	}
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to++
	}
	return text[:from] + text[to:], Cut{At: from, Bytes: to - from, Lines: strings.Count(text[from:to], "\n")}
}

// nthBreak is the index behind the n-th line break; 0 for n = 0.
func nthBreak(text string, n int) int {
	at := 0
	for range n {
		at += strings.IndexByte(text[at:], '\n') + 1
	}
	return at
}

// Relative is a path as seen from a folder, slash-separated; one that lies elsewhere stays absolute.
func Relative(folder, path string) string {
	rel, err := filepath.Rel(folder, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return path
	}
	return filepath.ToSlash(rel)
}
