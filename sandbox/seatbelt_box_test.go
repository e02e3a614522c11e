package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// enclose makes the policy of one command from the disk as it is, and a judge of it.
func enclose(t *testing.T, e *enclosure, c Command) (enclosed, judge) {
	t.Helper()
	e.spell = func(path string) string { return path }
	plan, err := e.plan(c, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(plan.drop)
	return plan, judgeOf(t, plan.seatbelt)
}

// expect asks about paths as the kernel of macOS names them.
func (j judge) expect(want map[string]bool) {
	j.t.Helper()
	for said, allowed := range want {
		op, path, _ := strings.Cut(said, " ")
		if got := j.file(op + " " + forms(path)[0]); got != allowed {
			j.t.Errorf("%s: allowed %v, want %v", said, got, allowed)
		}
	}
}

func mkdirs(t *testing.T, dirs ...string) {
	t.Helper()
	for _, dir := range dirs {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

func (s scene) enclosure(t *testing.T, change func(*Settings)) *enclosure {
	t.Helper()
	set := s.settings(WorkspaceWrite)
	set.ExcludeTmp = true
	if change != nil {
		change(&set)
	}
	p, _, err := Resolve(set)
	if err != nil {
		t.Fatal(err)
	}
	return &enclosure{policy: p}
}

func TestEnclosure(t *testing.T) {
	s := newScene(t)
	mkdirs(t, s.ws+"/.git/hooks", s.ws+"/sub/codex", s.ws+"/deep/repo/.git/hooks", s.ws+"/deep/repo/.git/objects", s.ws+"/deep/repo/.git/refs")
	put(t, s.ws+"/deep/repo/.git/config", "")
	put(t, s.ws+"/deep/repo/.git/HEAD", "ref: refs/heads/main\n")
	if err := os.Symlink("sub/codex", s.ws+"/.codex"); err != nil {
		t.Fatal(err)
	}
	_, j := enclose(t, s.enclosure(t, nil), Command{})
	j.expect(map[string]bool{
		"write " + s.ws + "/in.txt": true, "make " + s.ws + "/new/dir": true, "write " + s.out + "/target.txt": false, "write " + s.base + "/ws-evil/x": false,
		"read " + s.out + "/target.txt": true, "read " + s.home + "/auth.json": false, "write " + s.home + "/config.toml": false,
		"write " + s.ws + "/.git/hooks/x": false, "write " + s.ws + "/.GIT/hooks/x": false, "unlink " + s.ws + "/.git": false,
		"unlink " + s.ws + "/.codex": false, "write " + s.ws + "/sub/codex/config.toml": false, "unlink " + s.ws + "/sub": false, "write " + s.ws + "/sub/x": true,
		"make " + s.ws + "/.agents": false, "make " + s.ws + "/.AGENTS/x": false, "make " + s.ws + "/.openinterpreter": false,
		"write " + s.ws + "/deep/repo/.git/index": true, "make " + s.ws + "/deep/repo/.git/hooks/x": false, "write " + s.ws + "/deep/repo/.git/config": false,
		"make " + s.ws + "/deep/repo/.git/config.worktree": false, "make " + s.ws + "/deep/repo/.git/Config.Worktree": false,
		"unlink " + s.ws + "/deep": false, "unlink " + s.ws + "/deep/repo": false, "unlink " + s.ws + "/deep/repo/.git": false, "unlink " + s.ws + "/deep/repo/x": true,
		"unlink " + s.ws: false,
	})
}

func TestEnclosureWorktree(t *testing.T) {
	s := newScene(t)
	admin := s.ws + "/main/.git/worktrees/tree"
	mkdirs(t, admin, s.ws+"/tree")
	put(t, s.ws+"/tree/.git", "gitdir: "+admin+"\n")
	put(t, admin+"/commondir", "../..\n")
	_, j := enclose(t, s.enclosure(t, func(set *Settings) { set.Dir, set.Writable = s.ws+"/tree", []string{s.ws} }), Command{})
	j.expect(map[string]bool{
		"write " + s.ws + "/tree/a": true, "write " + s.ws + "/tree/.git": false, "unlink " + s.ws + "/tree/.git": false, "write " + admin + "/HEAD": false,
		"write " + s.ws + "/main/.git/config": false, "write " + s.ws + "/main/a": true, "unlink " + s.ws + "/main": false, "unlink " + s.ws + "/tree": false,
	})
}

func TestEnclosureOpened(t *testing.T) {
	s := newScene(t)
	mkdirs(t, s.ws+"/.git/hooks", s.ws+"/.git/objects", s.ws+"/.git/refs")
	put(t, s.ws+"/.git/HEAD", "ref: refs/heads/main\n")
	put(t, s.ws+"/.git/config", "")
	e := s.enclosure(t, nil)
	plan, j := enclose(t, e, Command{Opened: Opened{Network: true, Paths: []string{s.ws + "/.git", s.out + "/target.txt"}}, Env: []string{"A=1", "CODEX_SANDBOX=no"}})
	j.expect(map[string]bool{
		"write " + s.ws + "/.git/index": true, "make " + s.ws + "/.git/index.lock": true, "write " + s.ws + "/.git/hooks/x": false, "write " + s.ws + "/.git/config": false,
		"write " + s.out + "/target.txt": true, "write " + s.out + "/other": false, "make " + s.ws + "/.agents": false, "unlink " + s.ws + "/.git": false,
	})
	j.always(true)
	if want := []string{"A=1", "INTERPRETER_SANDBOX=seatbelt", "CODEX_SANDBOX=seatbelt"}; !slices.Equal(plan.env[:3], want) || slices.ContainsFunc(plan.env, func(v string) bool { return strings.Contains(v, "NETWORK_DISABLED") }) {
		t.Errorf("environment %q", plan.env)
	}
	for _, path := range []string{s.home + "/config.toml", s.home + "/auth.json", s.home, "relative", "/"} {
		if _, err := e.plan(Command{Opened: Opened{Paths: []string{path}}}, ""); err == nil {
			t.Errorf("%s was opened", path)
		}
	}
	// The next command has what the session has.
	plan, j = enclose(t, e, Command{})
	j.expect(map[string]bool{"write " + s.ws + "/.git/index": false, "write " + s.out + "/target.txt": false})
	j.always(false)
	if !slices.Contains(plan.env, "INTERPRETER_SANDBOX_NETWORK_DISABLED=1") || !slices.Contains(plan.env, "CODEX_SANDBOX_NETWORK_DISABLED=1") {
		t.Errorf("environment %q", plan.env)
	}
}

func TestEnclosureScratch(t *testing.T) {
	s := newScene(t)
	e := s.enclosure(t, func(set *Settings) { set.Mode = ReadOnly })
	plan, j := enclose(t, e, Command{Opened: Opened{Paths: []string{s.out}}})
	scratch := lookup(plan.env, "TMPDIR")
	if !within(scratch, s.home) || lookup(plan.env, "TMPPREFIX") == "" {
		t.Fatalf("scratch %q of %q", scratch, plan.env)
	}
	cache := lookup(plan.env, "GOCACHE")
	j.expect(map[string]bool{"make " + scratch + "/x": true, "unlink " + scratch: false, "write " + cache + "/00/x": true, "write " + s.ws + "/in.txt": false,
		"write " + s.out + "/x": true, "make /tmp/x": false, "write " + s.home + "/x": false})
	if !within(cache, scratch) || !within(lookup(plan.env, "npm_config_cache"), scratch) {
		t.Errorf("a cache that would last: %q", plan.env)
	}
	mkdirs(t, scratch+"/locked/in")
	if err := os.Chmod(scratch+"/locked", 0); err != nil {
		t.Fatal(err)
	}
	plan.drop()
	if exists(scratch) {
		t.Error("the scratch folder is still there")
	}
	if plan, _ := enclose(t, s.enclosure(t, func(set *Settings) { set.ExcludeTmp = false }), Command{}); lookup(plan.env, "TMPDIR") != "" {
		t.Error("a command that may write to the temporary folder has another")
	}
}

func TestByVariables(t *testing.T) {
	s := newScene(t)
	user := filepath.Dir(s.home)
	mkdirs(t, user+"/.gradle/caches", user+"/.m2/repository", user+"/.npm", user+"/go/pkg/mod", s.ws+"/cache/pip", user+"/.cargo/registry")
	e := s.enclosure(t, nil)
	ours := filepath.Join(s.home, "build-cache", WorkspaceID(s.ws))
	plan, j := enclose(t, e, Command{Env: []string{"PIP_CACHE_DIR=" + s.ws + "/cache/pip", "MAVEN_OPTS=-Xmx1g"}})
	for name, want := range map[string]string{
		"GOCACHE": ours + "/gocache/upper", "XDG_CACHE_HOME": ours + "/xdg_cache_home/upper", "npm_config_cache": ours + "/tools/upper/npm_config_cache",
		"GRADLE_USER_HOME": ours + "/tools/upper/gradle_user_home", "GRADLE_RO_DEP_CACHE": user + "/.gradle/caches", "PIP_CACHE_DIR": s.ws + "/cache/pip",
		"MAVEN_OPTS": "-Xmx1g -Dmaven.repo.local=" + ours + "/tools/upper/maven -Dmaven.repo.local.tail=" + user + "/.m2/repository",
		"GOMODCACHE": "", "CARGO_HOME": "", "NUGET_FALLBACK_PACKAGES": "",
	} {
		if got := lookup(plan.env, name); got != want {
			t.Errorf("%s=%s, want %s", name, got, want)
		}
	}
	j.expect(map[string]bool{"write " + ours + "/gocache/upper/x": true, "write " + ours + "/tools/upper/npm_config_cache/x": true, "write " + ours + "/x": false,
		"write " + user + "/.npm/x": false, "write " + user + "/.m2/repository/x": false, "write " + user + "/go/pkg/mod/x": false})
	// What a command fetches has a place when it may fetch.
	plan, j = enclose(t, e, Command{Opened: Opened{Network: true}})
	for _, name := range []string{"GOMODCACHE", "CARGO_HOME"} {
		dir := lookup(plan.env, name)
		if !within(dir, ours) {
			t.Errorf("%s=%s", name, dir)
			continue
		}
		j.expect(map[string]bool{"make " + dir + "/x": true})
	}
	e.policy.Caches = nil
	if plan, _ := enclose(t, e, Command{}); lookup(plan.env, "GOCACHE")+lookup(plan.env, "npm_config_cache") != "" {
		t.Errorf("caches nobody asked for: %q", plan.env)
	}
}

func TestEnclosureSettle(t *testing.T) {
	s := newScene(t)
	if err := os.Symlink("sub", s.ws+"/.agents"); err != nil {
		t.Fatal(err)
	}
	e := s.enclosure(t, nil)
	plan, _ := enclose(t, e, Command{})
	put(t, s.ws+"/.codex/config.toml", "model = 1\n")
	if err := os.Remove(s.ws + "/.agents"); err != nil {
		t.Fatal(err)
	}
	var x Exit
	e.settle(plan.guard, &x)
	if x.Backend != "seatbelt" || len(x.Undone) != 2 || len(x.Refused) != 2 || exists(s.ws+"/.codex") || !x.Undone[0].Undone {
		t.Errorf("undone %+v", x)
	}
	if text, err := os.Readlink(s.ws + "/.agents"); err != nil || text != "sub" {
		t.Errorf("link %q, %v", text, err)
	}
	if kept, _ := filepath.Glob(s.home + "/quarantine/*codex/config.toml"); len(kept) != 1 {
		t.Errorf("quarantine %q", kept)
	}
}

func TestIdentities(t *testing.T) {
	s := newScene(t)
	known, err := identify([]string{s.ws, s.out})
	if err != nil || known.check(s.ws) != nil {
		t.Fatal(err, known.check(s.ws))
	}
	if err := os.RemoveAll(s.out); err != nil {
		t.Fatal(err)
	}
	if err := known.check(s.ws); err != nil {
		t.Errorf("a further folder is gone: %v", err)
	}
	if err := os.Symlink(s.ws, s.out); err != nil {
		t.Fatal(err)
	}
	if err := known.check(s.ws); !errors.Is(err, errMoved) {
		t.Errorf("a link in its place: %v", err)
	}
	known, _ = identify([]string{s.ws})
	if err := os.Rename(s.ws, s.ws+"-old"); err != nil {
		t.Fatal(err)
	}
	if err := known.check(s.ws); !errors.Is(err, errMoved) {
		t.Errorf("gone: %v", err)
	}
	mkdirs(t, s.ws)
	if err := known.check(s.ws); !errors.Is(err, errMoved) || !strings.Contains(err.Error(), s.ws) {
		t.Errorf("another in its place: %v", err)
	}
	if _, err := identify([]string{s.base + "/none"}); err == nil {
		t.Error("what is not there was identified")
	}
}

func TestSeatbeltRefusal(t *testing.T) {
	tests := []struct {
		code int
		said string
		want []string
	}{
		{71, "sandbox-exec: sandbox_apply: Operation not permitted\n", []string{"confine commands in mode read-only: seatbelt: /usr/bin/sandbox-exec: ", "exit code 71: sandbox_apply: Operation not permitted", "inside a sandbox already"}},
		{65, "sandbox-exec: unbound variable: file-clone\nmore\n", []string{"exit code 65: unbound variable: file-clone", "does not know a word of the policy"}},
		{71, "sandbox-exec: sandbox_apply: Cannot allocate memory", []string{"the kernel did not take the policy"}},
		{-1, "", []string{"exit code -1"}},
	}
	for _, tt := range tests {
		r := seatbeltRefusal(ReadOnly, tt.code, tt.said)
		for _, want := range tt.want {
			if !strings.Contains(r.Error(), want) {
				t.Errorf("%d %q: %q lacks %q", tt.code, tt.said, r, want)
			}
		}
		if r.Remedy == "" || strings.Contains(r.Error(), "\n") {
			t.Errorf("%d: %q, remedy %q", tt.code, r, r.Remedy)
		}
	}
}
