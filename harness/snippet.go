package harness

import (
	"fmt"
	"strings"

	"interpreter/sandbox/action"
)

// Excerpt is a part of a file in its lines.
type Excerpt struct {
	Text     string // without a final line break
	From, To int    // 1-based lines; To is 0 when there is nothing to show
	Total    int    // lines of the file
}

// ChangedLines shows what a change made of a file: the changed lines with so many around them, at most so many in all.
func ChangedLines(f action.FileChange, around, most int) Excerpt {
	if f.First < 1 || f.After == "" {
		return Excerpt{}
	}
	lines := strings.Split(strings.TrimSuffix(f.After, "\n"), "\n")
	from := max(1, f.First-around)
	to := min(len(lines), max(f.Last, f.First)+around, from+most-1)
	if from > to {
		return Excerpt{}
	}
	return Excerpt{Text: strings.Join(lines[from-1:to], "\n"), From: from, To: to, Total: len(lines)}
}

// ChangeNotes are the remarks of a change, a line in brackets each, with a line break before every one.
func ChangeNotes(c action.Changed) string {
	text := ""
	for _, n := range c.Notes {
		text += "\n[" + n + "]"
	}
	return text
}

// Loosely says in such a line what an edit was forgiven when its old text was not the file's to the letter.
func Loosely(c action.Changed) string {
	what := map[string]string{
		"E2": "line numbers or diff marks were taken off the text you gave",
		"E3": "white space at line ends was ignored",
		"E4": "quotes, dashes or blanks of another kind were taken for those of the file",
		"E5": "escapes such as \\n were read as what they stand for",
		"E6": "the indentation was shifted to the file's",
		"E7": "the indentation was ignored",
		"E8": "runs of blanks were taken for one",
		"E9": "blank lines were ignored",
	}[c.Level]
	if what == "" {
		return ""
	}
	return "\n[Not matched to the letter: " + what + ". See that the result is what you meant.]"
}

// LineCount is how many lines a text has; a last one without a line break counts.
func LineCount(text string) int {
	if text == "" {
		return 0
	}
	return strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1
}

// Lines is that number in words: "1 line", "12 lines".
func Lines(text string) string {
	if n := LineCount(text); n != 1 {
		return fmt.Sprintf("%d lines", n)
	}
	return "1 line"
}
