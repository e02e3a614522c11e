package action

import (
	"strings"
	"testing"
)

func TestPlain(t *testing.T) {
	rows := []struct{ name, in, want string }{
		{"plain", "a\tb\nü 😀", "a\tb\nü 😀"},
		{"colour", "\x1b[1;31mred\x1b[0m", "red"},
		{"title", "a\x1b]0;evil\x07b\x1b]8;;http://x\x1b\\c", "abc"},
		{"clipboard", "\x1b]52;c;ZXZpbA==\x07", ""},
		{"device strings", "a\x1bPq#0\x1b\\b\x1b_x\x1b\\c\x1b^y\x1b\\d\x1bXz\x1b\\e", "abcde"},
		{"single functions", "\x1bc\x1b(B\x1b7a\x1bM", "a"},
		{"C1", "a\u009b31mb\u009d0;t\u009cc\u0085d", "abcd"},
		{"bell, backspace, NUL, DEL", "a\x07\b\x00\x7fb", "ab"},
		{"carriage return", "10%\r100%\nabc\rx", "100%\nxbc"},
		{"CRLF", "a\r\nb\r\n", "a\nb\n"},
		{"broken off", "a\x1b[12", "a"},
		{"never ended", "a\x1b]0;text goes on", "a0;text goes on"},
		{"CSI cut by a line end", "\x1b[3\nb", "\nb"},
		{"lone escape", "a\x1b", "a"},
		{"bytes", "a\xffb", "a\ufffdb"},
	}
	for _, row := range rows {
		if got := Plain(row.in); got != row.want {
			t.Errorf("%s: Plain(%q) = %q, want %q", row.name, row.in, got, row.want)
		}
	}
	if got := Plain("\x1b]0;" + strings.Repeat("x", 5000) + "\x07"); len(got) != 5002 {
		t.Errorf("a sequence that is too long swallows %d bytes", 5002-len(got))
	}
	if got, want := Shown("a\u202eb\u200bc\U000e0041"), `a\u{202E}b\u{200B}c\u{E0041}`; got != want {
		t.Errorf("Shown = %q, want %q", got, want)
	}
	if got := ShownLine("a\n\tb"); got != "a  b" {
		t.Errorf("ShownLine = %q", got)
	}
}

func FuzzShown(f *testing.F) {
	for _, seed := range []string{"\x1b[1m", "\x1b]0;", "a\rb", "\u009b", "\x1bP\x1b\\"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got := Shown(text); strings.ContainsFunc(got, func(r rune) bool {
			return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || deceptive(r)
		}) {
			t.Errorf("Shown(%q) = %q", text, got)
		}
	})
}
