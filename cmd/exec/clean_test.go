package exec

import (
	"strings"
	"testing"
	"time"

	"interpreter/agent/event"
	"interpreter/sandbox"
	"interpreter/sandbox/action"
)

func TestClean(t *testing.T) {
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
		if got := clean(row.in); got != row.want {
			t.Errorf("%s: clean(%q) = %q, want %q", row.name, row.in, got, row.want)
		}
	}
	if got := clean("\x1b]0;" + strings.Repeat("x", 5000) + "\x07"); len(got) != 5002 {
		t.Errorf("a sequence that is too long swallows %d bytes", 5002-len(got))
	}
	if got, want := strict("a\u202eb\u200bc\U000e0041"), `a\u{202E}b\u{200B}c\u{E0041}`; got != want {
		t.Errorf("strict = %q, want %q", got, want)
	}
	if got := single("a\n\tb"); got != "a  b" {
		t.Errorf("single = %q", got)
	}
}

func FuzzClean(f *testing.F) {
	for _, seed := range []string{"\x1b[1m", "\x1b]0;", "a\rb", "\u009b", "\x1bP\x1b\\"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got := strict(text); strings.ContainsFunc(got, func(r rune) bool {
			return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || deceptive(r)
		}) {
			t.Errorf("strict(%q) = %q", text, got)
		}
	})
}

func TestUseColour(t *testing.T) {
	rows := []struct {
		choice   string
		terminal bool
		no       string
		want     bool
	}{
		{"auto", true, "", true}, {"", true, "", true}, {"auto", false, "", false}, {"auto", true, "1", false},
		{"always", false, "1", true}, {"never", true, "", false},
	}
	for _, row := range rows {
		if got, err := UseColour(row.choice, row.terminal, row.no); err != nil || got != row.want {
			t.Errorf("%+v: %t, %v", row, got, err)
		}
	}
	if _, err := UseColour("sometimes", true, ""); err == nil {
		t.Error("sometimes is no choice")
	}
}

func TestVerdicts(t *testing.T) {
	rows := []struct {
		out  action.Ran
		want string
	}{
		{action.Ran{Took: 812 * time.Millisecond}, "ok 812 ms\n"},
		{action.Ran{Took: 3200 * time.Millisecond, Exit: sandbox.Exit{Code: 2}}, "exit 2, 3.2 s\n"},
		{action.Ran{Took: 65 * time.Second, Exit: sandbox.Exit{Code: 137, Signal: "SIGKILL"}}, "killed by SIGKILL, 1 m 05 s\n"},
		{action.Ran{Took: 10 * time.Second, Exit: sandbox.Exit{Code: 124, TimedOut: true}}, "timed out after 10.0 s\n"},
		{action.Ran{Took: 10 * time.Second, Session: 4}, "still running as 4 after 10.0 s\n"},
	}
	for _, row := range rows {
		var b strings.Builder
		(&Human{Out: &b}).Event(event.Event{Body: event.Did{Status: event.Completed, Outcome: row.out}})
		if b.String() != row.want {
			t.Errorf("%q, want %q", b.String(), row.want)
		}
	}
	if got := shorten(strings.Repeat("x\n", 100), 10); len(got) != 11 || got[5] != "… 90 more lines …" {
		t.Errorf("shortened to %q", got)
	}
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 12345678: "12,345,678", -1234: "-1,234"} {
		if got := thousands(n); got != want {
			t.Errorf("thousands(%d) = %s", n, got)
		}
	}
}
