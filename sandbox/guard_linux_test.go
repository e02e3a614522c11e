package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// arrange makes folders, files by their text and links by their target, below a folder.
func arrange(t *testing.T, base string, entries map[string]string) {
	t.Helper()
	for name, text := range entries {
		path := filepath.Join(base, name)
		if target, ok := strings.CutPrefix(text, "-> "); ok {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(target, path); err != nil {
				t.Fatal(err)
			}
			continue
		}
		put(t, path, text)
	}
}

// shape are the entries by which a folder is a repository.
func shape(dir string, more map[string]string) map[string]string {
	entries := map[string]string{dir + "/HEAD": "ref: refs/heads/main\n", dir + "/objects/x": "", dir + "/refs/x": "", dir + "/hooks/x": "", dir + "/config": "[core]\n"}
	for name, text := range more {
		entries[name] = text
	}
	return entries
}

// TestRepositoriesElsewhere has the folders of repositories where no search finds them: only a link or a file of a
// working tree leads there.
func TestRepositoriesElsewhere(t *testing.T) {
	for name, lead := range map[string]string{"link": "-> ../../node_modules/g/d", "file": "gitdir: ../../node_modules/g/d\n"} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			arrange(t, s.ws, shape("node_modules/g/d", map[string]string{"sub/repo/.git": lead}))
			b := s.open(t, WorkspaceWrite)
			run(t, b, Command{}, `echo evil > node_modules/g/d/hooks/pre-commit; echo evil >> sub/repo/.git/config; mv node_modules n2
				mkdir e; mv sub/repo/.git sub/repo/g; mkdir sub/repo/.git; echo evil > node_modules/g/d/config; echo fine > node_modules/g/d/refs/new`)
			if text := content(t, s.ws+"/node_modules/g/d/config") + content(t, s.ws+"/node_modules/g/d/hooks/pre-commit"); text != "[core]\n" {
				t.Errorf("what runs was changed: %q", text)
			}
			if content(t, s.ws+"/node_modules/g/d/refs/new") == "" {
				t.Error("the rest of the repository cannot be written")
			}
			if info, err := os.Stat(s.ws + "/sub/repo/.git/hooks/x"); name == "link" && (err != nil || info.IsDir()) {
				t.Errorf("the link is not what it was: %v", err)
			}
		})
	}
}

// TestHomeWritable has the home folder as workspace: neither the ways to what runs at a login can be exchanged, nor what
// is missing be made through a link.
func TestHomeWritable(t *testing.T) {
	for name, tt := range map[string]struct {
		has    map[string]string
		script string
	}{
		"folder": {map[string]string{".config/git/config": "mine\n"}, `mv .config c2; mkdir -p .config/git; echo evil > .config/git/config`},
		"link": {map[string]string{"dot/git/config": "mine\n", ".config": "-> dot"},
			`rm .config; mkdir -p .config/git; echo evil > .config/git/config; mv dot d2; mkdir -p dot/git; echo evil > dot/git/config`},
		"missing": {nil, `mkdir -p d/git; echo evil > d/git/config; ln -s d .config`},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			arrange(t, s.ws, tt.has)
			settings := s.settings(WorkspaceWrite)
			settings.UserHome = s.ws
			p, _, err := Resolve(settings)
			if err != nil {
				t.Fatal(err)
			}
			run(t, open(t, p), Command{}, tt.script)
			want := "mine\n"
			if tt.has == nil {
				want = ""
			}
			if text := content(t, s.ws+"/.config/git/config"); text != want {
				t.Errorf(".config/git/config is %q", text)
			}
		})
	}
}

// TestLockedAway has a command take the rights away by which what it made would be moved away.
func TestLockedAway(t *testing.T) {
	for _, mode := range []string{"555", "000"} {
		s := newScene(t)
		b := s.open(t, WorkspaceWrite)
		r := run(t, b, Command{}, "mkdir .codex; echo x > .codex/config.toml; chmod "+mode+" .")
		info, err := os.Stat(s.ws)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(s.ws, 0o755); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(s.ws + "/.codex"); err == nil || len(r.Undone) != 1 {
			t.Errorf("mode %s: .codex is still there; undone: %v", mode, r.Undone)
		}
		if got := info.Mode().Perm(); got != 0o555 && got != 0 {
			t.Errorf("mode %s: the folder has mode %o afterwards", mode, got)
		}
	}
}

// TestNamesAreBytes has names that are no text.
func TestNamesAreBytes(t *testing.T) {
	s := newScene(t)
	dir := s.ws + "/d\xff"
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Skipf("the disk takes no such names: %v", err)
	}
	settings := s.settings(WorkspaceWrite)
	settings.Dir = dir
	p, _, err := Resolve(settings)
	if err != nil {
		t.Fatal(err)
	}
	r := run(t, open(t, p), Command{Env: append(os.Environ(), "ODD=\xfe")}, "printf '%s' \"$ODD\" > f\xfd; pwd")
	if text := content(t, dir+"/f\xfd"); text != "\xfe" {
		t.Errorf("the file has %q; %s", text, r.out)
	}
}

// TestWholeDisk has the root folder writable: what is the kernel's stays closed.
func TestWholeDisk(t *testing.T) {
	for _, force := range []string{"namespace", "bubblewrap"} {
		s := newScene(t)
		settings := s.settings(WorkspaceWrite)
		settings.Dir, settings.Backend = "/", force
		p, _, err := Resolve(settings)
		if err != nil {
			t.Fatal(err)
		}
		r := run(t, open(t, p), Command{}, `for d in /sys /sys/fs/cgroup; do touch -c $d; done; echo x > `+s.ws+`/f`)
		if n := strings.Count(r.out, "Read-only file system"); n != 2 || content(t, s.ws+"/f") == "" {
			t.Errorf("%s: %q, and the disk has %q", force, r.out, content(t, s.ws+"/f"))
		}
	}
}

// TestPlaceOfRepositories has what runs in folders that are repositories by their shape alone.
func TestPlaceOfRepositories(t *testing.T) {
	s := newScene(t)
	arrange(t, s.ws, shape("deep/er/x.git", nil))
	arrange(t, s.ws, shape("sub/repo/.git/modules/m", nil))
	arrange(t, s.ws, map[string]string{"sub/repo/.git/worktrees/w/HEAD": "", "sub/repo/.git/worktrees/w/commondir": "../..\n", "wt/.git": "gitdir: x\n", "sub/hooks/x": ""})
	p := s.policy(t, WorkspaceWrite)
	for path, want := range map[string]Place{
		"deep/er/x.git/hooks/pre-commit": Guarded, "deep/er/x.git/config": Guarded, "deep/er/x.git/refs/heads/a": Inside,
		"sub/repo/.git/modules/m/hooks/a": Guarded, "sub/repo/.git/modules/m/info/attributes": Guarded, "sub/repo/.git/modules/m/HEAD": Inside,
		"sub/repo/.git/worktrees/w/commondir": Guarded, "sub/repo/.git/worktrees/w/HEAD": Inside,
		"wt/.git": Guarded, "new/.git": Guarded, "sub/hooks/x": Inside, "sub/config": Inside,
		".GIT/hooks/a": Guarded, "sub/.Git/config": Guarded, ".g\u200cit/x": Guarded, ".agentſ/a": Guarded, ".codex./config.toml": Guarded, "GIT~1/config": Guarded,
		".gitignore": Inside, ".github/workflows/a.yml": Inside, "git/hooks/a": Inside, ".agents.md": Inside,
	} {
		if real, place, err := p.Place(path); err != nil || place != want {
			t.Errorf("%s: place %d (%s), %v; want %d", path, place, real, err, want)
		}
	}
}

// TestSetMode changes files inside and nothing that a link leads to outside.
func TestSetMode(t *testing.T) {
	s := newScene(t)
	arrange(t, s.ws, map[string]string{"l": "-> " + s.out + "/target.txt"})
	p := s.policy(t, WorkspaceWrite)
	if err := p.SetMode("in.txt", 0o600); err != nil {
		t.Error(err)
	}
	if err := p.SetMode("l", 0o777); err == nil {
		t.Error("a link out of the workspace was followed")
	}
	for path, want := range map[string]os.FileMode{s.ws + "/in.txt": 0o600, s.out + "/target.txt": 0o644} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v; want %o", path, info.Mode(), err, want)
		}
	}
}

// TestOwnerKept has root edit a file of somebody else's.
func TestOwnerKept(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give files away")
	}
	s := newScene(t)
	if err := os.Chown(s.ws+"/in.txt", 12345, 23456); err != nil {
		t.Fatal(err)
	}
	if _, err := s.policy(t, WorkspaceWrite).WriteFile("in.txt", []byte("new\n")); err != nil {
		t.Fatal(err)
	}
	if uid, gid := ownerOf(t, s.ws+"/in.txt"); uid != 12345 || gid != 23456 {
		t.Errorf("the file belongs to %d:%d now", uid, gid)
	}
}

func ownerOf(t *testing.T, path string) (uid, gid uint32) {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		t.Fatal(err)
	}
	return st.Uid, st.Gid
}
