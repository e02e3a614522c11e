package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// open makes a box and skips the test, saying why, where nothing can be confined: in another sandbox, say.
func (s scene) open(t *testing.T, mode Mode) Box {
	t.Helper()
	b, err := New(s.policy(t, mode))
	var re *RefusedError
	if errors.As(err, &re) {
		t.Skipf("this machine cannot confine: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

type result struct {
	Exit
	out  string
	took time.Duration
}

func run(t *testing.T, b Box, c Command, script string) result {
	t.Helper()
	c.Argv = []string{"/bin/bash", "-c", script}
	if c.Env == nil {
		c.Env = Environ(os.Environ(), EnvPolicy{})
	}
	began := time.Now()
	p, err := b.Start(context.Background(), c)
	if err != nil {
		t.Fatalf("start %s: %v", script, err)
	}
	<-p.Done()
	o := p.Output()
	return result{p.Exit(), string(o.Head) + string(o.Tail), time.Since(began)}
}

func TestConfined(t *testing.T) {
	s := newScene(t)
	for _, dir := range []string{"/.git/hooks", "/.openinterpreter"} {
		if err := os.MkdirAll(s.ws+dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	port := listener.Addr().(*net.TCPAddr).Port
	socket := filepath.Join(s.ws, "s")
	local, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	tests := []struct {
		name, script string
		read, write  bool // does it work in the two modes
	}{
		{"read outside", "cat ../out/target.txt", true, true},
		{"write inside", "echo x > made.txt", false, true},
		{"write outside", "echo changed > ../out/target.txt", false, false},
		{"write beside", "echo x > ../ws-evil/x", false, false},
		{"change mode outside", "chmod 777 ../out/target.txt", false, false},
		{"through a link", "ln -s ../out/target.txt l; echo changed > l", false, false},
		{"a second name", "ln ../out/target.txt hard && echo changed > hard", false, false},
		{"hook", "echo x > .git/hooks/pre-commit", false, false},
		{"hook in capitals", "echo x > .GIT/HOOKS/pre-commit", false, false},
		{"missing settings", "mkdir .codex", false, false},
		{"missing settings in capitals", "mkdir .CODEX", false, false},
		{"rename the workspace", "mv ../ws ../other", false, false},
		{"credentials", "cat " + s.home + "/auth.json", false, false},
		{"a copy of credentials", "cp -c " + s.home + "/auth.json stolen", false, false},
		{"home of the agent", "echo x > " + s.home + "/config.toml", false, false},
		{"scratch", `f=$(mktemp) && echo x > "$f" && cat "$f"`, true, true},
		{"here-document", "cat <<E\nx\nE", true, true},
		{"standard error by name", "echo x > /dev/stderr", true, true},
		{"loopback of the machine", fmt.Sprintf("exec 3<>/dev/tcp/127.0.0.1/%d", port), false, false},
		{"socket of a neighbour", "nc -w 1 -U " + socket + " </dev/null", false, false},
		{"open", "open -a Calculator", false, false},
		{"events", `osascript -e 'tell application "Finder" to get name'`, false, false},
		{"pasteboard", "echo x | pbcopy", false, false},
		{"jobs", "launchctl submit -l interpreter.test -- /usr/bin/true", false, false},
		{"another sandbox", "sandbox-exec -p '(version 1)(allow default)' true", false, false},
		{"marker", `[ "$INTERPRETER_SANDBOX$CODEX_SANDBOX$INTERPRETER_SANDBOX_NETWORK_DISABLED" = seatbeltseatbelt1 ]`, true, true},
	}
	for _, mode := range []Mode{ReadOnly, WorkspaceWrite} {
		b := s.open(t, mode)
		for _, tt := range tests {
			want := tt.read
			if mode == WorkspaceWrite {
				want = tt.write
			}
			if r := run(t, b, Command{Timeout: 20 * time.Second}, tt.script); (r.Code == 0) != want {
				t.Errorf("%s in %s: exit %d: %s", tt.name, mode, r.Code, r.out)
			}
		}
		if r := run(t, b, Command{}, "exit 37"); r.Code != 37 {
			t.Errorf("exit %d", r.Code)
		}
	}
	if got := content(t, s.out+"/target.txt"); got != "original\n" {
		t.Errorf("the file outside says %q", got)
	}
	if left, _ := filepath.Glob(s.home + "/scratch-*"); len(left) != 0 {
		t.Errorf("scratch folders are left: %q", left)
	}
}

func TestOpenedHere(t *testing.T) {
	s := newScene(t)
	b := s.open(t, WorkspaceWrite)
	if r := run(t, b, Command{Opened: Opened{Paths: []string{s.out + "/target.txt"}}}, "echo changed > ../out/target.txt && ! echo x > ../out/other"); r.Code != 0 || content(t, s.out+"/target.txt") != "changed\n" {
		t.Errorf("%+v", r)
	}
}

func TestMoved(t *testing.T) {
	s := newScene(t)
	b := s.open(t, WorkspaceWrite)
	if err := os.Rename(s.ws, s.ws+"-old"); err != nil {
		t.Fatal(err)
	}
	mkdirs(t, s.ws)
	if _, err := b.Start(context.Background(), Command{Argv: []string{"/usr/bin/true"}}); !errors.Is(err, errMoved) {
		t.Errorf("%v", err)
	}
}

// A process in a session of its own ends with the command, when it lives long enough to be seen.
func TestNothingSurvives(t *testing.T) {
	for _, mode := range []Mode{WorkspaceWrite, FullAccess} {
		s := newScene(t)
		b := s.open(t, mode)
		for i, script := range []string{
			"(trap '' TERM HUP INT; echo $BASHPID > pid; exec sleep 60) >/dev/null 2>&1 & sleep 0.3; echo ok",
			"perl -e 'use POSIX; if (!fork) { POSIX::setsid(); open F, \">\", \"pid\"; print F $$; close F; sleep 60 } sleep 1' ; echo ok",
			"trap '' TERM HUP INT; sleep 60 & echo $! > pid; wait",
		} {
			r := run(t, b, Command{Timeout: 1500 * time.Millisecond}, strings.ReplaceAll(script, "$BASHPID", "$(sh -c 'echo $PPID')"))
			if r.took > 5*time.Second {
				t.Errorf("%s %d took %v", mode, i, r.took)
			}
			pid, err := strconv.Atoi(strings.TrimSpace(content(t, s.ws+"/pid")))
			if err != nil {
				t.Errorf("%s %d: no number: %v", mode, i, err)
				continue
			}
			// What was killed may not have been waited for yet by the first process.
			gone := false
			for range 200 {
				if gone = errors.Is(unix.Kill(pid, 0), unix.ESRCH); gone {
					break
				}
				<-time.After(10 * time.Millisecond)
			}
			if !gone {
				t.Errorf("%s %d: process %d is left", mode, i, pid)
			}
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

// Closing our side of a terminal ends a read of it, whoever has the other side open.
func TestTerminalCloses(t *testing.T) {
	s, err := openTerminal(Command{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.closeChild()
	read := make(chan error)
	go func() {
		_, err := s.out.Read(make([]byte, 1))
		read <- err
	}()
	s.closeOurs()
	if err := <-read; err == nil {
		t.Error("something was read")
	}
}

func TestBadStarts(t *testing.T) {
	s := newScene(t)
	for _, mode := range []Mode{ReadOnly, FullAccess} {
		b := s.open(t, mode)
		for _, c := range []Command{{}, {Argv: []string{"no_such_program_42"}}, {Argv: []string{"/no/such"}}, {Argv: []string{"/usr/bin/true"}, Dir: s.ws + "/none"}, {Argv: []string{s.ws + "/in.txt"}}, {Argv: []string{s.ws}}} {
			if p, err := b.Start(context.Background(), c); err == nil {
				t.Errorf("%s: %v started: %+v", mode, c.Argv, p)
			}
		}
	}
}

func TestSpelling(t *testing.T) {
	s := newScene(t)
	mkdirs(t, s.ws+"/Mixed")
	if _, err := os.Lstat(s.ws + "/mIXED"); err != nil {
		t.Skip("this disk tells capitals from small letters")
	}
	for path, want := range map[string]string{"/mIXED": "/Mixed", "/MIXED/none/x": "/Mixed/none/x", "/Mixed": "/Mixed"} {
		if got := spelling(s.ws + path); got != s.ws+want {
			t.Errorf("%s: %s", path, got)
		}
	}
	if got := spelling("/"); got != "/" {
		t.Errorf("the top is %q", got)
	}
	if got := spelling("/TMP"); got != "/tmp" {
		t.Errorf("the name of a link is %q", got)
	}
}
