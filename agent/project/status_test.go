package project

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"interpreter/harness"
	"interpreter/sandbox"
)

func TestStatusOf(t *testing.T) {
	many := strings.Repeat("?? a.txt\n", statusLines+3)
	for _, tt := range []struct {
		name, text string
		want       harness.GitStatus
	}{
		{"all of it", "origin/main\n\x1eAda\n\x1e M a.go\n?? b.go\n\x1e1a2b3c4 Start\n\x1e", harness.GitStatus{Main: "main", User: "Ada", Changes: []string{" M a.go", "?? b.go"}, Commits: []string{"1a2b3c4 Start"}}},
		{"nothing known", "\x1e\x1e\x1e\x1e", harness.GitStatus{}},
		{"no git", "sh: git: not found\n", harness.GitStatus{}},
		{"many", "\x1e\x1e" + many + "\x1e\x1e", harness.GitStatus{Changes: strings.Split(strings.Repeat("?? a.txt\n", statusLines-1)+"?? a.txt", "\n"), More: 3}},
	} {
		if got := statusOf(tt.text); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// Programs that a repository names for git do not run, and what git tells is there.
func TestStatusOfARepositoryThatSetsTraps(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git here")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1"}
	sprung := filepath.Join(dir, "sprung")
	trap := filepath.Join(dir, "trap.sh")
	if err := os.WriteFile(trap, []byte("#!/bin/sh\ntouch "+sprung+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "trunk"}, {"config", "user.name", "Ada"}, {"config", "user.email", "ada@example.org"},
		{"add", "trap.sh"}, {"commit", "-q", "-m", "Set a trap"}, {"config", "core.fsmonitor", trap}, {"config", "core.pager", trap}, {"config", "diff.external", trap},
	} {
		c := exec.Command("git", args...)
		c.Dir, c.Env = dir, env
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "new.txt"), nil, 0o644); err != nil {
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
	got := Status(context.Background(), box, dir, env)
	if got.User != "Ada" || len(got.Changes) != 1 || got.Changes[0] != "?? new.txt" || len(got.Commits) != 1 || !strings.HasSuffix(got.Commits[0], " Set a trap") {
		t.Errorf("got %+v", got)
	}
	if _, err := os.Stat(sprung); err == nil {
		t.Error("a program that the repository names was run")
	}
}
