package action

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"interpreter/sandbox"
)

func TestGuidesComeOnce(t *testing.T) {
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
	w := &Workspace{Dir: dir, Box: box, Guides: []string{"AGENTS.md", "CLAUDE.md"}}
	for path, text := range map[string]string{
		"AGENTS.md": "of the root", "a/CLAUDE.md": "of a", "a/b/AGENTS.md": "of b", "a/b/CLAUDE.md": "never", "a/b/x.go": "package b\n", "a/y.go": "package a\n",
	} {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	read := func(path string) string {
		t.Helper()
		seen, err := Guided{Read{Path: path}}.Do(context.Background(), w)
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		for _, g := range seen.Guides {
			text += g.Path + ": " + g.Text + "; "
		}
		return text
	}
	if got, want := read("a/b/x.go"), "a/CLAUDE.md: of a; a/b/AGENTS.md: of b; "; got != want {
		t.Errorf("first: %q, want %q", got, want)
	}
	if got := read("a/y.go") + read("a/b/x.go"); got != "" {
		t.Errorf("again: %q", got)
	}
	if err := os.WriteFile(filepath.Join(dir, "a/CLAUDE.md"), []byte("anew"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, want := read("a/y.go"), "a/CLAUDE.md: anew; "; got != want {
		t.Errorf("changed: %q, want %q", got, want)
	}
	w.Forget()
	if got, want := read("a/y.go"), "a/CLAUDE.md: anew; "; got != want {
		t.Errorf("forgotten: %q, want %q", got, want)
	}
	w.Guides = nil
	w.Forget()
	if got := read("a/b/x.go"); got != "" {
		t.Errorf("without names: %q", got)
	}
}
