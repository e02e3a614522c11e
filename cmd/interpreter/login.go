package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"interpreter/agent/event"
	"interpreter/sandbox"
	"interpreter/sandbox/shell"
)

// loginShell asks the person's login shell, in the background, what it adds to commands. Nil: nothing is to be asked, by
// the person's choice or because the shell is none we can ask.
func (s *settings) loginShell(ctx context.Context, w world, box sandbox.Box) *shell.Snapshot {
	path := w.env("SHELL")
	if path == "" {
		path = w.shell()
	}
	if info, err := os.Stat(path); err != nil || info.IsDir() || !shell.Known(path) {
		return nil
	}
	if !s.AllowLoginShell || !s.Feature("shell_snapshot") {
		return nil
	}
	home := s.user
	if info, err := os.Stat(home); err != nil || !info.IsDir() {
		home = string(filepath.Separator) // the system's profile is there all the same
	}
	policy := box.Policy()
	return shell.Begin(ctx, shell.Options{
		Box: box, Login: path, Runs: w.shell(), Environ: w.environ, Given: s.profileEnvironment(w),
		Home: home, Barred: append([]string{policy.Dir}, policy.Roots...),
	})
}

// profileEnvironment is what a profile sees of ours: all but keys, loaders and what else no child is given.
func (s *settings) profileEnvironment(w world) []string {
	return sandbox.Environ(w.environ, sandbox.EnvPolicy{Keys: s.secretNames()})
}

// login is what the snapshot of a session adds to each command. A shell that could not be asked is told of once.
func (s *settings) login(w world, id string, asked *shell.Snapshot, warn func(event.Warned)) func(context.Context, string) ([]string, string) {
	if asked == nil {
		return nil
	}
	file := filepath.Join(s.home, "snapshots", id+".sh")
	var env []string
	var made, told sync.Once
	tell := func(err error) {
		told.Do(func() {
			warn(event.Warned{
				Text:   fmt.Sprintf("%v; commands run with the environment of this program", err),
				Remedy: "look at what the profile of that shell does, or set allow_login_shell = false to leave it out",
			})
		})
	}
	return func(ctx context.Context, script string) ([]string, string) {
		environ, err := asked.Environ(ctx)
		if err != nil {
			tell(err)
		}
		if ctx.Err() != nil {
			return s.commandEnvironment(w, id), ""
		}
		made.Do(func() {
			w := w
			w.environ = environ
			env = s.commandEnvironment(w, id)
		})
		source, err := asked.Source(file, script)
		if err != nil {
			tell(err)
		}
		return slices.Clone(env), source
	}
}

// commandEnvironment is the environment of a session's commands.
func (s *settings) commandEnvironment(w world, id string) []string {
	return withShims(s.childEnvironment(w, "CODEX_THREAD_ID="+id, "INTERPRETER_THREAD_ID="+id), shims(s.home))
}
