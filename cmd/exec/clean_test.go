package exec

import (
	"strings"
	"testing"
	"time"

	"interpreter/agent/event"
	"interpreter/sandbox"
	"interpreter/sandbox/action"
)

// Every strength is the one of the house.
func TestClean(t *testing.T) {
	const raw = "a\x1b[31mb\u202ec\x07\n\td"
	for _, tt := range []struct{ name, got, want string }{
		{"clean", clean(raw), "ab\u202ec\n\td"}, {"strict", strict(raw), "ab\\u{202E}c\n\td"},
		{"single", single(raw), "ab\\u{202E}c  d"}, {"whole", whole(raw), "a\\u{1B}[31mb\\u{202E}c\\u{7}\n\td"}, {"Harmless", Harmless(raw), "ab\\u{202E}c\n\td"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, tt.got, tt.want)
		}
	}
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
