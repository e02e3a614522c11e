package exec

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"interpreter/agent/event"
	"interpreter/local"
	"interpreter/local/chat"
)

// script is a session that plays a recorded turn.
type script struct {
	log      *event.Log
	turn     []event.Body
	err      error
	blocks   bool // stays until its context ends, then says that it was interrupted
	prompted []chat.Message
	compacts int
}

func newScript(before []event.Body, turn ...event.Body) *script {
	s := &script{log: event.NewLog(nil), turn: turn}
	for _, b := range append([]event.Body{event.Begun{ID: "id-1", Dir: "/repo"}}, before...) {
		if err := s.log.Append(b); err != nil {
			panic(err)
		}
	}
	return s
}

func (s *script) play(ctx context.Context) error {
	for _, b := range s.turn {
		if err := s.log.Append(b); err != nil {
			return err
		}
	}
	if s.blocks {
		<-ctx.Done()
		if err := s.log.Append(event.TurnEnded{Reason: event.Interrupted, Error: "interrupted"}); err != nil {
			return err
		}
		return context.Cause(ctx)
	}
	return s.err
}

func (s *script) Prompt(ctx context.Context, in chat.Message) error {
	s.prompted = append(s.prompted, in)
	return s.play(ctx)
}

func (s *script) Compact(ctx context.Context) error {
	s.compacts++
	return s.play(ctx)
}

func (s *script) Events(ctx context.Context, from int) iter.Seq[event.Event] {
	return s.log.From(ctx, from)
}

func finished(final string) []event.Body {
	return []event.Body{event.TurnStarted{Model: "m"}, event.Prompted{Message: chat.Message{Text: "hi"}},
		event.Said{Message: chat.Message{Text: final}}, event.TurnEnded{Reason: event.Finished, Final: final, Usage: use}}
}

func types(t *testing.T, jsonl string) []string {
	t.Helper()
	var list []string
	for line := range strings.Lines(jsonl) {
		var l struct{ Type string }
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("not JSON: %q", line)
		}
		list = append(list, l.Type)
	}
	return list
}

func TestRun(t *testing.T) {
	out := func(s *script, o Options) (int, error, string, string) {
		t.Helper()
		var stdout, stderr bytes.Buffer
		o.Stdout, o.Human = &stdout, &Human{Out: &stderr}
		o.Prompt = chat.Message{Text: "hi"}
		o.grace = 40 * time.Millisecond
		code, err := Run(t.Context(), s, o)
		return code, err, stdout.String(), stderr.String()
	}

	code, err, stdout, stderr := out(newScript(nil, finished("All\x1b[31m good.\n")...), Options{StderrTerminal: true})
	if code != 0 || err != nil || stdout != "All\x1b[31m good.\n" || strings.Contains(stderr, "All") || !strings.Contains(stderr, "total 3 tokens") {
		t.Errorf("piped: %d, %v, stdout %q, stderr %q", code, err, stdout, stderr)
	}
	code, err, stdout, stderr = out(newScript(nil, finished("All\x1b[31m good.")...), Options{StdoutTerminal: true})
	if code != 0 || err != nil || stdout != "All good.\n" || strings.Contains(stderr, "good") {
		t.Errorf("stdout a terminal: %d, %v, stdout %q, stderr %q", code, err, stdout, stderr)
	}
	code, err, stdout, stderr = out(newScript(nil, finished("All good.")...), Options{StdoutTerminal: true, StderrTerminal: true})
	if code != 0 || err != nil || stdout != "" || strings.Count(stderr, "All good.") != 1 {
		t.Errorf("both terminals: %d, %v, stdout %q, stderr %q", code, err, stdout, stderr)
	}

	code, err, stdout, stderr = out(newScript(nil, finished("All good.")...), Options{JSON: true})
	if got := strings.Join(types(t, stdout), " "); code != 0 || err != nil || stderr != "" || got != "thread.started turn.started item.completed turn.completed" {
		t.Errorf("json: %d, %v, %s, stderr %q", code, err, got, stderr)
	}

	// ex-02
	broke := event.TurnEnded{Reason: event.Broke, Error: "server: 500", Remedy: "look at its log"}
	code, err, stdout, stderr = out(newScript(nil, event.TurnStarted{}, broke), Options{JSON: true})
	if got := strings.Join(types(t, stdout), " "); code != 1 || err != nil || got != "thread.started turn.started error turn.failed" || stderr != "interpreter: server: 500\n  try: look at its log\n" {
		t.Errorf("broken, json: %d, %v, %s, stderr %q", code, err, got, stderr)
	}
	code, err, stdout, stderr = out(newScript(nil, event.TurnStarted{}, broke), Options{})
	if code != 1 || err != nil || stdout != "" || !strings.Contains(stderr, "interpreter: server: 500\n  try: look at its log\n") {
		t.Errorf("broken: %d, %v, stdout %q, stderr %q", code, err, stdout, stderr)
	}
	if code, _, _, _ = out(newScript(nil, event.TurnStarted{}, event.TurnEnded{Reason: event.Limited, Error: "too many calls"}), Options{}); code != 1 {
		t.Errorf("limit: %d", code)
	}

	// A turn that could not even begin.
	s := newScript(nil)
	s.err = errors.New("disk full")
	code, err, stdout, _ = out(s, Options{JSON: true})
	if got := strings.Join(types(t, stdout), " "); code != 1 || !errors.Is(err, s.err) || got != "thread.started error turn.failed" {
		t.Errorf("unbegun: %d, %v, %s", code, err, got)
	}

	// A resumed session: the old turn is not told again, the id is.
	old := finished("old answer")
	s = newScript(old, finished("new answer")...)
	code, _, stdout, stderr = out(s, Options{JSON: true, From: 1 + len(old)})
	if got := strings.Join(types(t, stdout), " "); code != 0 || got != "thread.started turn.started item.completed turn.completed" || strings.Contains(stdout, "old") || !strings.Contains(stdout, `"thread_id":"id-1"`) {
		t.Errorf("resumed: %d, %s, %q", code, got, stdout)
	}
	if len(s.prompted) != 1 || s.prompted[0].Text != "hi" {
		t.Errorf("prompted %+v", s.prompted)
	}

	s = newScript(nil, event.TurnStarted{}, event.Compacted{Before: 10, After: 5}, event.TurnEnded{Reason: event.Finished})
	if code, err, stdout, _ = out(s, Options{Compact: true}); code != 0 || err != nil || s.compacts != 1 || len(s.prompted) != 0 || stdout != "" {
		t.Errorf("compact: %d, %v, %q", code, err, stdout)
	}

	var declined []string
	out(newScript(nil, event.TurnStarted{}, event.Asked{ID: "q"}, event.TurnEnded{Reason: event.Finished}),
		Options{Decline: func(a event.Asked) { declined = append(declined, a.ID) }})
	if len(declined) != 1 || declined[0] != "q" {
		t.Errorf("declined %q", declined)
	}
}

func TestLastMessageFile(t *testing.T) {
	rows := []struct {
		name, final string
		reason      event.Reason
		content     string
		exists      bool
		warns       bool
	}{
		{"final", "done", event.Finished, "done", true, false},
		{"no final text", " \n", event.Finished, "", true, true},
		{"failed", "half", event.Broke, "", false, false},
		{"interrupted", "half", event.Interrupted, "", false, false},
	}
	for _, row := range rows {
		path := filepath.Join(t.TempDir(), "last.txt")
		var stdout, stderr bytes.Buffer
		s := newScript(nil, event.TurnStarted{}, event.TurnEnded{Reason: row.reason, Final: row.final})
		if _, err := Run(t.Context(), s, Options{LastMessage: path, Stdout: &stdout, Human: &Human{Out: &stderr}, JSON: true}); err != nil {
			t.Errorf("%s: %v", row.name, err)
		}
		content, err := os.ReadFile(path)
		if string(content) != row.content || (err == nil) != row.exists || strings.Contains(stderr.String(), "warning") != row.warns {
			t.Errorf("%s: %q, %v, stderr %q", row.name, content, err, stderr.String())
		}
	}
	var stdout, stderr bytes.Buffer
	code, err := Run(t.Context(), newScript(nil, finished("x")...), Options{LastMessage: filepath.Join(t.TempDir(), "no", "dir"), Stdout: &stdout, Human: &Human{Out: &stderr}})
	if code != 1 || err == nil || stdout.String() != "x\n" {
		t.Errorf("a folder that is not there: %d, %v, %q", code, err, stdout.String())
	}
}

// ex-04, this side of it: an interrupt ends the turn, is told, and exits 1.
func TestInterrupt(t *testing.T) {
	for _, asJSON := range []bool{true, false} {
		s := newScript(nil, event.TurnStarted{}, run)
		s.blocks = true
		ctx, cancel := context.WithCancel(t.Context())
		var stdout, stderr bytes.Buffer
		o := Options{JSON: asJSON, Stdout: &stdout, Human: &Human{Out: &stderr}}
		go cancel()
		code, err := Run(ctx, s, o)
		if code != 1 || err != nil {
			t.Errorf("%d, %v", code, err)
		}
		if asJSON && !strings.HasSuffix(stdout.String(), `{"type":"turn.failed","error":{"message":"interrupted"}}`+"\n") {
			t.Errorf("stdout %q", stdout.String())
		}
		if !strings.Contains(stderr.String(), "interrupted") {
			t.Errorf("stderr %q", stderr.String())
		}
	}
}

// closedPipe is a standard output whose reader has gone.
func closedPipe(t *testing.T) *os.File {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	t.Cleanup(func() { w.Close() })
	return w
}

func TestClosedStdout(t *testing.T) {
	s := newScript(nil, event.TurnStarted{})
	s.blocks = true // only the loss of standard output ends it
	code, err := Run(t.Context(), s, Options{JSON: true, Stdout: closedPipe(t), Human: &Human{Out: io.Discard}})
	if code != 1 || err == nil {
		t.Errorf("%d, %v", code, err)
	}
	code, err = Run(t.Context(), newScript(nil, finished("x")...), Options{Stdout: closedPipe(t), Human: &Human{Out: closedPipe(t)}})
	if code != 1 || err == nil {
		t.Errorf("final message: %d, %v", code, err)
	}
}

// stuck takes nothing until it is released.
type stuck struct{ release chan struct{} }

func (s stuck) Write(p []byte) (int, error) {
	<-s.release
	return len(p), nil
}

func TestStuckStdoutHoldsUpNothing(t *testing.T) {
	release := make(chan struct{})
	turn := []event.Body{event.TurnStarted{}}
	for range 5000 {
		turn = append(turn, event.Said{Message: chat.Message{Text: "x"}}, event.Printed{Text: "y"})
	}
	s := newScript(nil, turn...)
	s.blocks = true
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	code, err := Run(ctx, s, Options{JSON: true, Stdout: stuck{release}, Human: &Human{Out: io.Discard}, grace: 20 * time.Millisecond})
	if code != 1 || err == nil || !strings.Contains(err.Error(), "does not take") {
		t.Errorf("%d, %v", code, err)
	}
	close(release)
	for range 1000 { // the writer ends once it can
		runtime.Gosched()
	}
}

func TestSlowReaderGetsEverything(t *testing.T) {
	r, w := io.Pipe()
	turn := []event.Body{event.TurnStarted{}}
	for range 2000 {
		turn = append(turn, event.Said{Message: chat.Message{Text: strings.Repeat("x", 100)}})
	}
	s := newScript(nil, append(turn, event.TurnEnded{Reason: event.Finished})...)
	got := make(chan string)
	go func() {
		all, _ := io.ReadAll(r)
		got <- string(all)
	}()
	code, err := Run(t.Context(), s, Options{JSON: true, Stdout: w, Human: &Human{Out: io.Discard}})
	w.Close()
	if lines := types(t, <-got); code != 0 || err != nil || len(lines) != 2003 || lines[2002] != "turn.completed" {
		t.Errorf("%d, %v, %d lines", code, err, len(lines))
	}
}

func TestStages(t *testing.T) {
	stages := []local.Stage{
		{Name: "find", Text: "ollama 0.9 answers"},
		{Name: "pull", Progress: &local.Progress{Stage: "layer", Done: 0, Total: 2e9}},
		{Name: "pull", Progress: &local.Progress{Stage: "layer", Done: 1e8, Total: 2e9}},
		{Name: "pull", Progress: &local.Progress{Stage: "layer", Done: 1e9, Total: 2e9}},
		{Name: "pull", Progress: &local.Progress{Stage: "layer", Done: 11e8, Total: 2e9}},
		{Name: "pull", Progress: &local.Progress{Stage: "layer", Done: 9e9, Total: 2e9}},
		{Name: "window", Warning: "small window"},
		{Name: "ready", Text: "m is ready", Ready: &local.Prepared{}},
	}
	rows := []struct {
		name string
		h    Human
		want string
	}{
		{"pipe", Human{}, "pull  0 % of 2.0 GB\npull  50 % of 2.0 GB\npull  100 % of 2.0 GB\nwarning: small window\nready m is ready\n"},
		{"terminal", Human{Terminal: true}, "\rfind  ollama 0.9 answers\x1b[K\r   0%  ░░░░░░░░░░░░░░░░░░░░░░░░   0.0 of 2.0 GB \x1b[0K\r\x1b[Kwarning: small window\nready m is ready\n"},
		{"quiet", Human{Quiet: true}, "warning: small window\n"},
	}
	for _, row := range rows {
		var b bytes.Buffer
		row.h.Out = &b
		for _, s := range stages {
			row.h.Stage(s)
		}
		if b.String() != row.want {
			t.Errorf("%s:\n%q\nwant\n%q", row.name, b.String(), row.want)
		}
	}
}
