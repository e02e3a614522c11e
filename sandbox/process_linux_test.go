package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestShellCases(t *testing.T) {
	data, err := os.ReadFile("testdata/shell.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		ID, Command string
		Expected    struct {
			Exit     *int     `json:"exit"`
			Output   *string  `json:"output"`
			Within   int      `json:"returns_within_ms"`
			Timeout  int      `json:"timeout_ms"`
			TimedOut bool     `json:"timed_out"`
			Contains []string `json:"contains"`
		}
	}
	if err := json.Unmarshal(data, &cases); err != nil || len(cases) < 11 {
		t.Fatalf("%d cases: %v", len(cases), err)
	}
	for _, mode := range []Mode{WorkspaceWrite, FullAccess} {
		s := newScene(t)
		git(t, s.ws, "init", "-q")
		git(t, s.ws, "commit", "-q", "--allow-empty", "-m", "first")
		b := s.open(t, mode)
		for _, tt := range cases {
			t.Run(string(mode)+"/"+tt.ID, func(t *testing.T) {
				t.Parallel()
				r := run(t, b, Command{Timeout: time.Duration(tt.Expected.Timeout) * time.Millisecond / 8}, tt.Command)
				if tt.Expected.Exit != nil && r.Code != *tt.Expected.Exit {
					t.Errorf("exit %d, want %d: %.200s", r.Code, *tt.Expected.Exit, r.out)
				}
				if tt.Expected.Output != nil && r.out != *tt.Expected.Output {
					t.Errorf("output %q", r.out)
				}
				for _, want := range tt.Expected.Contains {
					if !strings.Contains(r.out, want) {
						t.Errorf("output %q lacks %q", r.out, want)
					}
				}
				if limit := time.Duration(max(tt.Expected.Within, 5000)) * time.Millisecond; r.took > limit {
					t.Errorf("took %v", r.took)
				}
				if r.TimedOut != tt.Expected.TimedOut || r.TimedOut && r.Code != 124 {
					t.Errorf("timed out: %v, exit %d", r.TimedOut, r.Code)
				}
				if tt.ID == "sh-06" && r.Signal != "SIGKILL" {
					t.Errorf("signal %q", r.Signal)
				}
				if strings.Contains(r.out, "getcwd") && tt.ID != "sh-10" {
					t.Errorf("no working directory: %s", r.out)
				}
			})
		}
	}
}

// Whatever a command leaves behind ends with it, also where nothing is confined: its own session, a double fork, ears
// stopped to signals.
func TestNothingSurvives(t *testing.T) {
	const mark = "interpreter-test-survivor-"
	for _, mode := range []Mode{WorkspaceWrite, FullAccess} {
		s := newScene(t)
		b := s.open(t, mode)
		for i, script := range []string{
			"setsid bash -c 'exec -a %s sleep 60' >/dev/null 2>&1 & echo ok",
			"(setsid bash -c '(exec -a %s sleep 60) & disown' & ) ; echo ok",
			"trap '' TERM HUP INT; bash -c 'exec -a %s sleep 60' & wait",
		} {
			name := mark + string(mode[0]) + strconv.Itoa(i) + "-" + strconv.Itoa(os.Getpid())
			r := run(t, b, Command{Timeout: 400 * time.Millisecond}, fmt.Sprintf(script, name))
			if r.took > 3*time.Second {
				t.Errorf("%s %d took %v", mode, i, r.took)
			}
			if alive(name) {
				t.Errorf("%s %d: left a process behind", mode, i)
			}
		}
	}
}

func alive(name string) bool {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, line := range lines {
		if data, err := os.ReadFile(line); err == nil && bytes.HasPrefix(data, []byte(name)) {
			return true
		}
	}
	return false
}

func TestInterrupt(t *testing.T) {
	for _, mode := range []Mode{WorkspaceWrite, FullAccess} {
		s := newScene(t)
		b := s.open(t, mode)
		ctx, cancel := context.WithCancel(context.Background())
		ready := make(chan struct{}, 8)
		watch := func(chunk []byte) {
			if bytes.Contains(chunk, []byte("ready")) {
				ready <- struct{}{}
			}
		}
		stubborn, err := b.Start(ctx, Command{Argv: []string{"/bin/bash", "-c", "trap 'echo got term' TERM; echo ready; while :; do sleep 30 & wait; done"}, Watch: watch})
		if err != nil {
			t.Fatal(err)
		}
		<-ready
		began := time.Now()
		cancel()
		<-stubborn.Done()
		if e := stubborn.Exit(); e.Signal != "SIGKILL" || e.Code != 137 || time.Since(began) > 2*time.Second {
			t.Errorf("%s: cancelled: %+v after %v", mode, e, time.Since(began))
		}
		if out := string(stubborn.Output().Head); !strings.Contains(out, "got term") {
			t.Errorf("%s: it was not asked politely first: %q", mode, out)
		}
		polite, err := b.Start(context.Background(), Command{Argv: []string{"/bin/bash", "-c", "trap 'exit 3' INT; echo ready; while :; do sleep 30 & wait; done"}, Watch: watch})
		if err != nil {
			t.Fatal(err)
		}
		<-ready
		polite.Interrupt()
		<-polite.Done()
		if e := polite.Exit(); e.Code != 3 {
			t.Errorf("%s: interrupted: %+v", mode, e)
		}
		if _, err := b.Start(ctx, Command{Argv: []string{"/bin/true"}}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: started after the end: %v", mode, err)
		}
	}
}

func TestTerminal(t *testing.T) {
	for _, mode := range []Mode{ReadOnly, FullAccess} {
		s := newScene(t)
		ready := make(chan struct{}, 64)
		p, err := s.open(t, mode).Start(context.Background(), Command{Argv: []string{"/bin/bash", "-c", "test -t 0 && test -t 1 && echo hello > /dev/tty; stty size; read x; echo got $x"},
			Env: Environ(os.Environ(), EnvPolicy{}), TTY: true, Watch: func([]byte) { ready <- struct{}{} }})
		if err != nil {
			t.Fatal(err)
		}
		<-ready
		if err := p.Write([]byte("word\n")); err != nil {
			t.Error(err)
		}
		<-p.Done()
		out := string(p.Output().Head)
		if p.Exit().Code != 0 || !strings.Contains(out, "hello") || !strings.Contains(out, "40 120") || !strings.Contains(out, "got word") {
			t.Errorf("%s: %+v %q", mode, p.Exit(), out)
		}
		if p.Write([]byte("x")) == nil {
			t.Error("wrote to what has ended")
		}
	}
}

// A terminal that changes its size tells its programs.
func TestResize(t *testing.T) {
	for _, mode := range []Mode{ReadOnly, FullAccess} {
		s := newScene(t)
		ready := make(chan struct{}, 64)
		p, err := s.open(t, mode).Start(context.Background(), Command{
			Argv: []string{"/bin/bash", "-c", "trap 'stty size; exit 0' WINCH; echo ready; while :; do sleep 0.05; done"},
			Env:  Environ(os.Environ(), EnvPolicy{}), TTY: true, Columns: 100, Rows: 30, Watch: func([]byte) { ready <- struct{}{} }, Timeout: 10 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		<-ready
		sized := p.(interface{ Resize(columns, rows int) error })
		if err := sized.Resize(0, 10); err == nil {
			t.Error("a terminal of no width")
		}
		if err := sized.Resize(77, 22); err != nil {
			t.Error(err)
		}
		<-p.Done()
		if out := string(p.Output().Head); p.Exit().Code != 0 || !strings.Contains(out, "22 77") {
			t.Errorf("%s: %+v %q", mode, p.Exit(), out)
		}
		if err := sized.Resize(77, 22); err == nil {
			t.Error("resized what has ended")
		}
		p, err = s.open(t, mode).Start(context.Background(), Command{Argv: []string{"/bin/true"}})
		if err != nil {
			t.Fatal(err)
		}
		if p.(interface{ Resize(columns, rows int) error }).Resize(80, 24) == nil {
			t.Error("resized where there is no terminal")
		}
		<-p.Done()
	}
}

func TestInput(t *testing.T) {
	s := newScene(t)
	p, err := s.open(t, ReadOnly).Start(context.Background(), Command{Argv: []string{"/bin/cat"}, Stdin: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Write([]byte("through\n")); err != nil {
		t.Fatal(err)
	}
	if err := p.(*process).CloseInput(); err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	if got := string(p.Output().Head); got != "through\n" {
		t.Errorf("%q", got)
	}
}

func TestBadStarts(t *testing.T) {
	s := newScene(t)
	for _, mode := range []Mode{ReadOnly, FullAccess} {
		b := s.open(t, mode)
		for _, c := range []Command{{}, {Argv: []string{"no_such_program_42"}}, {Argv: []string{"/no/such"}}, {Argv: []string{"/bin/true"}, Dir: s.ws + "/none"}, {Argv: []string{s.ws + "/in.txt"}}} {
			if p, err := b.Start(context.Background(), c); err == nil {
				t.Errorf("%s: %v started: %+v", mode, c.Argv, p)
			}
		}
	}
}

// Memory stays bounded however much a command prints.
func TestBounded(t *testing.T) {
	s := newScene(t)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	p, err := s.open(t, ReadOnly).Start(context.Background(), Command{Argv: []string{"/bin/bash", "-c", "yes 0123456789 | head -c 50000000"}, Env: []string{"PATH=/usr/bin:/bin"}})
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	runtime.ReadMemStats(&after)
	o := p.Output()
	if int64(len(o.Head)+len(o.Tail))+o.Omitted != 50000000 || len(o.Head)+len(o.Tail) > 1<<20 {
		t.Errorf("head %d, tail %d, omitted %d", len(o.Head), len(o.Tail), o.Omitted)
	}
	if grown := int64(after.Sys) - int64(before.Sys); grown > 64<<20 {
		t.Errorf("grew by %d bytes", grown)
	}
}
