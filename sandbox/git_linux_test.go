package sandbox

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// trapped is a repository in which everything that git can be made to start leaves a mark.
func trapped(t *testing.T, dir string) (marks string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git here")
	}
	marks = filepath.Join(dir, "marks")
	trap := filepath.Join(dir, "trap.sh")
	write := func(name, text string, mode os.FileMode) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(marks, 0o777); err != nil {
		t.Fatal(err)
	}
	write("trap.sh", "#!/bin/sh\n: > "+marks+"/ran-$$\necho \"$*\" > "+marks+"/ran-$$\ncat\n", 0o755)
	write("ws/a.txt", "one\n", 0o644)
	write("ws/b.bin", "one\n", 0o644)
	write("ws/.gitattributes", "*.txt filter=trap diff=trap\n*.bin diff=text\n", 0o644)
	ws := filepath.Join(dir, "ws")
	do := func(args ...string) {
		t.Helper()
		c := exec.Command("git", args...)
		c.Dir, c.Env = ws, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1"}
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	do("init", "-q", "-b", "trunk")
	do("config", "user.name", "Ada")
	do("config", "user.email", "ada@example.org")
	do("add", ".")
	do("commit", "-q", "-m", "first")
	for _, hook := range []string{"post-index-change", "pre-commit", "post-checkout", "fsmonitor-watchman", "query-watchman", "reference-transaction"} {
		write("hooks/"+hook, "#!/bin/sh\nexec "+trap+" hook\n", 0o755)
		write("ws/.git/hooks/"+hook, "#!/bin/sh\nexec "+trap+" hook\n", 0o755)
	}
	more := filepath.Join(dir, "more.conf")
	write("more.conf", "[core]\n\tpager = "+trap+" included\n[alias]\n\tlog = !"+trap+"\n", 0o644)
	for _, kv := range [][2]string{
		{"core.fsmonitor", trap}, {"core.hooksPath", filepath.Join(dir, "hooks")}, {"core.pager", trap}, {"pager.diff", trap},
		{"pager.log", trap}, {"pager.status", "true"}, {"core.editor", trap}, {"core.sshCommand", trap}, {"core.askPass", trap}, {"core.gitProxy", trap},
		{"core.alternateRefsCommand", trap}, {"alias.status", "!" + trap}, {"alias.diff", "!" + trap}, {"alias.log", "!" + trap},
		{"diff.external", trap}, {"diff.trap.command", trap}, {"diff.text.textconv", trap}, {"diff.text.cachetextconv", "true"},
		{"filter.trap.clean", trap}, {"filter.trap.smudge", trap}, {"filter.trap.process", trap}, {"filter.trap.required", "true"},
		{"gpg.program", trap}, {"gpg.ssh.program", trap}, {"log.showSignature", "true"}, {"credential.helper", "!" + trap},
		{"includeIf.gitdir:" + ws + "/.path", more}, {"include.path", more}, {"status.submoduleSummary", "true"}, {"diff.submodule", "log"},
		{"remote.origin.url", ws + "/elsewhere"}, {"remote.origin.uploadpack", trap}, {"remote.origin.promisor", "true"},
		{"extensions.partialClone", "origin"}, {"core.repositoryFormatVersion", "1"}, {"trailer.x.command", trap}, {"interactive.diffFilter", trap},
	} {
		do("config", kv[0], kv[1])
	}
	write("ws/a.txt", "two\n", 0o644)
	write("ws/b.bin", "two\n", 0o644)
	write("ws/new.txt", "new\n", 0o644)
	return marks
}

// No program that a repository names gets to act, however commands are confined.
func TestLookWithGit(t *testing.T) {
	const script = `g status --short --ignore-submodules=all
g log --oneline ` + GitDiffFlags + ` -3
g diff --no-color ` + GitDiffFlags + ` HEAD --
g diff --no-color ` + GitDiffFlags + ` --no-index -- /dev/null new.txt
g config user.name`
	for _, mode := range []Mode{ReadOnly, WorkspaceWrite, FullAccess} {
		s := newScene(t)
		dir, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		marks := trapped(t, dir)
		policy, _, err := Resolve(Settings{Mode: mode, Dir: filepath.Join(dir, "ws"), Writable: nil, Home: s.home})
		if err != nil {
			t.Fatal(err)
		}
		boxes := map[string]Box{"confined": open(t, policy)}
		if mode == FullAccess {
			boxes = map[string]Box{"unconfined": unconfinable{&bare{policy}}}
		}
		for name, b := range boxes {
			if name == "confined" { // where filters run, one that must succeed and cannot leaves nothing to tell
				for _, key := range []string{"filter.trap.process", "filter.trap.required"} {
					if out, err := exec.Command("git", "-C", policy.Dir, "config", "--unset", key).CombinedOutput(); err != nil {
						t.Fatalf("%v: %s", err, out)
					}
				}
			}
			p, err := LookWithGit(context.Background(), b, Command{Dir: policy.Dir, Timeout: 20 * time.Second, Env: []string{
				"PATH=" + policy.Dir + ":bin:" + os.Getenv("PATH"), "HOME=" + dir, "GIT_EXTERNAL_DIFF=" + dir + "/trap.sh", "GIT_PAGER=" + dir + "/trap.sh",
				"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.fsmonitor", "GIT_CONFIG_VALUE_0=" + dir + "/trap.sh", "GIT_DIR=/nowhere"}}, script)
			if err != nil {
				t.Fatal(err)
			}
			<-p.Done()
			out := string(p.Output().Head)
			for _, want := range []string{"M a.txt", "?? new.txt", " first", "-one", "+two", "+new", "Ada"} {
				if !strings.Contains(out, want) {
					t.Errorf("%s, %s: no %q in %s", mode, name, want, out)
				}
			}
			if ran, _ := os.ReadDir(marks); len(ran) > 0 {
				data, _ := os.ReadFile(filepath.Join(marks, ran[0].Name()))
				t.Errorf("%s, %s: %d programs of the repository ran, such as %q", mode, name, len(ran), data)
			}
		}
	}
}

// unconfinable is a box on a machine where nothing can be confined: it has no policy to make a stricter one of.
type unconfinable struct{ *bare }

func (u unconfinable) Policy() Policy {
	p := u.policy
	p.Force, p.Dir = "none", ""
	return p
}

func TestSafePath(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	path := strings.Join([]string{"", ".", "bin", dir, dir + "/bin", link, "/usr/bin", dir + "-other", "../x", "/bin/"}, ":")
	if got, want := SafePath(path, dir, ""), "/usr/bin:"+dir+"-other:/bin/"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
