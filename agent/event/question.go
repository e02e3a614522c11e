package event

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"interpreter/sandbox/action"
)

// Lines are a question as text: what would happen to the letter, where, why it is asked, what a yes changes, and one line
// for each choice, which begins with its decision. Nothing in them acts on a terminal, and what would hide or reorder
// text is spelled out.
func (a Asked) Lines() []string {
	var lines []string
	add := func(label, text string) {
		if text != "" {
			lines = append(lines, under(label, text)...)
		}
	}
	switch {
	case len(a.Questions) > 0:
		for _, q := range a.Questions {
			add("", q.Text)
			for _, o := range q.Options {
				add("- ", o)
			}
		}
		return lines
	case a.Need.Effect == action.Runs:
		add("run: ", a.command())
		add("in: ", a.Dir)
		add("typed: ", a.Need.Typed)
	case len(a.Files) > 0:
		for _, f := range a.Files {
			add("write: ", strings.TrimSuffix(f.Path+" ("+f.Why+")", " ()"))
		}
	default:
		add("", a.Title)
	}
	add("because: ", a.Why)
	for _, p := range a.Parts {
		add("part: ", strings.TrimSuffix(words(p.Argv)+" ("+p.Why+")", " ()"))
	}
	for _, b := range a.Blocked {
		add("refused: ", b)
	}
	add("a yes means: ", a.Would)
	for _, c := range a.Choices {
		add(c.Decision+": ", c.Text)
	}
	return lines
}

// command is what would run: the script a shell is given, or else each word of the command.
func (a Asked) command() string {
	switch n := a.Need; {
	case n.Typed != "":
		return ""
	case n.Script != "":
		return n.Script
	case len(n.Argv) > 0:
		return words(n.Argv)
	}
	return a.Title
}

// words joins the words of a command so that one can be told from the next.
func words(argv []string) string {
	quoted := make([]string, len(argv))
	for i, w := range argv {
		if quoted[i] = w; w == "" || strings.ContainsFunc(w, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_@%+=:,./-", r)
		}) {
			quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

// under puts a label before a text; further lines of it stand below its beginning.
func under(label, text string) []string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	indent := strings.Repeat(" ", utf8.RuneCountInString(label))
	for i, line := range lines {
		before := indent
		if i == 0 {
			before = label
		}
		lines[i] = before + Shown(line)
	}
	return lines
}

// Shown is a line for a person who has to judge by it: control characters, characters that reorder text or take no
// room, and blanks that are not the blank of the keyboard are spelled out as \u{1B}, bytes that are no text as \x{FF}.
// Unlike action.Shown it leaves nothing out: a command is judged by all that a shell would be given.
func Shown(line string) string {
	var b strings.Builder
	for i, r := range line {
		_, size := utf8.DecodeRuneInString(line[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x{%02X}`, line[i])
		case hidden(r):
			fmt.Fprintf(&b, `\u{%X}`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// hidden reports characters that a person cannot see, or takes for another.
func hidden(r rune) bool {
	switch {
	case r == ' ' || r == '\t':
		return false
	case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Zs, unicode.Co):
		return true
	case r >= 0xe0000 && r <= 0xe0fff: // tags and the selectors behind them
		return true
	case r >= 0xfe00 && r <= 0xfe0f, r == 0x034f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x2800, r == 0x3164, r == 0xffa0:
		return true // selectors, joiners and fillers
	}
	return false
}
