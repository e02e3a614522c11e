// Package shell learns, once a session, what the person's login shell adds to a command: the folders of PATH that a
// version manager puts there, the variables and functions that a profile defines. The profile runs outside the sandbox,
// in the person's home folder, as it would when a terminal opens; commands then start in a plain shell, which costs a
// hundredth of it, and are given what was learnt.
//
// It refuses to let a profile change what a command means or what a person decided. A variable that the agent was
// started with keeps its value, secrets pass the same filter as all others, and a function counts only when its name
// is no program, no word of the shell and no command whose name people and approvals believe. Aliases are left out, as
// shells that nobody types into leave them out.
package shell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"interpreter/sandbox"
)

// Limit is how long a profile may take.
const Limit = 10 * time.Second

// told bounds what a shell may tell, in bytes: a version manager's functions are some hundred thousand.
const told = 4 << 20

// Options say whose shell to ask and how.
type Options struct {
	Box     sandbox.Box
	Login   string        // absolute path of the login shell; Known tells whether it is one that can be asked
	Runs    string        // absolute path of the shell that commands run in: functions of another kind mean nothing to it
	Environ []string      // the agent's own environment, as it was started
	Given   []string      // what the profile sees of it: without keys
	Home    string        // the person's home folder, where the profile runs
	Barred  []string      // folders of others' files: while the profile runs, PATH does not name programs in them
	Limit   time.Duration // 0 is Limit
}

// Known reports whether a shell is one that can be asked: bash or zsh.
func Known(path string) bool { return filepath.IsAbs(path) && dialects[filepath.Base(path)] != nil }

// Snapshot is what a login shell adds, or will have added when it has answered. Its methods may be called from any
// goroutine.
type Snapshot struct {
	o    Options
	end  context.CancelFunc
	done chan struct{}

	// Set before done is closed.
	env       []string // the agent's environment with the additions
	kind      string   // of shell, of the functions
	functions []function
	options   []string // as lines that put them on
	err       error

	rest chan struct{} // closed when nothing of the shell runs any more; nil: it was gone when it had answered

	once sync.Once
	file string
	bad  error
}

// function is one that a profile defined.
type function struct{ name, text string }

// Begin asks the shell in the background.
func Begin(ctx context.Context, o Options) *Snapshot {
	ctx, end := context.WithCancel(context.WithoutCancel(ctx))
	s := &Snapshot{o: o, end: end, done: make(chan struct{}), env: o.Environ}
	go func() {
		defer close(s.done)
		if err := s.take(ctx); err != nil && ctx.Err() == nil {
			s.err = fmt.Errorf("ask the login shell %s for its environment: %w", o.Login, err)
		}
	}()
	return s
}

// Environ is the agent's environment with what the shell adds, before any policy. It waits until that is known; ending
// ctx gives the plain one. With an error, which is the same each time, it is the plain one too.
func (s *Snapshot) Environ(ctx context.Context) ([]string, error) {
	select {
	case <-s.done:
		return s.env, s.err
	case <-ctx.Done():
		return s.o.Environ, nil
	}
}

// Source gives the file that makes the functions of the person's shell known to a script, "" when the script names none
// of them or nothing was learnt yet. An empty script stands for any. The file is written to path the first time it is
// needed.
func (s *Snapshot) Source(path, script string) (string, error) {
	select {
	case <-s.done:
	default:
		return "", nil
	}
	if len(s.options) == 0 && !slices.ContainsFunc(s.functions, func(f function) bool { return script == "" || names(script, f.name) }) {
		return "", nil
	}
	s.once.Do(func() {
		if s.bad = write(path, s.text()); s.bad == nil {
			s.file = path
		}
	})
	return s.file, s.bad
}

// Close ends the shell if it still runs, and removes the file.
func (s *Snapshot) Close() {
	s.end()
	<-s.done
	if s.rest != nil {
		<-s.rest
	}
	s.once.Do(func() {})
	if s.file != "" {
		_ = os.Remove(s.file)
	}
}

// text is what the file says. A shell that found it by a variable forgets that at once: the programs it starts are not
// to read it. It must not be heard: a function that cannot be read without the rest of its profile is no news.
func (s *Snapshot) text() string {
	var b strings.Builder
	b.WriteString("unset -v BASH_ENV\nexec 8>&2 2>/dev/null\n")
	extended := slices.Contains(s.options, "shopt -s extglob")
	if s.kind == "bash" {
		b.WriteString("shopt -s extglob\n") // some functions cannot be read without it
	}
	for _, f := range s.functions {
		b.WriteString(f.text + "\n")
	}
	if s.kind == "bash" && !extended {
		b.WriteString("shopt -u extglob\n")
	}
	for _, o := range s.options {
		b.WriteString(o + "\n")
	}
	b.WriteString("exec 2>&8 8>&-\n")
	return b.String()
}

// stale is the age of a file that a session which ended badly left.
const stale = 72 * time.Hour

func write(path, text string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("keep the functions of the login shell: %w", err)
	}
	old, _ := filepath.Glob(filepath.Join(dir, "*.sh"))
	for _, name := range old {
		if info, err := os.Lstat(name); err == nil && time.Since(info.ModTime()) > stale {
			_ = os.Remove(name)
		}
	}
	_ = os.Remove(path) // of a run of the same session that ended badly
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("keep the functions of the login shell: %w", err)
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("keep the functions of the login shell: %w", err)
	}
	return nil
}

// names reports whether a script holds a name as a word of its own.
func names(script, name string) bool {
	for from := 0; ; {
		i := strings.Index(script[from:], name)
		if i < 0 {
			return false
		}
		i += from
		end := i + len(name)
		if (i == 0 || !wordByte(script[i-1])) && (end == len(script) || !wordByte(script[end])) {
			return true
		}
		from = i + 1
	}
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
