package sandbox

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"interpreter/sandbox/helper"
)

func TestCleanCaches(t *testing.T) {
	s := newScene(t)
	user := filepath.Dir(s.home)
	put(t, user+"/.cache/tool/entry", "warm\n")
	b := s.open(t, WorkspaceWrite)
	env := []string{"HOME=" + user, "PATH=/usr/bin:/bin"}
	if b.Backend() != helper.Namespaces {
		t.Skipf("layers need namespaces; this machine has %s", b.Backend())
	}
	if r := run(t, b, Command{Env: env}, "head -c 4096 /dev/zero > ~/.cache/tool/made"); r.Code != 0 {
		t.Fatal(r.out)
	}
	p, err := b.Start(context.Background(), Command{Argv: []string{"/bin/sleep", "60"}, Env: env})
	if err != nil {
		t.Fatal(err)
	}
	done, err := CleanCaches(s.home, s.ws)
	if err != nil || len(done.Busy) == 0 || !exists(filepath.Join(b.Policy().Caches[0].Upper, "upper/tool/made")) {
		t.Errorf("cleaned below a running command: %+v, %v", done, err)
	}
	p.Kill()
	<-p.Done()
	if other, err := CleanCaches(s.home, s.out); err != nil || other.Layers != 0 {
		t.Errorf("cleaned another workspace: %+v, %v", other, err)
	}
	done, err = CleanCaches(s.home, "")
	if err != nil || len(done.Busy) != 0 || done.Freed < 4096 {
		t.Errorf("%+v, %v", done, err)
	}
	if left, _ := filepath.Glob(s.home + "/build-cache/*"); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
	if r := run(t, b, Command{Env: env}, "cat ~/.cache/tool/entry; test ! -e ~/.cache/tool/made && echo x > ~/.cache/tool/again"); r.Code != 0 || content(t, user+"/.cache/tool/entry") != "warm\n" {
		t.Errorf("after cleaning: %d %s", r.Code, r.out)
	}
}

func TestTrim(t *testing.T) {
	home := t.TempDir()
	space := filepath.Join(home, cacheFolder, "w-1")
	now := time.Now()
	for i, name := range []string{"a/upper/old", "a/upper/new", "b/upper/older", "b/upper/newer", "c/upper/oldest", filepath.Join("a", "work", "x")} {
		put(t, filepath.Join(space, name), strings.Repeat("x", 1000))
		age := map[string]int{"older": 40, "old": 30, "newer": 20, "new": 10, "oldest": 50, "x": 99}[filepath.Base(name)]
		if err := os.Chtimes(filepath.Join(space, name), now, now.Add(-time.Duration(age)*time.Hour)); err != nil {
			t.Fatal(i, err)
		}
	}
	put(t, filepath.Join(space, ".gone-d/upper/f"), "x")
	put(t, filepath.Join(home, "opened-1/upper/f"), "x")
	put(t, filepath.Join(home, "opened-2/upper/f"), "x")
	if err := os.Chtimes(filepath.Join(home, "opened-1"), now, now.Add(-2*stale)); err != nil {
		t.Fatal(err)
	}
	held, ok := lockFile(filepath.Join(space, "c", lockName), true)
	if !ok {
		t.Fatal("no lock")
	}
	defer held.Close()
	trim(home, space, 4500)
	for name, want := range map[string]bool{"a/upper/old": false, "b/upper/older": false, "a/upper/new": true, "b/upper/newer": true, "c/upper/oldest": true, ".gone-d": false} {
		if exists(filepath.Join(space, name)) != want {
			t.Errorf("%s: there %v, want %v", name, !want, want)
		}
	}
	if exists(filepath.Join(home, "opened-1")) || !exists(filepath.Join(home, "opened-2")) {
		t.Error("what a killed agent left is still there, or what a running one uses is gone")
	}
	trim(home, space, 1<<30)
	if !exists(filepath.Join(space, "a/upper/new")) {
		t.Error("trimmed within the limit")
	}
}

// Repositories that a command makes are told, once; those that were there are not.
func TestNotices(t *testing.T) {
	s := newScene(t)
	git(t, s.ws, "init", "-q", "sub/there")
	b := s.open(t, WorkspaceWrite)
	r := run(t, b, Command{}, "git init -q sub/made; printf '#!/bin/sh\n' > sub/made/.git/hooks/post-merge; mkdir -p shape/objects shape/refs; echo 'ref: x' > shape/HEAD; echo 'gitdir: /elsewhere' > sub/.git")
	if len(r.Notices) != 3 {
		t.Fatalf("notices %q", r.Notices)
	}
	all := strings.Join(r.Notices, "\n")
	for _, want := range []string{"sub/made/.git", "hooks post-merge", "/shape", "sub/.git", "/elsewhere"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in %s", want, all)
		}
	}
	if r := run(t, b, Command{}, "true"); len(r.Notices) != 0 {
		t.Errorf("told again: %q", r.Notices)
	}
	if r := run(t, b, Command{}, "echo x > sub/made/.git/hooks/pre-commit"); r.Code == 0 {
		t.Error("the hooks of a repository that is there can be written")
	}
}

// Landlock alone protects by copies.
func TestVault(t *testing.T) {
	s := newScene(t)
	git(t, s.ws, "init", "-q")
	put(t, s.ws+"/.git/hooks/keep", "mine\n")
	put(t, s.ws+"/.openinterpreter/config.toml", "# project\n")
	put(t, s.ws+"/.agents/skills/a.md", "good\n")
	settings := Settings{Mode: WorkspaceWrite, Dir: s.ws, Home: s.home, UserHome: filepath.Dir(s.home), Backend: "landlock", ExcludeTmp: true}
	p, _, err := Resolve(settings)
	if err != nil {
		t.Fatal(err)
	}
	b := open(t, p)
	if b.Backend() != helper.Landlock {
		t.Fatalf("the back end is %s", b.Backend())
	}
	config := content(t, s.ws+"/.git/config")
	r := run(t, b, Command{}, `echo x > .git/hooks/pre-commit; echo evil > .git/hooks/keep; git config core.pager evil; chmod 777 .openinterpreter/config.toml
echo evil >> .openinterpreter/config.toml; rm -rf .agents; mkdir -p .codex; echo fine > made; echo ref > .git/refs/heads/new; true`)
	for path, want := range map[string]string{".git/hooks/keep": "mine\n", ".git/config": config, ".openinterpreter/config.toml": "# project\n", ".agents/skills/a.md": "good\n", "made": "fine\n", ".git/refs/heads/new": "ref\n"} {
		if got := content(t, s.ws+"/"+path); got != want {
			t.Errorf("%s says %q, want %q", path, got, want)
		}
	}
	if has(s.ws+"/.git/hooks/pre-commit") != "" || has(s.ws+"/.codex") != "" {
		t.Error("what must not appear is there")
	}
	if len(r.Refused) != 4 || len(r.Undone) != 4 {
		t.Errorf("told %s", strings.Join(r.Refused, "\n"))
	}
	for _, script := range []string{"rm -rf .git", "mv .git sub/g; mkdir -p .git/hooks; echo x > .git/hooks/pre-commit", "mv .git/hooks .git/h; ln -s /tmp .git/hooks"} {
		if r := run(t, b, Command{}, script); content(t, s.ws+"/.git/config") != config || content(t, s.ws+"/.git/hooks/keep") != "mine\n" || !exists(s.ws+"/.git/HEAD") || exists(s.ws+"/.git/hooks/pre-commit") {
			t.Errorf("%s is not put right; told %q", script, r.Refused)
		}
	}
	if r := run(t, b, Command{}, "echo x > "+s.out+"/target.txt"); r.Code == 0 || len(Denials(r.Exit, Output{Head: []byte(r.out)}, p)) != 1 {
		t.Errorf("outside: %d %s %q", r.Code, r.out, Denials(r.Exit, Output{Head: []byte(r.out)}, p))
	}
	if r := run(t, b, Command{Opened: Opened{Paths: []string{s.out + "/target.txt"}}}, "echo x > "+s.out+"/target.txt"); r.Code != 0 {
		t.Errorf("opened: %s", r.out)
	}
	if _, err := b.Start(context.Background(), Command{Argv: []string{"/bin/true"}, Opened: Opened{Paths: []string{s.out + "/missing"}}}); err == nil {
		t.Error("Landlock opened what is missing")
	}
	settings.Backend = ""
	if p, _, _ := Resolve(settings); p.Degraded {
		t.Error("degraded without consent")
	}
}

// What must not appear is gone while the command that made it still runs.
func TestPatrol(t *testing.T) {
	s := newScene(t)
	g := protections(s.policy(t, WorkspaceWrite))
	done, ended := make(chan struct{}), make(chan struct{})
	put(t, s.ws+"/.codex/config.toml", "x\n")
	go func() {
		g.patrol(done, time.Millisecond, s.home)
		close(ended)
	}()
	for limit := time.Now().Add(5 * time.Second); exists(s.ws+"/.codex") && time.Now().Before(limit); {
		runtime.Gosched()
	}
	close(done)
	<-ended
	if found := g.settle(s.home); exists(s.ws+"/.codex") || len(found) != 1 || found[0].Path != s.ws+"/.codex" || !found[0].Undone {
		t.Errorf("undone: %+v", found)
	}
	// Where the folder became a link to another, what is there is somebody else's.
	put(t, s.out+"/.codex/config.toml", "theirs\n")
	if err := errors.Join(os.RemoveAll(s.ws+"/sub"), os.Symlink(s.out, s.ws+"/sub")); err != nil {
		t.Fatal(err)
	}
	g.missing = []string{s.ws + "/sub/.codex"}
	if found := g.settle(s.home); !exists(s.out + "/.codex/config.toml") {
		t.Errorf("moved away: %+v", found)
	}
}
