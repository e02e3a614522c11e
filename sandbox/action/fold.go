package action

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// folded is a text with some differences taken out, and the way back: byte i came from from[i] up to to[i].
type folded struct {
	text string
	from []int
	to   []int
}

type folding struct {
	b        strings.Builder
	from, to []int
}

func (f *folding) add(s string, from, to int) {
	f.b.WriteString(s)
	for range len(s) {
		f.from = append(f.from, from)
		f.to = append(f.to, to)
	}
}

// foldLines takes blanks off line ends and, when plain, spells typographic letters the plain way.
func foldLines(text string, plain bool) folded {
	var f folding
	for start := 0; start < len(text); {
		end := strings.IndexByte(text[start:], '\n')
		next := start + end + 1
		if end < 0 {
			end, next = len(text)-start, len(text)
		}
		line := strings.TrimRightFunc(text[start:start+end], unicode.IsSpace)
		if plain {
			f.plain(line, start)
		} else {
			for i := range len(line) {
				f.add(line[i:i+1], start+i, start+i+1)
			}
		}
		if start+end < next {
			f.add("\n", start+end, next)
		}
		start = next
	}
	return folded{f.b.String(), f.from, f.to}
}

func (f *folding) plain(line string, at int) {
	var it norm.Iter
	it.InitString(norm.NFC, line)
	for !it.Done() {
		from := it.Pos()
		segment := it.Next()
		for _, r := range string(segment) {
			f.add(plainLetter(r), at+from, at+it.Pos())
		}
	}
}

// plainText folds without remembering the way back.
func plainText(s string) string {
	var b strings.Builder
	for _, r := range norm.NFC.String(s) {
		b.WriteString(plainLetter(r))
	}
	return b.String()
}

// plainLetter is what a keyboard has for a typographic letter.
func plainLetter(r rune) string {
	switch {
	case r < 0x80:
		return string(r)
	case r >= 0x2010 && r <= 0x2015, r == 0x2212:
		return "-"
	case r >= 0x2018 && r <= 0x201b:
		return "'"
	case r >= 0x201c && r <= 0x201f:
		return `"`
	case r == 0x00a0, r >= 0x2002 && r <= 0x200a, r == 0x202f, r == 0x205f, r == 0x3000:
		return " "
	case r == 0x2026:
		return "..."
	}
	return string(r)
}

// span is a part of a text to be replaced.
type span struct {
	start, end int
	text       string
}

// find gives every place of old in the folded text, as places of the original. With edge, old must end a line.
func (f folded) find(old string, edge bool) []span {
	var out []span
	for _, i := range places(f.text, old) {
		end := i + len(old)
		if edge && end < len(f.text) && f.text[end] != '\n' {
			continue
		}
		out = append(out, span{start: f.from[i], end: f.to[end-1]})
	}
	return out
}

// places are the offsets of old in text. Those that overlap count too: two ways to replace are one too many.
func places(text, old string) []int {
	var out []int
	for from := 0; ; {
		i := strings.Index(text[from:], old)
		if i < 0 {
			return out
		}
		out = append(out, from+i)
		from += i + 1
	}
}
