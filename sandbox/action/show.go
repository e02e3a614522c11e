package action

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// sequenceMost is how far the end of a control sequence is looked for; one that goes on longer is no sequence.
const sequenceMost = 4096

// Plain takes out of a text what would act on a terminal instead of being shown. Lines, tabs and printable characters
// stay; a carriage return writes over the line, as it would on a screen. It is for people; Clean, which keeps of a line
// only what was written last, is for what a model reads.
func Plain(text string) string {
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
		if n := control(runes); n > 0 {
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

// control is the length of the control sequence at the start of runes, 0 when there is none.
func control(runes []rune) int {
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
	end := min(len(runes), sequenceMost)
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

// Shown is Plain for what a person must be able to trust, such as paths, commands, names and errors: characters that
// reorder, hide or imitate text are spelled out as \u{202E}. Lines stay; ShownLine has one.
func Shown(text string) string {
	text = Plain(text)
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

// ShownLine is Shown on one line.
func ShownLine(text string) string {
	return strings.NewReplacer("\n", " ", "\t", " ").Replace(Shown(text))
}

// deceptive are controls of direction, what has no width or looks like a blank, marks of interlinear text, and tags and
// selectors that hide a text inside another. The selector that makes an emoji colourful is none.
func deceptive(r rune) bool {
	switch {
	case r < 0x80:
		return false
	case r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f, r >= 0x180b && r <= 0x180f,
		r >= 0xfe00 && r < 0xfe0f, r >= 0xfff0 && r <= 0xfffb, r >= 0xe0000 && r <= 0xe0fff, r >= 0x1d173 && r <= 0x1d17a:
		return true
	}
	switch r {
	case 0xad, 0x034f, 0x061c, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x2800, 0x3164, 0xfeff, 0xffa0:
		return true
	}
	return false
}
