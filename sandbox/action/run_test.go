package action

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"interpreter/sandbox"
	"interpreter/sandbox/sandboxtest"
)

type shellCase struct {
	ID       string `json:"id"`
	Command  string `json:"command"`
	Expected struct {
		Returns    int      `json:"returns_within_ms"`
		Output     *string  `json:"output"`
		Exit       *int     `json:"exit"`
		Timeout    int      `json:"timeout_ms"`
		TimedOut   bool     `json:"timed_out"`
		TextMost   int      `json:"model_text_max_bytes"`
		Mentions   string   `json:"text_mentions"`
		Contains   []string `json:"contains"`
		SingleLine bool     `json:"single_line"`
		LeftOver   *int     `json:"left_over_processes"`
		GrowthMost int      `json:"rss_growth_max_mb"`
		Next       string   `json:"next_command_works_from"`
	} `json:"expected"`
}

func TestShellCases(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the cases are written for a Unix shell")
	}
	var cases []shellCase
	if err := json.Unmarshal(load(t, "testdata/shell/commands.json"), &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			w := workspace(t, map[string]string{"sub/file": ""})
			began := time.Now()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			want := c.Expected
			out, err := Run{Script: c.Command, Timeout: time.Duration(want.Timeout) * time.Millisecond / 4}.Do(context.Background(), w)
			if err != nil {
				t.Fatal(err)
			}
			if took := time.Since(began); want.Returns > 0 && took > time.Duration(want.Returns)*time.Millisecond {
				t.Errorf("took %v", took)
			}
			if want.Output != nil && out.Output != *want.Output {
				t.Errorf("output %q, want %q", out.Output, *want.Output)
			}
			if want.Exit != nil && out.Exit.Code != *want.Exit {
				t.Errorf("exit %d, want %d", out.Exit.Code, *want.Exit)
			}
			if out.Exit.TimedOut != want.TimedOut {
				t.Errorf("timed out %v, want %v", out.Exit.TimedOut, want.TimedOut)
			}
			if want.TimedOut && out.Exit.Code != 124 {
				t.Errorf("exit %d of a timeout, want 124", out.Exit.Code)
			}
			if want.TextMost > 0 && (len(out.Output) > want.TextMost || out.Omitted == 0 || out.Full == "") {
				t.Errorf("%d bytes shown, %d omitted, full text in %q", len(out.Output), out.Omitted, out.Full)
			}
			for _, s := range want.Contains {
				if !strings.Contains(out.Output, s) {
					t.Errorf("output %q lacks %q", out.Output, s)
				}
			}
			if want.Mentions != "" && !strings.Contains(strings.Join(out.Notes, "\n"), want.Mentions) {
				t.Errorf("notes %q lack %q", out.Notes, want.Mentions)
			}
			if want.GrowthMost > 0 {
				runtime.ReadMemStats(&after)
				if grown := int64(after.HeapInuse) - int64(before.HeapInuse); grown > int64(want.GrowthMost)<<20 {
					t.Errorf("the heap grew by %d MiB", grown>>20)
				}
			}
			if want.LeftOver != nil {
				if _, err := os.Stat("/proc"); err == nil && processes(t, w.Dir) != *want.LeftOver {
					t.Errorf("%d processes left", processes(t, w.Dir))
				}
			}
			if want.Next != "" {
				next, err := Run{Script: "pwd"}.Do(context.Background(), w)
				if err != nil || next.Output != w.Dir+"\n" {
					t.Errorf("then pwd gives %q, %v", next.Output, err)
				}
			}
		})
	}
}

// processes counts those whose working folder is dir.
func processes(t *testing.T, dir string) int {
	t.Helper()
	links, _ := filepath.Glob("/proc/[0-9]*/cwd")
	n := 0
	for _, l := range links {
		if where, err := os.Readlink(l); err == nil && where == dir {
			n++
		}
	}
	return n
}

// printed polls a running command until it has printed something, and gives all it printed.
func printed(t *testing.T, w *Workspace, out Ran, want string) string {
	t.Helper()
	text := out.Output
	for deadline := time.Now().Add(20 * time.Second); !strings.Contains(text, want); {
		if out.Session == 0 || time.Now().After(deadline) {
			t.Fatalf("it printed %q and not %q: %+v", text, want, out)
		}
		var err error
		if out, err = (Poll{Session: out.Session, Yield: 20 * time.Millisecond}).Do(context.Background(), w); err != nil {
			t.Fatal(err)
		}
		text += out.Output
	}
	return text
}

func TestRunYieldsAndIsPolled(t *testing.T) {
	w := workspace(t, nil)
	ctx := context.Background()
	mkfifo, err := Run{Script: "mkfifo gate"}.Do(ctx, w)
	if err != nil || mkfifo.Exit.Code != 0 {
		t.Skipf("no fifo here: %v %q", err, mkfifo.Output)
	}
	out, err := Run{Script: "echo one; read x <gate; echo two; exit 3", Yield: time.Millisecond}.Do(ctx, w)
	if err != nil || out.Session == 0 {
		t.Fatalf("got %+v, %v", out, err)
	}
	if text := printed(t, w, out, "one"); text != "one\n" {
		t.Errorf("it printed %q", text)
	}
	if r := w.Running(); len(r) != 1 || r[0].ID != out.Session || r[0].Recent != "one\n" || r[0].Ended {
		t.Errorf("running: %+v", r)
	}
	if _, err := (Poll{Session: out.Session, Chars: "x"}).Do(ctx, w); !errors.Is(err, ErrNoStdin) {
		t.Errorf("typing without a terminal gives %v", err)
	}
	same, err := Poll{Session: out.Session, Yield: time.Millisecond}.Do(ctx, w)
	if err != nil || same.Session != out.Session || same.Output != "" {
		t.Errorf("an idle command gives %+v, %v", same, err)
	}
	if _, err := (Run{Script: "echo go >gate"}).Do(ctx, w); err != nil {
		t.Fatal(err)
	}
	end, err := Poll{Session: out.Session, Yield: 10 * time.Second}.Do(ctx, w)
	if err != nil || end.Session != 0 || end.Output != "two\n" || end.Exit.Code != 3 {
		t.Errorf("the end is %+v, %v", end, err)
	}
	if _, err := (Poll{Session: out.Session}).Do(ctx, w); !errors.Is(err, ErrNoSession) {
		t.Errorf("a forgotten command gives %v", err)
	}
}

func TestPollInterrupts(t *testing.T) {
	w := workspace(t, nil)
	ctx := context.Background()
	out, err := Run{Script: "trap 'echo caught; exit 7' INT; echo ready; while :; do sleep 0.05; done", Yield: time.Millisecond}.Do(ctx, w)
	if err != nil || out.Session == 0 {
		t.Fatalf("%+v, %v", out, err)
	}
	printed(t, w, out, "ready")
	end, err := Poll{Session: out.Session, Chars: Interrupt, Yield: 10 * time.Second}.Do(ctx, w)
	if err != nil || end.Exit.Code != 7 || !strings.Contains(end.Output, "caught") {
		t.Errorf("%+v, %v", end, err)
	}
}

func TestTerminal(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no terminal")
	}
	w := workspace(t, nil)
	ctx := context.Background()
	out, err := Run{Script: "test -t 0 && echo tty; read name; echo hello $name", TTY: true, Yield: time.Millisecond}.Do(ctx, w)
	if err != nil || out.Session == 0 {
		t.Fatalf("%+v, %v", out, err)
	}
	printed(t, w, out, "tty")
	end, err := Poll{Session: out.Session, Chars: "you\n", Yield: 10 * time.Second}.Do(ctx, w)
	if err != nil || !strings.Contains(end.Output, "hello you") {
		t.Errorf("%+v, %v", end, err)
	}
}

func TestRunIsCancelled(t *testing.T) {
	w := workspace(t, nil)
	ctx, cancel := context.WithCancel(context.Background())
	w.Printed = func(call, text string) {
		if call != "c1" || text != "started\n" {
			t.Errorf("heard %q of %q", text, call)
		}
		cancel()
	}
	out, err := Run{Script: "echo started; sleep 300"}.Do(WithCall(ctx, "c1"), w)
	if !errors.Is(err, context.Canceled) || out.Output != "started\n" || out.Exit.Signal == "" {
		t.Errorf("%+v, %v", out, err)
	}
	if len(w.Running()) != 0 {
		t.Error("it is still kept")
	}
}

func TestBackground(t *testing.T) {
	w := workspace(t, nil)
	ctx := context.Background()
	out, err := Run{Script: "echo here; sleep 300", Background: true}.Do(ctx, w)
	if err != nil || out.Session == 0 || out.Full == "" {
		t.Fatalf("%+v, %v", out, err)
	}
	if info, err := os.Stat(out.Full); err != nil || info.Mode().Perm() != 0o600 && runtime.GOOS != "windows" {
		t.Errorf("its file: %v, %v", info, err)
	}
	if text := printed(t, w, out, "here"); text != "here\n" {
		t.Errorf("it printed %q", text)
	}
	if err := w.Stop(out.Session); err != nil {
		t.Error(err)
	}
	if text := string(load(t, out.Full)); text != "here\n" {
		t.Errorf("the file has %q", text)
	}
	if err := w.Stop(out.Session); !errors.Is(err, ErrNoSession) {
		t.Errorf("stopping twice gives %v", err)
	}
}

func TestRunRefuses(t *testing.T) {
	w := workspace(t, map[string]string{"file": ""})
	for _, c := range []struct {
		run  Run
		want string
	}{
		{Run{Script: "  "}, "empty"},
		{Run{Script: "a\x00b"}, "zero byte"},
		{Run{Script: "true", Dir: "nowhere"}, "no such"},
		{Run{Script: "true", Dir: "file"}, "not a folder"},
	} {
		_, err := c.run.Do(context.Background(), w)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v gives %v, want %q", c.run, err, c.want)
		}
	}
}

func TestRunOfAScriptLongerThanTheSystemTakes(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the limit is another one there")
	}
	_, err := Run{Script: "true #" + strings.Repeat("y", 1<<20)}.Do(context.Background(), workspace(t, nil))
	if err == nil || !strings.Contains(err.Error(), "write it to a file") || len(err.Error()) > 500 {
		t.Errorf("got %v", err)
	}
}

func TestRunAsks(t *testing.T) {
	w := workspace(t, map[string]string{"in/x": ""})
	box := w.Box.(*sandboxtest.Box)
	if _, err := (Run{Script: "true", Dir: "in", Shell: "/bin/bash"}).Do(WithLeave(context.Background(), Leave{Outside: true}), w); err != nil {
		t.Fatal(err)
	}
	got := box.Commands()
	if len(got) != 1 || strings.Join(got[0].Argv, " ") != "/bin/bash -c true" || got[0].Dir != w.Abs("in") || !got[0].Outside || got[0].Stdin {
		t.Errorf("asked for %+v", got)
	}
}

// A box whose processes end when told to makes a full table cheap.
type quietBox struct{ policy sandbox.Policy }

func (b quietBox) Policy() sandbox.Policy { return b.policy }
func (b quietBox) Backend() string        { return "none" }
func (b quietBox) Start(ctx context.Context, c sandbox.Command) (sandbox.Process, error) {
	p := &quiet{done: make(chan struct{})}
	if strings.HasSuffix(c.Argv[2], "ends") {
		p.Kill()
	}
	context.AfterFunc(ctx, p.Kill)
	return p, nil
}

type quiet struct {
	once sync.Once
	done chan struct{}
}

func (p *quiet) Done() <-chan struct{}  { return p.done }
func (p *quiet) Exit() sandbox.Exit     { return sandbox.Exit{} }
func (p *quiet) Output() sandbox.Output { return sandbox.Output{} }
func (p *quiet) Write([]byte) error     { return nil }
func (p *quiet) Interrupt()             {}
func (p *quiet) Kill()                  { p.once.Do(func() { close(p.done) }) }

func TestTooManyRunning(t *testing.T) {
	policy := sandboxtest.Writable(t, t.TempDir())
	w := &Workspace{Dir: policy.Dir, Box: quietBox{policy}, Shell: "/bin/sh"}
	start := func(script string) int {
		out, err := Run{Script: script, Background: true}.Do(context.Background(), w)
		if err != nil {
			t.Fatal(err)
		}
		return out.Session
	}
	for i := range runsMost {
		script := fmt.Sprintf("%d stays", i+1)
		if i == 20 || i == 60 {
			script = fmt.Sprintf("%d ends", i+1)
		}
		start(script)
	}
	has := func(id int) bool { _, err := w.run(id); return err == nil }
	start("one more")
	if has(21) || !has(1) {
		t.Error("the one that had ended should go first")
	}
	start("and another")
	if !has(61) || has(2) {
		t.Error("then the oldest should go: the other that has ended is too new")
	}
	if n := len(w.Running()); n != runsMost {
		t.Errorf("%d are kept", n)
	}
	if err := w.Close(); err != nil || len(w.Running()) != 0 {
		t.Errorf("%d left after Close, %v", len(w.Running()), err)
	}
}
