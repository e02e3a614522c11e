package action

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"interpreter/sandbox"
)

// Claims count in a row of answers: with an answer between them, or after enough of them, they begin anew.
func TestClaimsInARow(t *testing.T) {
	w := workspace(t, nil)
	var got []int
	for _, c := range []struct {
		answer int
		sure   bool
	}{{1, false}, {2, false}, {3, false}, {3, false}, {4, false}, {6, false}, {8, false}, {9, true}, {10, false}, {0, false}, {0, false}} {
		out, err := Claim{Diff: true, Sure: c.sure}.Do(WithAnswer(context.Background(), c.answer), w)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, out.Claims)
	}
	want := []int{1, 2, 1, 1, 2, 1, 1, 2, 1, 2, 1}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("claims %v, want %v", got, want)
		}
	}
}

func TestClaimShowsWhatChanged(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git here")
	}
	for _, commits := range []bool{true, false} {
		w := workspace(t, map[string]string{"a.txt": "one\ntwo\n", ".gitignore": "*.log\n", "mine.txt": "mine\n"})
		git := func(args ...string) {
			t.Helper()
			cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@localhost", "-c", "commit.gpgsign=false"}, args...)...)
			cmd.Dir = w.Dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("git %v: %v\n%s", args, err, out)
			}
		}
		claim := func() Ran {
			t.Helper()
			out, err := Claim{Diff: true}.Do(context.Background(), w)
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		git("init", "-q")
		if commits {
			git("add", ".")
			git("commit", "-q", "-m", "x")
			put(t, w, "mine.txt", "changed before\n")
		}
		w.Baseline(context.Background())
		w.Baseline(context.Background())
		if out := claim(); out.Output != "" || out.Dir != w.Dir || out.Claims != 1 {
			t.Errorf("commits %v: before anything is done: %+v", commits, out)
		}
		put(t, w, "a.txt", "one\nTWO\r\n")
		put(t, w, "sub dir/new ü.txt", "fresh\n")
		put(t, w, "x.log", "noise\n")
		out := claim()
		for _, words := range []string{"+TWO\r\n", "b/sub dir/new ü.txt", "+fresh\n", "mine.txt"} {
			if !strings.Contains(out.Output, words) {
				t.Errorf("commits %v: %q is not in\n%s", commits, words, out.Output)
			}
		}
		if strings.Contains(out.Output, "noise") || out.Claims != 2 || out.Gap != nil {
			t.Errorf("commits %v: %+v", commits, out)
		}
		if out := claim(); out.Output != "" || out.Claims != 1 {
			t.Errorf("commits %v: what was handed over counts again: %+v", commits, out)
		}
		if commits {
			if status, err := exec.Command("git", "-C", w.Dir, "diff", "--cached", "--name-only").Output(); err != nil || len(status) > 0 {
				t.Errorf("the index has %s, %v", status, err)
			}
		}
	}
}

// Programs that a repository names for git do not run.
func TestClaimSpringsNoTrap(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git here")
	}
	w := workspace(t, map[string]string{"a.txt": "one\n", ".gitattributes": "* diff=trap\n"})
	w.Box = confinedBox(t, w.Dir, sandbox.FullAccess, "")
	sprung := filepath.Join(t.TempDir(), "sprung")
	trap := filepath.Join(t.TempDir(), "trap.sh")
	if err := os.WriteFile(trap, []byte("#!/bin/sh\ntouch "+sprung+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"config", "core.fsmonitor", trap}, {"config", "diff.external", trap}, {"config", "diff.trap.textconv", trap}, {"config", "diff.trap.command", trap}} {
		if out, err := exec.Command("git", append([]string{"-C", w.Dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	_ = os.Remove(sprung)
	put(t, w, "a.txt", "two\n")
	out, err := Claim{Diff: true}.Do(context.Background(), w)
	if err != nil || !strings.Contains(out.Output, "+two") {
		t.Errorf("%+v, %v", out, err)
	}
	if _, err := os.Stat(sprung); err == nil {
		t.Error("a program of the repository's ran")
	}
}

func TestClaimOutsideARepository(t *testing.T) {
	w := workspace(t, map[string]string{"a.txt": "one\n"})
	out, err := Claim{Diff: true}.Do(context.Background(), w)
	if err != nil || out.Dir != "" || out.Output != "" || out.Claims != 1 {
		t.Errorf("%+v, %v", out, err)
	}
	if n := (Claim{Diff: true}).Need(); n.Effect != Thinks || n.Script != "" {
		t.Errorf("it needs %+v", n)
	}
}

func TestClaimTypes(t *testing.T) {
	w := keyed(t)
	a := Claim{Strokes: []Stroke{{Text: "echo do''ne\n"}}}
	if n := a.Need(); n.Effect != Runs || n.Script != "echo do''ne\n" {
		t.Errorf("it needs %+v", n)
	}
	out, err := a.Do(context.Background(), w)
	if err != nil || out.Claims != 1 || out.Session == 0 {
		t.Fatalf("%+v, %v", out, err)
	}
	shows(t, w, out, "done")
	if n := (Claim{}).Need(); n.Effect != Thinks {
		t.Errorf("it needs %+v", n)
	}
}
