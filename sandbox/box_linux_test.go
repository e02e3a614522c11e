package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"interpreter/sandbox/helper"
)

// open makes a box and skips the test, saying why, where nothing can be confined.
func open(t *testing.T, p Policy) Box {
	t.Helper()
	b, err := New(p)
	var re *RefusedError
	if errors.As(err, &re) {
		t.Skipf("this machine cannot confine: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (s scene) open(t *testing.T, mode Mode) Box {
	t.Helper()
	return open(t, s.policy(t, mode))
}

// result is a command that has ended.
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
	git(t, s.ws, "init", "-q")
	put(t, s.ws+"/.git/hooks/keep", "")
	put(t, s.ws+"/.openinterpreter/config.toml", "# project\n")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	port := listener.Addr().(*net.TCPAddr).Port
	tests := []struct {
		name, script string
		read, write  int // exit codes in the two confined modes
	}{
		{"read outside", "cat ../out/target.txt", 0, 0},
		{"write inside", "echo x > made.txt", 1, 0},
		{"write outside", "echo changed > ../out/target.txt", 1, 1},
		{"write beside", "echo x > ../ws-evil/x", 1, 1},
		{"change mode outside", "chmod 777 ../out/target.txt", 1, 1},
		{"through a link", "ln -s ../out/target.txt l; echo changed > l", 1, 1},
		{"hook", "echo x > .git/hooks/pre-commit", 1, 1},
		{"project settings", "echo x >> .openinterpreter/config.toml", 1, 1},
		{"home of the agent", "echo x > " + s.home + "/config.toml", 1, 1},
		{"scratch", "echo x > /tmp/interpreter-test-scratch && cat /tmp/interpreter-test-scratch && rm /tmp/interpreter-test-scratch", 0, 0},
		{"credentials", "grep -q secret " + s.home + "/auth.json", 2, 2},
		{"loopback of the machine", fmt.Sprintf("exec 3<>/dev/tcp/127.0.0.1/%d", port), 1, 1},
		{"no capabilities", `[ "$(grep -cE '^Cap(Inh|Prm|Eff|Amb):.0+$' /proc/self/status)" = 4 ]`, 0, 0},
		{"alone", `[ "$(ls -d /proc/[0-9]* | wc -l)" -lt 6 ]`, 0, 0},
		{"marker", `[ "$INTERPRETER_SANDBOX$CODEX_SANDBOX_NETWORK_DISABLED$INTERPRETER_SANDBOX_NETWORK_DISABLED" = namespace11 ]`, 0, 0},
		{"nested namespaces", "unshare -Ur true", 1, 1},
		{"status", "exit 37", 37, 37},
	}
	for _, mode := range []Mode{ReadOnly, WorkspaceWrite} {
		b := s.open(t, mode)
		if b.Backend() != helper.Namespaces {
			t.Skipf("these figures are for namespaces; this machine has %s", b.Backend())
		}
		for _, tt := range tests {
			want := tt.read
			if mode == WorkspaceWrite {
				want = tt.write
			}
			if r := run(t, b, Command{}, tt.script); r.Code != want && !(tt.name == "credentials" && r.Code != 0) {
				t.Errorf("%s in %s: exit %d, want %d: %s", tt.name, mode, r.Code, want, r.out)
			}
		}
		if got := content(t, s.out+"/target.txt"); got != "original\n" {
			t.Fatalf("%s: the file outside says %q", mode, got)
		}
	}
	if content(t, s.ws+"/made.txt") != "x\n" {
		t.Error("what was written inside is not there")
	}
	r := run(t, s.open(t, WorkspaceWrite), Command{}, "echo changed > ../out/target.txt")
	if lines := Denials(r.Exit, Output{Head: []byte(r.out)}, s.policy(t, WorkspaceWrite)); len(lines) != 1 || !strings.Contains(lines[0], s.out) {
		t.Errorf("denials %q of %q", lines, r.out)
	}
}

// A server of the command's own on its own loopback is in reach.
func TestOwnLoopback(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not here to serve and ask")
	}
	s := newScene(t)
	python, err := exec.Command("python3", "-c", "import sys;print(sys.executable)").Output()
	if err != nil {
		t.Skipf("python3 does not run: %v", err)
	}
	code := `import socket;s=socket.socket();s.bind(("127.0.0.1",0));s.listen();k=socket.create_connection(s.getsockname(),5);x=s.accept()[0];k.send(b"SELF");print(x.recv(9))`
	for _, mode := range []Mode{ReadOnly, WorkspaceWrite} {
		r := run(t, s.open(t, mode), Command{}, strings.TrimSpace(string(python))+" -c '"+code+"'")
		if !strings.Contains(r.out, "SELF") {
			t.Errorf("%s: %d %s", mode, r.Code, r.out)
		}
	}
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@t.invalid", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@t.invalid")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("git %v: %v: %s", args, err, out)
	}
}

func TestQuarantine(t *testing.T) {
	s := newScene(t)
	put(t, s.ws+"/sub/agents/skills/a.md", "good\n")
	if err := os.Symlink("sub/agents", s.ws+"/.agents"); err != nil {
		t.Fatal(err)
	}
	b := s.open(t, WorkspaceWrite)
	r := run(t, b, Command{}, "mkdir -p .git/hooks; echo x > .git/hooks/pre-commit; rm .agents; mkdir .agents; echo bad > sub/agents/skills/a.md; mv sub gone; true")
	if exists(s.ws + "/.git") {
		t.Error(".git was created and stays")
	}
	if text, err := os.Readlink(s.ws + "/.agents"); err != nil || text != "sub/agents" {
		t.Errorf(".agents is not the link it was: %q %v", text, err)
	}
	if content(t, s.ws+"/sub/agents/skills/a.md") != "good\n" {
		t.Error("the target of the protected link changed")
	}
	if kept, _ := filepath.Glob(s.home + "/quarantine/*"); len(kept) != 2 || len(r.Refused) != 2 {
		t.Errorf("quarantine holds %v; told %q", kept, r.Refused)
	}
}

func TestRootExchanged(t *testing.T) {
	s := newScene(t)
	b := s.open(t, WorkspaceWrite)
	for _, do := range []error{os.Rename(s.ws, s.base+"/moved"), os.Mkdir(s.ws, 0o755)} {
		if do != nil {
			t.Fatal(do)
		}
	}
	_, err := b.Start(context.Background(), Command{Argv: []string{"/bin/true"}})
	if !errors.Is(err, helper.ErrMoved) {
		t.Errorf("a command ran in another folder of the same name: %v", err)
	}
}

func TestLayers(t *testing.T) {
	s := newScene(t)
	cache := filepath.Dir(s.home) + "/.cache"
	put(t, cache+"/tool/entry", "warm\n")
	script := "cat ~/.cache/tool/entry ~/.cache/tool/new 2>/dev/null; echo poisoned > ~/.cache/tool/entry && echo made > ~/.cache/tool/new"
	env := []string{"HOME=" + filepath.Dir(s.home), "PATH=/usr/bin:/bin"}
	for _, tt := range []struct{ mode, first, second string }{
		{string(ReadOnly), "warm\n", "warm\n"},
		{string(WorkspaceWrite), "warm\n", "poisoned\nmade\n"},
	} {
		b := s.open(t, Mode(tt.mode))
		if b.Backend() != helper.Namespaces {
			t.Skipf("layers need namespaces; this machine has %s", b.Backend())
		}
		for _, want := range []string{tt.first, tt.second} {
			if r := run(t, b, Command{Env: env}, script); r.Code != 0 || r.out != want {
				t.Errorf("%s: exit %d, %q; want %q", tt.mode, r.Code, r.out, want)
			}
		}
		if content(t, cache+"/tool/entry") != "warm\n" || exists(cache+"/tool/new") {
			t.Fatalf("%s: the person's cache was written", tt.mode)
		}
	}
}

// Two commands at once share what the first has left, and neither waits for the other.
func TestLayersAtOnce(t *testing.T) {
	s := newScene(t)
	put(t, filepath.Dir(s.home)+"/.cache/entry", "warm\n")
	b := s.open(t, WorkspaceWrite)
	env := []string{"HOME=" + filepath.Dir(s.home), "PATH=/usr/bin:/bin"}
	run(t, b, Command{Env: env}, "echo left > ~/.cache/left")
	ready := make(chan struct{}, 8)
	first, err := b.Start(context.Background(), Command{Argv: []string{"/bin/bash", "-c", "echo ready; read x; cat ~/.cache/left"}, Env: env, Stdin: true,
		Watch: func([]byte) { ready <- struct{}{} }})
	if err != nil {
		t.Fatal(err)
	}
	<-ready
	if r := run(t, b, Command{Env: env}, "cat ~/.cache/entry ~/.cache/left && echo x > ~/.cache/mine"); r.out != "warm\nleft\n" || r.Code != 0 {
		t.Errorf("second: exit %d, %q", r.Code, r.out)
	}
	if err := first.Write([]byte("go\n")); err != nil {
		t.Fatal(err)
	}
	<-first.Done()
	if o := string(first.Output().Head); o != "ready\nleft\n" {
		t.Errorf("first: %q", o)
	}
}

// A plan that the program does not understand in full starts nothing.
func TestPlanStrict(t *testing.T) {
	progs, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	for _, plan := range []string{`{"Version":1,"Kind":"none","Surprise":true}`, `{"Version":99,"Kind":"none"}`, `{"Version":1,"Kind":"loose"}`, `{"Version":1`, `{"Version":1,"Kind":"none"}{}`, ``} {
		read, write, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		ours, theirs, err := socketPair()
		if err != nil {
			t.Fatal(err)
		}
		files := []*os.File{nil, nil, nil, read, theirs}
		if progs[0].file != nil {
			files = append(files, progs[0].file)
		}
		proc, err := os.StartProcess(progs[0].path, progs[0].argv, &os.ProcAttr{Files: files})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = write.WriteString(plan)
		write.Close()
		read.Close()
		theirs.Close()
		state, err := proc.Wait()
		if err != nil || state.ExitCode() != 125 {
			t.Errorf("%s: %v %v", plan, state, err)
		}
		buf := make([]byte, 1024)
		if n, _ := ours.Read(buf); !bytes.Contains(buf[:n], []byte(`"failed"`)) {
			t.Errorf("%s: said %q", plan, buf[:n])
		}
		ours.Close()
	}
}

func TestRefusal(t *testing.T) {
	for _, tt := range []struct {
		kind string
		err  error
		want string
	}{
		{helper.Namespaces, &stepError{"clone(CLONE_NEWUSER)", unix.ENOSPC}, "max_user_namespaces"},
		{helper.Namespaces, &stepError{"clone(CLONE_NEWUSER)", unix.EPERM}, "unprivileged_userns_clone"},
		{helper.Namespaces, &stepError{"mount proc", unix.EPERM}, "masked"},
		{helper.Namespaces, &stepError{"mount / private", unix.EACCES}, "apparmor"},
	} {
		if got := cause(tt.kind, tt.err); !strings.Contains(got, tt.want) {
			t.Errorf("%v: %q", tt.err, got)
		}
	}
	e := &RefusedError{ReadOnly, []Attempt{{"namespace", "mount proc", unix.EPERM, "masked"}}, remedy}
	if text := e.Error(); !strings.Contains(text, "mount proc: operation not permitted (masked)") || !errors.Is(e, unix.EPERM) || !strings.Contains(e.Remedy, string(FullAccess)) {
		t.Error(text)
	}
}

// The other back ends hold what they promise where they are there.
func TestOtherBackends(t *testing.T) {
	for _, tt := range []struct {
		kind string
		mode Mode
	}{{helper.Inner, ReadOnly}, {helper.Inner, WorkspaceWrite}, {helper.Landlock, ReadOnly}} {
		t.Run(tt.kind+"/"+string(tt.mode), func(t *testing.T) {
			s := newScene(t)
			st := s.settings(tt.mode)
			st.Backend = tt.kind
			p, _, err := Resolve(st)
			if err != nil {
				t.Fatal(err)
			}
			b := open(t, p)
			r := run(t, b, Command{}, "echo x > ../out/target.txt; chmod 777 ../out/target.txt; exec 3<>/dev/udp/127.0.0.1/9; mktemp && echo $INTERPRETER_SANDBOX")
			if !strings.HasSuffix(r.out, tt.kind+"\n") || content(t, s.out+"/target.txt") != "original\n" {
				t.Errorf("%d %s", r.Code, r.out)
			}
			if info, _ := os.Stat(s.out + "/target.txt"); info.Mode().Perm() != 0o644 {
				t.Errorf("mode %v", info.Mode())
			}
		})
	}
}
