package harnesstest_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"interpreter/harness"
	"interpreter/harness/catalog"
	"interpreter/harness/harnesstest"
	"interpreter/local/chat"
	"interpreter/sandbox"
	"interpreter/sandbox/action"
)

// The same work under each harness, with real actions: look, edit, run, miss.
func TestWork(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands are for a Unix shell")
	}
	for _, h := range catalog.All() {
		t.Run(h.Name, func(t *testing.T) {
			w := workspace(t)
			file := filepath.Join(w.Dir, "greet.go")
			if err := os.WriteFile(file, []byte("package greet // helo\n\nfunc Hello() string { return x }\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			for _, s := range harnesstest.Played(t, h.Name).Work {
				words := perform(t, h, w, chat.Call{ID: "1", Name: s.Tool, Args: json.RawMessage(s.Args)})
				if !strings.Contains(words, s.Want) {
					t.Errorf("%s %s says\n%s\nwant …%s…", s.Tool, s.Args, words, s.Want)
				}
			}
			text, err := os.ReadFile(file)
			if err != nil || !strings.Contains(string(text), "// hello") {
				t.Errorf("the file is %q, %v", text, err)
			}
		})
	}
}

func workspace(t *testing.T) *action.Workspace {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	policy, _, err := sandbox.Resolve(sandbox.Settings{Mode: sandbox.FullAccess, Dir: dir, Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	box, err := sandbox.New(policy)
	if err != nil {
		t.Fatal(err)
	}
	return &action.Workspace{Dir: dir, Box: box, Shell: "/bin/sh", Env: []string{"PATH=" + os.Getenv("PATH")}, Spill: t.TempDir()}
}

func perform(t *testing.T, h harness.Harness, w *action.Workspace, c chat.Call) string {
	t.Helper()
	s, err := h.Step(c)
	if err != nil {
		return h.Say(c.Name, err)
	}
	_, words, err := s.Run(context.Background(), w)
	if err != nil {
		return h.Say(s.Tool, err)
	}
	return words
}
