package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// scene is a workspace with a folder beside it, on a disk place that no mode makes writable by itself.
type scene struct{ base, ws, out, home string }

func newScene(t *testing.T) scene {
	t.Helper()
	base, err := os.MkdirTemp("/var/tmp", "interpreter-test-")
	if err != nil {
		t.Skipf("no folder outside of the temporary ones: %v", err)
	}
	t.Cleanup(func() {
		_ = filepath.WalkDir(base, func(path string, d fs.DirEntry, err error) error { // overlays leave folders without rights
			if err == nil && d.IsDir() {
				_ = os.Chmod(path, 0o700)
			}
			return nil
		})
		_ = os.RemoveAll(base)
	})
	base, err = filepath.EvalSymlinks(base)
	if err != nil {
		t.Fatal(err)
	}
	s := scene{base, base + "/ws", base + "/out", base + "/home/.openinterpreter"}
	for _, dir := range []string{s.ws + "/sub", s.out, s.home, base + "/ws-evil"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	put(t, s.out+"/target.txt", "original\n")
	put(t, s.ws+"/in.txt", "inside\n")
	put(t, s.home+"/auth.json", "secret\n")
	return s
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func content(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(data)
}

func (s scene) settings(mode Mode) Settings {
	return Settings{Mode: mode, Dir: s.ws, Home: s.home, UserHome: filepath.Dir(s.home)}
}

func (s scene) policy(t *testing.T, mode Mode) Policy {
	t.Helper()
	p, _, err := Resolve(s.settings(mode))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPlace(t *testing.T) {
	s := newScene(t)
	for _, dir := range []string{".git/hooks", ".agents", "sub/repo/.git/hooks"} {
		if err := os.MkdirAll(filepath.Join(s.ws, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"l": s.out + "/target.txt", "dangling": s.out + "/new", "d": s.out, "g": ".git", "here": "sub", ".codex": "sub/codex"} {
		if err := os.Symlink(target, filepath.Join(s.ws, link)); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		mode  Mode
		path  string
		place Place
	}{
		{WorkspaceWrite, "in.txt", Inside},
		{WorkspaceWrite, "a/b/c", Inside},
		{WorkspaceWrite, "here/x", Inside},
		{WorkspaceWrite, "/tmp/x", Inside},
		{WorkspaceWrite, "../out/x", Outside},
		{WorkspaceWrite, "sub/../../out/x", Outside},
		{WorkspaceWrite, "here/../../out/x", Outside},
		{WorkspaceWrite, "../ws-evil/x", Outside},
		{WorkspaceWrite, "l", Outside},
		{WorkspaceWrite, "dangling", Outside},
		{WorkspaceWrite, "d/x", Outside},
		{WorkspaceWrite, ".git/hooks/pre-commit", Guarded},
		{WorkspaceWrite, ".git", Guarded},
		{WorkspaceWrite, "g/config", Guarded},
		{WorkspaceWrite, ".openinterpreter/config.toml", Guarded},
		{WorkspaceWrite, ".agents/skills/a.md", Guarded},
		{WorkspaceWrite, ".codex", Guarded}, // the link's target, which is missing
		{WorkspaceWrite, "sub/repo/.git/hooks/x", Guarded},
		{WorkspaceWrite, "sub/repo/.git/index", Inside},
		{WorkspaceWrite, ".gitignore", Inside},
		{WorkspaceWrite, s.home + "/auth.json", Forbidden},
		{WorkspaceWrite, s.home + "/config.toml", Forbidden},
		{ReadOnly, "in.txt", Outside},
		{ReadOnly, s.home + "/x", Forbidden},
		{FullAccess, "../out/x", Inside},
		{FullAccess, ".git/config", Inside},
		{FullAccess, s.home + "/auth.json", Forbidden},
	}
	for _, tt := range tests {
		p := s.policy(t, tt.mode)
		real, place, err := p.Place(tt.path)
		if err != nil || place != tt.place {
			t.Errorf("%s %s: place %d (%s), %v; want %d", tt.mode, tt.path, place, real, err, tt.place)
		}
	}
	p, err := s.policy(t, WorkspaceWrite).Allowing("../out/x", ".git/config", s.home+"/auth.json")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]Place{"../out/x": Inside, "../out/y": Outside, ".git/config": Inside, ".git/HEAD": Guarded, s.home + "/auth.json": Forbidden} {
		if _, place, err := p.Place(path); err != nil || place != want {
			t.Errorf("allowed %s: place %d, %v; want %d", path, place, err, want)
		}
	}
}

func TestPlaceLoop(t *testing.T) {
	s := newScene(t)
	if err := os.Symlink("loop", s.ws+"/loop"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.policy(t, WorkspaceWrite).Place("loop/x"); err == nil {
		t.Error("a link to itself has a place")
	}
	if _, _, err := s.policy(t, WorkspaceWrite).Place("a\x00b"); err == nil {
		t.Error("a zero byte has a place")
	}
}

func TestFiles(t *testing.T) {
	s := newScene(t)
	p := s.policy(t, WorkspaceWrite)
	put(t, s.ws+"/run.sh", "echo\n")
	for _, do := range []error{os.Chmod(s.ws+"/run.sh", 0o750), os.Symlink("run.sh", s.ws+"/link"), os.Link(s.out+"/target.txt", s.ws+"/hard")} {
		if do != nil {
			t.Fatal(do)
		}
	}
	for _, path := range []string{"link", "new/deep/file", "hard"} {
		if _, err := p.WriteFile(path, []byte("written")); err != nil {
			t.Errorf("write %s: %v", path, err)
		}
		if data, _, err := p.ReadFile(path); err != nil || string(data) != "written" {
			t.Errorf("read %s: %q, %v", path, data, err)
		}
	}
	if info, _ := os.Lstat(s.ws + "/link"); info.Mode()&fs.ModeSymlink == 0 {
		t.Error("the link was replaced by a file")
	}
	if info, _ := os.Stat(s.ws + "/run.sh"); info.Mode().Perm() != 0o750 || content(t, s.ws+"/run.sh") != "written" {
		t.Errorf("run.sh has mode %v and says %q", info.Mode(), content(t, s.ws+"/run.sh"))
	}
	if content(t, s.out+"/target.txt") != "original\n" {
		t.Error("a file outside was written through its other name")
	}
	var pe *PlaceError
	if _, err := p.WriteFile("../out/target.txt", nil); !errors.As(err, &pe) || pe.Place != Outside {
		t.Errorf("write outside: %v", err)
	}
	if err := p.Remove(".git"); !errors.As(err, &pe) || pe.Place != Guarded {
		t.Errorf("remove .git: %v", err)
	}
	if _, _, err := p.ReadFile(s.home + "/auth.json"); !errors.As(err, &pe) || pe.Place != Forbidden {
		t.Errorf("read credentials: %v", err)
	}
	if _, err := s.policy(t, ReadOnly).WriteFile("in.txt", nil); !errors.As(err, &pe) || pe.Place != Outside {
		t.Errorf("write in read-only: %v", err)
	}
	if data, real, err := s.policy(t, ReadOnly).ReadFile("../out/target.txt"); err != nil || string(data) != "original\n" || real != s.out+"/target.txt" {
		t.Errorf("read outside: %q %s %v", data, real, err)
	}
	if err := os.Symlink(s.out+"/target.txt", s.ws+"/away"); err != nil {
		t.Fatal(err)
	}
	if err := p.Remove("away"); err != nil || content(t, s.out+"/target.txt") == "" {
		t.Errorf("remove a link: %v", err)
	}
	if err := p.Remove("in.txt"); err != nil || exists(s.ws+"/in.txt") {
		t.Errorf("remove: %v", err)
	}
	for _, bad := range []error{p.Remove("sub"), second(p.WriteFile("sub", nil)), second(p.WriteFile("link/x", nil)), p.Remove("missing")} {
		if bad == nil {
			t.Error("no error for a folder, a file used as one, or nothing")
		}
	}
	if names, _ := filepath.Glob(s.ws + "/.interpreter-*"); len(names) > 0 {
		t.Errorf("left behind: %v", names)
	}
}

func second(_ string, err error) error { return err }

func TestResolve(t *testing.T) {
	s := newScene(t)
	st := s.settings(WorkspaceWrite)
	st.Writable = []string{"../out", "../missing", s.base + "/home"}
	st.TMPDIR = s.base + "/tmplink"
	if err := os.Symlink(s.out, st.TMPDIR); err != nil {
		t.Fatal(err)
	}
	p, warnings, err := Resolve(st)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"/tmp", s.base + "/home", s.out, s.ws}; !slices.Equal(p.Roots, want) {
		t.Errorf("roots %v, want %v", p.Roots, want)
	}
	if text := strings.Join(warnings, "\n"); len(warnings) != 2 || !strings.Contains(text, "missing") || !strings.Contains(text, "home folder") {
		t.Errorf("warnings %q", warnings)
	}
	if !slices.Contains(p.Protected, s.home) {
		t.Errorf("the agent's home is not protected: %v", p.Protected)
	}
	for _, bad := range []Settings{{Mode: "loose", Dir: s.ws}, {Mode: ReadOnly, Dir: s.ws + "/none"}, {Mode: ReadOnly, Dir: s.ws, Backend: "wall"}} {
		if _, _, err := Resolve(bad); err == nil {
			t.Errorf("%+v resolved", bad)
		}
	}
}

func TestEnviron(t *testing.T) {
	parent := []string{"PATH=/bin", "HOME=/h", "AWS_KEY=1", "GH_TOKEN=2", "FOO=3", "LD_PRELOAD=x", "BASH_ENV=y", "BASH_FUNC_f%%=() { :; }", "GIT_SSH_COMMAND=z", "DB_PASSWORD=4", "MODEL_ACCESS=5"}
	tests := []struct {
		name   string
		policy EnvPolicy
		want   string // of what is not set for every command
	}{
		{"default", EnvPolicy{}, "FOO HOME MODEL_ACCESS PATH"},
		{"keys of providers", EnvPolicy{Keys: []string{"MODEL_ACCESS"}}, "FOO HOME PATH"},
		{"core", EnvPolicy{Inherit: "core", Exclude: []string{"AWS_*", "*_TOKEN"}, Set: map[string]string{"CI": "1"}}, "CI HOME PATH"},
		{"none", EnvPolicy{Inherit: "none"}, ""},
		{"secrets", EnvPolicy{Secrets: true, Exclude: []string{"f?o"}}, "AWS_KEY DB_PASSWORD GH_TOKEN HOME MODEL_ACCESS PATH"},
		{"only", EnvPolicy{Set: map[string]string{"CI": "1"}, IncludeOnly: []string{"p*H"}}, "PATH"},
		{"set loader", EnvPolicy{Inherit: "none", Set: map[string]string{"GIT_SSH_COMMAND": "ssh"}}, "GIT_SSH_COMMAND"},
	}
	for _, tt := range tests {
		var names []string
		for _, entry := range Environ(parent, tt.policy) {
			if name, _, _ := strings.Cut(entry, "="); !slices.Contains(fixed, entry) {
				names = append(names, name)
			}
		}
		if got := strings.Join(names, " "); got != tt.want {
			t.Errorf("%s: %s; want %s", tt.name, got, tt.want)
		}
	}
}

func TestTape(t *testing.T) {
	for _, size := range []int{0, 10, halfTape, halfTape + 10, 2 * halfTape, 2*halfTape + 1, 5*halfTape + 7} {
		for _, chunk := range []int{1000, 8 << 10, 3 * halfTape} {
			all := make([]byte, size)
			for i := range all {
				all[i] = byte(i * 7 / 3)
			}
			var tape tape
			for rest := all; len(rest) > 0; {
				n := min(chunk, len(rest))
				_, _ = tape.Write(rest[:n])
				rest = rest[n:]
			}
			o := tape.output()
			if int(o.Omitted)+len(o.Head)+len(o.Tail) != size || !slices.Equal(o.Head, all[:len(o.Head)]) || !slices.Equal(o.Tail, all[size-len(o.Tail):]) {
				t.Errorf("%d bytes by %d: head %d, tail %d, omitted %d, or wrong bytes", size, chunk, len(o.Head), len(o.Tail), o.Omitted)
			}
			if len(o.Head) > halfTape || len(o.Tail) > halfTape {
				t.Errorf("%d bytes by %d: not bounded", size, chunk)
			}
		}
	}
}

func TestDenials(t *testing.T) {
	s := newScene(t)
	tests := []struct {
		mode   Mode
		code   int
		output string
		want   string // substring of the only line; "" for none
	}{
		{WorkspaceWrite, 1, "bash: line 1: " + s.out + "/target.txt: Read-only file system", "outside the writable"},
		{WorkspaceWrite, 0, "bash: line 1: " + s.out + "/target.txt: Read-only file system", ""},
		{WorkspaceWrite, 1, "touch: cannot touch '../out/x': Read-only file system", s.out + "/x"},
		{WorkspaceWrite, 128, "fatal: Unable to create '" + s.ws + "/.git/index.lock': Read-only file system", "protected"},
		{WorkspaceWrite, 1, "OSError: [Errno 30] Read-only file system: '" + s.out + "/x'", s.out + "/x"},
		{WorkspaceWrite, 1, "open " + s.out + "/x: read-only file system", s.out + "/x"},
		{WorkspaceWrite, 1, "bash: ./in.txt: Permission denied", ""},
		{WorkspaceWrite, 1, "tests in /srv/sandbox failed: landlock", ""},
		{WorkspaceWrite, 6, "curl: (6) Could not resolve host: example.com", "network"},
		{WorkspaceWrite, 1, "dial tcp: lookup example.com on 127.0.0.53:53: read: connection refused", "network"},
		{ReadOnly, 1, "bash: line 1: f: Read-only file system", "may only read"},
		{FullAccess, 1, "bash: line 1: " + s.out + "/target.txt: Read-only file system", ""},
	}
	for _, tt := range tests {
		got := Denials(Exit{Code: tt.code}, Output{Head: []byte("noise\n" + tt.output + "\n")}, s.policy(t, tt.mode))
		if (len(got) == 1) != (tt.want != "") || len(got) > 1 || tt.want != "" && !strings.Contains(got[0], tt.want) {
			t.Errorf("%s %q: %q; want %q", tt.mode, tt.output, got, tt.want)
		}
	}
	if got := Denials(Exit{Code: 159, Signal: "SIGSYS"}, Output{}, s.policy(t, ReadOnly)); len(got) != 1 {
		t.Errorf("SIGSYS: %q", got)
	}
}
