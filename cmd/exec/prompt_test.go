package exec

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestPrompt(t *testing.T) {
	given := func(text string) Input { return Input{Argument: text, Given: true} }
	rows := []struct {
		name    string
		in      Input
		stdin   string
		want    string
		problem string
	}{
		{"absent, terminal", Input{Terminal: true}, "", "", "no prompt"},
		{"absent, piped", Input{}, "do it\n", "do it\n", ""},
		{"absent, blank", Input{}, " \n\t\n", "", "empty"},
		{"absent, nothing", Input{}, "", "", "empty"},
		{"dash", given("-"), "do it", "do it", ""},
		{"dash, terminal", Input{Argument: "-", Given: true, Terminal: true}, "typed\n", "typed\n", ""},
		{"dash, blank", given("-"), "\n", "", "empty"},
		{"dash, resumed", Input{Argument: "-", Given: true, Resume: true}, "more", "more", ""},
		{"text, terminal", Input{Argument: "fix", Given: true, Terminal: true}, "never read", "fix", ""},
		{"text, piped", given("fix"), "log line\n", "fix\n\n<stdin>\nlog line\n</stdin>", ""},
		{"text, piped without a line end", given("fix"), "log line", "fix\n\n<stdin>\nlog line\n</stdin>", ""},
		{"text, piped blank", given("fix"), " \n", "fix", ""},
		{"text, resumed", Input{Argument: "fix", Given: true, Resume: true}, "never read", "fix", ""},
		{"resumed without text", Input{Resume: true}, "go on", "go on", ""},
		{"blank text", given("  "), "", "", "empty"},
		{"blank text, resumed", Input{Argument: "", Given: true, Resume: true}, "", "", "empty"},
		{"UTF-8 mark", Input{}, "\xef\xbb\xbfdo", "do", ""},
		{"UTF-16, little end first", Input{}, "\xff\xfed\x00o\x00", "do", ""},
		{"UTF-16, big end first", given("fix"), "\xfe\xff\x00d\x00o", "fix\n\n<stdin>\ndo\n</stdin>", ""},
		{"UTF-32", Input{}, "\xff\xfe\x00\x00d\x00\x00\x00", "", "UTF-32"},
		{"not UTF-8", Input{}, "a\xffb", "", "0xff"},
		{"not UTF-8, added", given("fix"), "a\xffb", "", "0xff"},
	}
	for _, row := range rows {
		row.in.Stdin = strings.NewReader(row.stdin)
		got, err := row.in.Prompt(t.Context())
		if got != row.want || (err != nil) != (row.problem != "") || err != nil && !strings.Contains(err.Error(), row.problem) {
			t.Errorf("%s: %q, %v; want %q, %q", row.name, got, err, row.want, row.problem)
		}
	}
}

func TestNoticeWhenThePromptIsPiped(t *testing.T) {
	var notices []string
	in := Input{Stdin: strings.NewReader("x"), Notice: func(s string) { notices = append(notices, s) }}
	if _, err := in.Prompt(t.Context()); err != nil || len(notices) != 1 {
		t.Errorf("notices %q, %v", notices, err)
	}
}

// ex-01: a pipe that is open and silent does not block a prompt given as argument.
func TestSilentStdin(t *testing.T) {
	raw, err := os.ReadFile("testdata/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		ID       string
		Expected struct {
			Within int `json:"starts_model_request_within_ms"`
		}
	}
	if err := json.Unmarshal(raw, &cases); err != nil || cases[0].ID != "ex-01" {
		t.Fatalf("%v, %+v", err, cases)
	}
	if limit := time.Duration(cases[0].Expected.Within) * time.Millisecond; DefaultPatience >= limit/2 {
		t.Errorf("patience %v leaves too little of %v", DefaultPatience, limit)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	expired := make(chan time.Time, 1)
	expired <- time.Time{}
	var notice string
	in := Input{Argument: "say ok", Given: true, Stdin: r, Notice: func(s string) { notice = s },
		after: func(d time.Duration) <-chan time.Time {
			if d != DefaultPatience {
				t.Errorf("waits %v", d)
			}
			return expired
		}}
	got, err := in.Prompt(t.Context())
	if got != "say ok" || err != nil || !strings.Contains(notice, "going on without it") {
		t.Errorf("%q, %v, notice %q", got, err, notice)
	}
}

// A producer that has begun is waited for, however long it takes.
func TestSlowStdin(t *testing.T) {
	r, w := io.Pipe()
	expired := make(chan time.Time)
	said := make(chan string, 1)
	in := Input{Argument: "fix", Given: true, Stdin: r, Notice: func(s string) { said <- s },
		after: func(time.Duration) <-chan time.Time { return expired }}
	pending := in.Begin()
	type answer struct {
		text string
		err  error
	}
	got := make(chan answer)
	go func() {
		text, err := pending.Prompt(context.Background())
		got <- answer{text, err}
	}()
	if _, err := w.Write([]byte("one\n")); err != nil {
		t.Fatal(err)
	}
	<-pending.stdin.first
	expired <- time.Time{}
	if s := <-said; !strings.Contains(s, "until it ends") {
		t.Errorf("notice %q", s)
	}
	if _, err := w.Write([]byte("two\n")); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if a := <-got; a.text != "fix\n\n<stdin>\none\ntwo\n</stdin>" || a.err != nil {
		t.Errorf("%q, %v", a.text, a.err)
	}
}

func TestInterruptedWhileReading(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("signal")
	cancel(why)
	for _, in := range []Input{{Stdin: r}, {Argument: "x", Given: true, Stdin: r}} {
		if text, err := in.Prompt(ctx); !errors.Is(err, why) {
			t.Errorf("%q, %v", text, err)
		}
	}
}

func TestUnreadableStdin(t *testing.T) {
	dir, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	if text, err := (Input{Argument: "x", Given: true, Stdin: dir}).Prompt(t.Context()); err == nil {
		t.Errorf("a directory as standard input: %q", text)
	}
	closed, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	if text, err := (Input{Argument: "x", Given: true, Stdin: closed}).Prompt(t.Context()); text != "x" || err != nil {
		t.Errorf("a closed standard input: %q, %v", text, err)
	}
	if _, err := (Input{Stdin: endless{}}).Prompt(t.Context()); err == nil || !strings.Contains(err.Error(), "MiB") {
		t.Errorf("endless input: %v", err)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestIsCompact(t *testing.T) {
	for prompt, want := range map[string]bool{"/compact": true, " /compact\n": true, "/compact now": false, "compact": false} {
		if IsCompact(prompt, 0) != want {
			t.Errorf("IsCompact(%q) = %t", prompt, !want)
		}
	}
	if IsCompact("/compact", 1) {
		t.Error("with an image it is a prompt")
	}
}

func TestSchema(t *testing.T) {
	rows := []struct{ text, problem string }{
		{`{"type":"object"}`, ""},
		{"\ufeff{}", ""},
		{"true", ""},
		{`{"type":`, "unexpected end"},
		{"3", "object"},
	}
	for _, row := range rows {
		path := filepath.Join(t.TempDir(), "schema.json")
		if err := os.WriteFile(path, []byte(row.text), 0o600); err != nil {
			t.Fatal(err)
		}
		schema, err := Schema(path)
		if (err != nil) != (row.problem != "") || err != nil && !strings.Contains(err.Error(), row.problem) {
			t.Errorf("%q: %s, %v", row.text, schema, err)
		}
	}
	if _, err := Schema(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
}
