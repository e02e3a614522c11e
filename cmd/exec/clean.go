package exec

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// longest is how far the end of a control sequence is looked for; one that goes on longer is no sequence.
const longest = 4096

// clean takes out of a text what would act on a terminal instead of being shown. Lines, tabs and printable characters
// stay; a carriage return writes over the line, as it would on a screen.
func clean(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool {
		return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || r == utf8.RuneError
	}) {
		return text
	}
	var out strings.Builder
	var line []rune
	column := 0
	for runes := []rune(text); len(runes) > 0; {
		r := runes[0]
		if n := sequence(runes); n > 0 {
			runes = runes[n:]
			continue
		}
		runes = runes[1:]
		switch {
		case r == '\n':
			out.WriteString(string(line))
			out.WriteByte('\n')
			line, column = line[:0], 0
		case r == '\r':
			column = 0
		case r < ' ' && r != '\t', r >= 0x7f && r < 0xa0:
		case column < len(line):
			line[column] = r
			column++
		default:
			line = append(line, r)
			column++
		}
	}
	out.WriteString(string(line))
	return out.String()
}

// sequence is the length of the control sequence at the start of runes, 0 when there is none.
func sequence(runes []rune) int {
	kind, n := runes[0], 1
	if kind == 0x1b {
		if len(runes) == 1 {
			return 1
		}
		kind, n = runes[1]+0x40, 2 // ESC [ is the C1 code 0x9b, and so on
		if runes[1] < 0x40 || runes[1] > 0x5f {
			for n = 1; n < len(runes) && runes[n] >= 0x20 && runes[n] < 0x30; n++ {
			}
			return min(n+1, len(runes))
		}
	}
	end := min(len(runes), longest)
	switch kind {
	case 0x9b: // CSI
		for i := n; i < end; i++ {
			if runes[i] >= 0x40 && runes[i] <= 0x7e {
				return i + 1
			}
			if runes[i] < 0x20 || runes[i] > 0x7e {
				return i // broken off: what follows is text
			}
		}
		return end
	case 0x90, 0x98, 0x9d, 0x9e, 0x9f: // DCS, SOS, OSC, PM, APC
		for i := n; i < end; i++ {
			if runes[i] == 0x07 || runes[i] == 0x9c {
				return i + 1
			}
			if runes[i] == 0x1b && i+1 < len(runes) && runes[i+1] == '\\' {
				return i + 2
			}
		}
		return n
	}
	if n == 2 {
		return 2
	}
	return 0
}

// strict is clean for what a person must be able to trust: paths, commands, names. Characters that reorder or hide
// text are spelled out.
func strict(text string) string {
	text = clean(text)
	if !strings.ContainsFunc(text, deceptive) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if deceptive(r) {
			fmt.Fprintf(&b, `\u{%X}`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Harmless is strict for what is printed beside a run: names, errors and lists that servers and files tell.
func Harmless(text string) string { return strict(text) }

func deceptive(r rune) bool {
	return r >= 0x200b && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2060 && r <= 0x2069 ||
		r == 0x061c || r == 0x180e || r == 0x2028 || r == 0x2029 || r == 0xfeff || r >= 0xe0000 && r <= 0xe007f
}

// single is strict text on one line.
func single(text string) string {
	return strings.NewReplacer("\n", " ", "\t", " ").Replace(strict(text))
}
