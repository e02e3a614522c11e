package shell

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"interpreter/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.AsHelper()
	os.Exit(m.Run())
}

// person is a home folder with a profile, and a box over a workspace beside it.
type person struct {
	home, work, agent string
	box               sandbox.Box
	shell             string
}

func newPerson(t *testing.T, profile string) person {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash here")
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := person{filepath.Join(base, "home"), filepath.Join(base, "work"), filepath.Join(base, "agent"), nil, bash}
	for _, dir := range []string{p.home, p.work} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(p.home, ".bash_profile"), []byte(profile), 0o644); err != nil {
		t.Fatal(err)
	}
	policy, _, err := sandbox.Resolve(sandbox.Settings{Mode: sandbox.FullAccess, Dir: p.work, Home: p.agent})
	if err != nil {
		t.Fatal(err)
	}
	if p.box, err = sandbox.New(policy); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p person) begin(t *testing.T, environ ...string) *Snapshot {
	t.Helper()
	environ = append([]string{"HOME=" + p.home, "PATH=/usr/bin:/bin"}, environ...)
	s := Begin(context.Background(), Options{
		Box: p.box, Login: p.shell, Runs: p.shell, Environ: environ, Given: environ, Home: p.home, Barred: []string{p.work},
	})
	t.Cleanup(s.Close)
	return s
}

func (p person) file() string { return filepath.Join(p.agent, "snapshots", "one.sh") }

// What a profile adds arrives; what the person set for this run stands.
func TestEnvironment(t *testing.T) {
	p := newPerson(t, `echo noise; printf '\0mark-\0'; echo more >&2
export ADDED='two
lines' BOTH=profile EMPTY=
export PATH="$HOME/manager/shims:$PATH:relative:"
export SSH_AUTH_SOCK=/gone INTERPRETER_HOME=/gone
set -e; set -x
`)
	env, err := p.begin(t, "BOTH=person", "EMPTIED=").Environ(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"ADDED=two\nlines", "BOTH=person", "EMPTY=", "EMPTIED=", "PATH=" + p.home + "/manager/shims:"} {
		if !slices.ContainsFunc(env, func(entry string) bool {
			return entry == want || strings.HasSuffix(want, ":") && strings.HasPrefix(entry, want)
		}) {
			t.Errorf("no %q in %q", want, env)
		}
	}
	for _, entry := range env {
		name, _, _ := strings.Cut(entry, "=")
		if slices.Contains([]string{"SSH_AUTH_SOCK", "INTERPRETER_HOME", "PWD", "SHLVL", "_"}, name) {
			t.Errorf("there is %q", entry)
		}
	}
}

// Functions are there for a script that names them, without what would change the meaning of a command.
func TestFunctions(t *testing.T) {
	p := newPerson(t, `
manager() { inner "$@"; }
inner() { case $1 in @(x|y)) echo never;; a) echo "inner $1";; *) echo other;; esac; }
ls() { echo shadowed; }
cd() { echo shadowed; }
rg() { echo shadowed; }
local-tool() { echo shadowed; }
command_not_found_handle() { echo hooked; }
alias pwd='echo aliased'
shopt -s globstar expand_aliases
mkdir -p "$HOME/bin"; printf '#!/bin/sh\n' > "$HOME/bin/local-tool"; chmod +x "$HOME/bin/local-tool"
export PATH="$HOME/bin:$PATH"
`)
	// A function with a pattern that only extglob can read is part of the profile.
	profile, _ := os.ReadFile(filepath.Join(p.home, ".bash_profile"))
	if err := os.WriteFile(filepath.Join(p.home, ".bash_profile"), append([]byte("shopt -s extglob\n"), append(profile, "shopt -u extglob\n"...)...), 0o644); err != nil {
		t.Fatal(err)
	}
	s := p.begin(t)
	env, err := s.Environ(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	file, err := s.Source(p.file(), "manager a; globs **/x")
	if err != nil || file != p.file() {
		t.Fatalf("file %q: %v", file, err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("its rights are %v, %v", info.Mode(), err)
	}
	if info, err := os.Stat(filepath.Dir(file)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the rights of its folder are %v, %v", info.Mode(), err)
	}
	const script = `manager a; manager c; ls / >/dev/null && echo listed; cd / && pwd; type rg local-tool 2>&1 | grep -c function
no_such_thing_here; echo "code $?"; shopt -q globstar && echo star; shopt -q extglob || echo plain; echo "[${BASH_ENV-unset}]"; bash -c 'type manager' 2>&1 | grep -c 'not found'`
	c := exec.Command(p.shell, "-c", script)
	c.Env = append(env, "BASH_ENV="+file)
	out, _ := c.CombinedOutput()
	want := "inner a\nother\nlisted\n/\n0\n"
	if !strings.HasPrefix(string(out), want) || !strings.HasSuffix(string(out), "code 127\nstar\nplain\n[unset]\n1\n") || strings.Contains(string(out), "hooked") {
		t.Errorf("got %s", out)
	}
	s.Close()
	if _, err := os.Stat(file); err == nil {
		t.Error("the file outlived the session")
	}
}

// A script that names no function costs nothing: it is given no file.
func TestNoFileWithoutNeed(t *testing.T) {
	p := newPerson(t, "manager() { :; }\n")
	s := p.begin(t)
	if _, err := s.Environ(context.Background()); err != nil {
		t.Fatal(err)
	}
	for script, want := range map[string]bool{"go test ./...": false, "manager_of x": false, "xmanager": false, "a;manager": true, "manager": true, "echo manager.": true, "": true} {
		file, err := s.Source(p.file(), script)
		if (file != "") != want || err != nil {
			t.Errorf("%q: file %q, %v", script, file, err)
		}
	}
	other := p
	other.home = t.TempDir()
	s = other.begin(t)
	if _, err := s.Environ(context.Background()); err != nil {
		t.Fatal(err)
	}
	if file, err := s.Source(p.file(), ""); file != "" || err != nil {
		t.Errorf("there is nothing to read, and %q, %v", file, err)
	}
}

// A profile that hangs, ends the shell, floods or leaves a program behind costs its limit at most, and no environment.
func TestBadProfiles(t *testing.T) {
	for _, tt := range []struct{ name, profile, want string }{
		{"hangs", "exec sleep 600\n", "longer than"},
		{"is deaf", "trap '' TERM INT HUP\nwhile :; do sleep 600; done\n", "longer than"},
		{"ends", "exit 3\n", "ended before it could answer (exit code 3)"},
		{"becomes something else", "exec /bin/true\n", "ended before"},
		{"reads", "read x; export X=$x\n", ""},
		{"floods", "head -c 3000000 /dev/zero | tr '\\0' x\nexport FLOODED=1\n", ""},
		{"leaves a program", "sleep 600 &\nsetsid sleep 600 &\nexport LEFT=1\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := newPerson(t, tt.profile)
			environ := []string{"HOME=" + p.home, "PATH=/usr/bin:/bin"}
			limit := 20 * time.Second
			if tt.want == "longer than" {
				limit = 300 * time.Millisecond
			}
			began := time.Now()
			s := Begin(context.Background(), Options{Box: p.box, Login: p.shell, Runs: p.shell, Environ: environ, Given: environ, Home: p.home, Limit: limit})
			defer s.Close()
			env, err := s.Environ(context.Background())
			if tt.want == "" {
				if err != nil || len(env) <= len(environ) && tt.name != "reads" {
					t.Errorf("%q, %v", env, err)
				}
			} else if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), p.shell) || !slices.Equal(env, environ) {
				t.Errorf("%q, %v", env, err)
			}
			if took := time.Since(began); took > limit+4*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// The end of a session does not wait for a profile, and nobody waits after it.
func TestCloseEarly(t *testing.T) {
	p := newPerson(t, "sleep 600\n")
	s := p.begin(t)
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if env, err := s.Environ(ended); err != nil || len(env) != 2 {
		t.Errorf("%q, %v", env, err)
	}
	began := time.Now()
	s.Close()
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("the end took %v", took)
	}
	if _, err := s.Environ(context.Background()); err != nil {
		t.Errorf("an end is no failure: %v", err)
	}
}

// While the profile runs, the workspace names no program, and the profile's folder is the person's own.
func TestWorkspaceIsBarred(t *testing.T) {
	p := newPerson(t, "planted || export CLEAN=1\nexport WHERE=$PWD\n")
	bin := filepath.Join(p.work, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "planted"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(p.home, "link")
	if err := os.Symlink(bin, link); err != nil {
		t.Fatal(err)
	}
	environ := []string{"HOME=" + p.home, "PATH=" + bin + "::bin:" + link + ":/usr/bin:/bin"}
	s := Begin(context.Background(), Options{Box: p.box, Login: p.shell, Runs: p.shell, Environ: environ, Given: environ, Home: p.home, Barred: []string{p.work}})
	defer s.Close()
	env, err := s.Environ(context.Background())
	kept := "PATH=" + bin + "::bin:" + link + ":" // what commands may use in the sandbox stays
	if err != nil || !slices.Contains(env, "CLEAN=1") || !slices.Contains(env, "WHERE="+p.home) ||
		!slices.ContainsFunc(env, func(entry string) bool { return strings.HasPrefix(entry, kept) }) {
		t.Errorf("%q, %v", env, err)
	}
}

func TestMergePath(t *testing.T) {
	for _, tt := range []struct{ name, path, shells, want string }{
		{"a manager comes before the system", "/usr/bin:/bin", "/m/shims:/usr/local/bin:/usr/bin:/bin", "/m/shims:/usr/local/bin:/usr/bin:/bin"},
		{"a profile that begins anew", "/go/bin:/usr/bin:/bin", "/usr/local/bin:/usr/bin:/bin:/usr/games", "/go/bin:/usr/local/bin:/usr/bin:/bin:/usr/games"},
		{"what is active stays first", "/venv/bin:/m/shims:/usr/bin", "/m/shims:/venv/bin:/m/shims:/usr/bin", "/venv/bin:/m/shims:/usr/bin"},
		{"active and begun anew", "/venv/bin:/usr/bin", "/m/shims:/usr/bin", "/venv/bin:/m/shims:/usr/bin"},
		{"nothing relative", "/usr/bin", ".:bin::/x:/usr/bin", "/x:/usr/bin"},
		{"twice", "/usr/bin", "/x:/x:/usr/bin:/x", "/x:/usr/bin"},
	} {
		if got := mergePath(tt.path, tt.shells); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestKnown(t *testing.T) {
	for path, want := range map[string]bool{"/bin/bash": true, "/usr/bin/zsh": true, "bash": false, "/usr/bin/fish": false, "/bin/sh": false, "": false} {
		if Known(path) != want {
			t.Errorf("%q: %v", path, !want)
		}
	}
}

// What a profile runs beside itself has its time, and is asked to end before it is made to: what is killed leaves locks.
func TestLocksAreNotLeftBehind(t *testing.T) {
	for _, tt := range []struct{ name, profile string }{
		{"beside the profile", "(trap 'rm -f lock' EXIT; echo > lock; sleep 0.3) &\n"},
		{"longer than the session", "(trap 'rm -f lock; exit' EXIT TERM; echo > lock; while :; do sleep 0.05; done) &\nwhile [ ! -e lock ]; do sleep 0.01; done\n"},
		{"in the profile, which is stopped", "trap 'rm -f lock; exit' EXIT TERM; echo > lock; while :; do sleep 0.05; done\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPerson(t, "cd\n"+tt.profile)
			s := p.begin(t)
			if !strings.HasPrefix(tt.name, "in") {
				if _, err := s.Environ(t.Context()); err != nil {
					t.Fatal(err)
				}
			} else {
				for range 500 {
					if _, err := os.Stat(filepath.Join(p.home, "lock")); err == nil {
						break
					}
					time.Sleep(10 * time.Millisecond)
				}
			}
			s.Close()
			if _, err := os.Stat(filepath.Join(p.home, "lock")); err == nil {
				t.Error("the lock is still there")
			}
		})
	}
}
