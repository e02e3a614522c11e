//go:build unix

package main

import (
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"interpreter/local/ollama"
	"interpreter/local/practice"
)

// session is the program on a terminal.
type session struct {
	t        *testing.T
	terminal *os.File
	cmd      *exec.Cmd
	home     string
	lock     sync.Mutex
	raw      strings.Builder
	seen     int // of raw, by see
	done     chan struct{}
}

var sequences = regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07|\r`)

// begin starts it with a home, on a recorded machine.
func begin(t *testing.T, home string, columns uint16, env []string, args ...string) *session {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	machine, err := filepath.Abs(filepath.Join("..", "..", "local", "testdata", "machines", "rtx-3060-12.json"))
	if err != nil {
		t.Fatal(err)
	}
	s := &session{t: t, home: home, done: make(chan struct{})}
	s.cmd = &exec.Cmd{
		Path: self, Args: append([]string{"interpreter"}, args...), Dir: t.TempDir(),
		Env: append([]string{
			"INTERPRETER_HOME=" + home, "HOME=" + home, "TERM=xterm-256color", "MACHINE=" + machine, "LMSTUDIO=" + nobody, "OLLAMA_HOST=" + nobody,
			"PATH=" + os.Getenv("PATH"), "GORACE=atexit_sleep_ms=10",
		}, env...),
	}
	if s.terminal, err = pty.StartWithSize(s.cmd, &pty.Winsize{Rows: 30, Cols: columns}); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(s.done)
		buffer := make([]byte, 4096)
		for {
			n, err := s.terminal.Read(buffer)
			s.lock.Lock()
			s.raw.Write(buffer[:n])
			s.lock.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
		s.terminal.Close()
		<-s.done
	})
	return s
}

// shown is what was written so far from a place on, without what moves and colours it.
func (s *session) shown(from int) (text string, end int) {
	s.lock.Lock()
	defer s.lock.Unlock()
	return sequences.ReplaceAllString(s.raw.String()[from:], ""), s.raw.Len()
}

// see waits until something is shown that was not before.
func (s *session) see(pattern string) {
	s.t.Helper()
	want := regexp.MustCompile(pattern)
	if !comes(func() bool {
		text, end := s.shown(s.seen)
		if !want.MatchString(text) {
			return false
		}
		s.seen = end
		return true
	}) {
		text, _ := s.shown(0)
		s.t.Fatalf("%s is not shown in:\n%s", pattern, text)
	}
}

func (s *session) keys(text string) {
	s.t.Helper()
	if _, err := s.terminal.WriteString(text); err != nil {
		s.t.Fatal(err)
	}
}

// ends waits for its exit code.
func (s *session) ends(code int) {
	s.t.Helper()
	select {
	case <-s.done:
	case <-time.After(patience):
		text, _ := s.shown(0)
		s.t.Fatalf("it does not end:\n%s", text)
	}
	_ = s.cmd.Wait()
	if got := s.cmd.ProcessState.ExitCode(); got != code {
		text, _ := s.shown(0)
		s.t.Fatalf("exit code %d, want %d:\n%s", got, code, text)
	}
}

func (s *session) config() string {
	text, _ := os.ReadFile(filepath.Join(s.home, "config.toml"))
	return string(text)
}

// played is a practice model in a server of its own.
func played(t *testing.T, script string) (address string) {
	t.Helper()
	parsed, err := practice.Parse(script)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(practice.NewServer(parsed))
	t.Cleanup(server.Close)
	return "OLLAMA_HOST=" + server.URL
}

const (
	absentModel = "model qwen3.5:9b\nabsent\nsize 6600000000\nreply\n  say Hello.\n"
	chosenLines = "model_provider = \"ollama\"\nmodel = \"qwen3.5:9b\"\n"
)

// The first start on a terminal, with forms, from an empty home to a model that is configured; then there is nothing to
// set up any more.
func TestFirstRun(t *testing.T) {
	home, server := t.TempDir(), played(t, absentModel)
	s := begin(t, home, 80, []string{server})
	s.see(`(?s)✓ machine +AMD Ryzen.*✓ server +Ollama 0\.24\.0.*Which model\?.*› qwen3\.5:9b · 6\.6 GB.*esc leave`)
	s.keys("\x1b[B")
	s.see(`› gemma4:12b`)
	s.keys("\x1b[A")
	s.see(`› qwen3\.5:9b`)
	s.keys("\r")
	s.see(`(?s)Download qwen3\.5:9b, 6\.6 GB\?.*201\.9 GB are free.*esc leave`)
	s.keys("\r")
	s.see(`(?s)100%.*6\.6 GB.*✓ download +qwen3\.5:9b is here\..*see whether it can call tools\?.*esc leave`)
	s.keys("\r")
	s.see(`(?s)✓ model +qwen3\.5:9b · 128k window .*calls tools.*model_provider = "ollama".*esc leave`)
	s.keys("\r")
	s.see(`(?s)✓ written.*config\.toml.*interpreter exec "explain`)
	s.ends(0)
	if got := s.config(); got != chosenLines {
		t.Errorf("%q", got)
	}
	if raw := s.raw.String(); strings.Contains(raw, "\x1b]11") || strings.LastIndex(raw, "\x1b[?25h") < strings.LastIndex(raw, "\x1b[?25l") {
		t.Errorf("it asked the terminal, or left without a cursor: %q", raw)
	}
	s = begin(t, home, 80, []string{server})
	s.see(`no interactive screen`)
	s.ends(exitFailed)
}

// The same in plain questions, which may be answered before they are asked; and on a terminal that cannot draw.
func TestSetupInPlainQuestions(t *testing.T) {
	for _, mode := range []struct{ env, flag string }{{"ACCESSIBLE=1", "setup"}, {"TERM=dumb", "setup"}, {"NO_COLOR=1", "--accessible"}} {
		args := []string{"setup"}
		if mode.flag != "setup" {
			args = append(args, mode.flag)
		}
		s := begin(t, t.TempDir(), 60, []string{played(t, absentModel), mode.env}, args...)
		s.keys("1\n1\n\n1\n")
		s.see(`(?s)Which model\? \(recommended: 1\).*1\. qwen3\.5:9b\n.*7\. leave`)
		s.see(`(?s)written:.*interpreter exec`)
		s.ends(0)
		if got := s.config(); got != chosenLines {
			t.Errorf("%s: %q", mode.env, got)
		}
		if raw := s.raw.String(); strings.Contains(raw, "\x1b") {
			t.Errorf("%s: it drew: %q", mode.env, raw)
		}
	}
}

// Esc, Ctrl-C and the end of the input leave, each with a word on what is kept, and nothing written.
func TestSetupIsLeft(t *testing.T) {
	for _, way := range []struct{ env, key string }{{"LANG=C", "\x1b"}, {"NO_COLOR=1", "\x03"}, {"ACCESSIBLE=1", "\x03"}, {"ACCESSIBLE=1", "\x04"}, {"ACCESSIBLE=1", "7\n"}} {
		s := begin(t, t.TempDir(), 60, []string{played(t, absentModel), way.env}, "setup")
		s.see(`(?s)Which model\?.*(esc leave|Enter a number between 1 and 7)`)
		s.keys(way.key)
		s.see(`(?s)Left\. Nothing was changed\.\n.*interpreter setup`)
		s.ends(exitFailed)
		if s.config() != "" {
			t.Errorf("%s, %q: %q", way.env, way.key, s.config())
		}
		if raw := s.raw.String(); way.env == "NO_COLOR=1" && regexp.MustCompile(`\x1b\[[0-9;]*m`).MatchString(strings.ReplaceAll(raw, "\x1b[0m", "")) {
			t.Errorf("there are colours: %q", raw)
		}
	}
}

// A server that is installed and not running is started when the person agrees, and goes on after the wizard.
func TestSetupStartsServer(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	tools, self := t.TempDir(), os.Args[0]
	if self, err = filepath.Abs(self); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(tools, "script")
	for path, text := range map[string]string{
		filepath.Join(tools, "ollama"): "#!/bin/sh\nexec " + filepath.Join(tools, "interpreter") + " practice serve --wire ollama --listen $OLLAMA_HOST " + script + "\n",
		script:                         absentModel,
	} {
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(self, filepath.Join(tools, "interpreter")); err != nil {
		t.Fatal(err)
	}
	s := begin(t, t.TempDir(), 80, []string{"OLLAMA_HOST=http://" + address, "PATH=" + tools + ":" + os.Getenv("PATH")}, "setup")
	s.see(`(?s)No model server answers\. What now\?.*› start Ollama, which is installed.*esc leave`)
	s.keys("\r")
	s.see(`(?s)✓ started +Ollama \(process \d+\) is started.*serve\s+--stop.*✓ server.*Which model\?.*esc leave`)
	found := servings(s.home)
	t.Cleanup(func() {
		for _, one := range found {
			_ = ollama.Stop(one.PID)
		}
	})
	if len(found) != 1 || !sameAddress(found[0].Address, "http://"+address) {
		t.Fatalf("%+v", found)
	}
	s.keys("\x1b")
	s.see(`Left\. What was done stays: Ollama \(process \d+\) keeps\s+running\.`)
	s.ends(exitFailed)
	if err := syscall.Kill(found[0].PID, 0); err != nil {
		t.Errorf("the server ended with the wizard: %v", err)
	}
}
