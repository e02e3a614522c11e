package sandbox

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"interpreter/sandbox/helper"
)

func TestOpened(t *testing.T) {
	s := newScene(t)
	user := filepath.Dir(s.home)
	git(t, s.ws, "init", "-q")
	put(t, s.ws+"/.git/hooks/keep", "")
	put(t, s.ws+"/in.txt", "in\n")
	put(t, s.out+"/dir/old", "old\n")
	put(t, s.out+"/project/.git/HEAD", "ref: refs/heads/main\n")
	put(t, s.out+"/project/.git/config", "[core]\n")
	put(t, s.out+"/project/.openinterpreter/config.toml", "# theirs\n")
	put(t, user+"/.gitconfig", "[user]\n\tname = t\n\temail = t@t.invalid\n")
	put(t, user+"/.bashrc", "# mine\n")
	env := Environ(append(os.Environ(), "HOME="+user), EnvPolicy{Set: map[string]string{"HOME": user}})
	ws, out := s.ws, s.out
	tests := []struct {
		name   string
		open   []string
		script string
		code   int
		after  func() string // what is wrong afterwards
	}{
		{"a commit", []string{ws + "/.git"}, "git add in.txt && git commit --allow-empty -qm x && git log --oneline | grep -c x", 0, nil},
		{"a hook", []string{ws + "/.git"}, "echo x > .git/hooks/pre-commit", 1, nil},
		{"a hook in a new folder", []string{ws + "/.git"}, "mv .git/hooks .git/h2; mkdir -p .git/hooks && echo x > .git/hooks/pre-push", 1, nil},
		{"the config", []string{ws + "/.git"}, "git config core.pager evil || exit 1", 1, nil},
		{"another .git", []string{ws + "/.git"}, "mv .git g2 && cp -r g2 .git", 1, nil},
		{"a common folder elsewhere", []string{ws + "/.git"}, "echo /tmp > .git/commondir", 0, func() string { return has(ws + "/.git/commondir") }},
		{"attributes", []string{ws + "/.git"}, "mkdir -p .git/info; echo '* filter=x' > .git/info/attributes", 0, func() string { return has(ws + "/.git/info/attributes") }},
		{"the hooks by name", []string{ws + "/.git/hooks"}, "echo x > .git/hooks/post-merge && ! touch .git/HEAD 2>/dev/null", 0, nil},
		{"the config by name", []string{ws + "/.git/config"}, "git config core.editor vi && touch .git/new", 0, func() string { return lacks(ws+"/.git/config", "editor = vi") + has(ws+"/.git/new") }},
		{"a file outside", []string{out + "/target.txt"}, "echo changed > ../out/target.txt", 0, func() string { return lacks(out+"/target.txt", "changed") }},
		{"a file outside, replaced", []string{out + "/target.txt"}, "echo again > ../out/t.new && mv ../out/t.new ../out/target.txt && echo x > ../out/beside; rm -f ../out/dir/old", 0, func() string {
			return lacks(out+"/target.txt", "again") + has(out+"/beside") + has(out+"/t.new") + lacks(out+"/dir/old", "old")
		}},
		{"a file that is missing", []string{out + "/made"}, "echo made > ../out/made", 0, func() string { return lacks(out+"/made", "made") }},
		{"a folder that is missing", []string{out + "/tree"}, "mkdir -p ../out/tree/a && echo x > ../out/tree/a/b && echo y > ../out/else", 0, func() string { return lacks(out+"/tree/a/b", "x") + has(out+"/else") }},
		{"a file is removed", []string{out + "/made"}, "rm ../out/made", 0, func() string { return has(out + "/made") }},
		{"two files of one folder", []string{out + "/one", out + "/two"}, "echo x > ../out/one; echo x > ../out/two; echo x > ../out/three", 0, func() string {
			return lacks(out+"/one", "x") + lacks(out+"/two", "x") + has(out+"/three")
		}},
		{"a folder outside", []string{out + "/dir"}, "echo x > ../out/dir/new && ! touch ../out/target.txt 2>/dev/null", 0, func() string { return lacks(out+"/dir/new", "x") }},
		{"settings in a folder outside", []string{out + "/project"}, "echo a > ../out/project/a; echo x >> ../out/project/.git/config; echo x > ../out/project/.openinterpreter/config.toml; echo x > ../out/project/.git/HEAD", 0, func() string {
			return lacks(out+"/project/a", "a") + lacks(out+"/project/.git/config", "[core]\n") + lacks(out+"/project/.openinterpreter/config.toml", "# theirs") + lacks(out+"/project/.git/HEAD", "x")
		}},
		{"the settings of git", []string{user + "/.gitconfig"}, "git config --global core.editor vi && ! touch ~/.bashrc.x && false || echo x > ~/.bash_login; true", 0, func() string {
			return lacks(user+"/.gitconfig", "editor = vi") + has(user+"/.bash_login")
		}},
		{"what is open", []string{ws, ws + "/sub"}, "echo x > .git/HEAD", 1, nil},
		{"the user's home", []string{user}, "echo x > ~/new; echo x >> ~/.bashrc; echo x > ~/.openinterpreter/config.toml; true", 0, func() string {
			return lacks(user+"/new", "x") + lacks(user+"/.bashrc", "# mine\n") + has(s.home+"/config.toml")
		}},
	}
	for _, mode := range []Mode{WorkspaceWrite, ReadOnly} {
		b := s.open(t, mode)
		if b.Backend() != helper.Namespaces {
			t.Skipf("these figures are for namespaces; this machine has %s", b.Backend())
		}
		for _, tt := range tests {
			if tt.name == "what is open" && mode == ReadOnly {
				continue
			}
			put(t, out+"/target.txt", "original\n")
			r := run(t, b, Command{Env: env, Opened: Opened{Paths: tt.open}}, tt.script)
			if r.Code != tt.code {
				t.Errorf("%s in %s: exit %d, want %d: %s", tt.name, mode, r.Code, tt.code, r.out)
			}
			if tt.after != nil {
				if wrong := tt.after(); wrong != "" {
					t.Errorf("%s in %s: %s; printed %s; told %v", tt.name, mode, wrong, r.out, r.Refused)
				}
			}
			_ = os.RemoveAll(out + "/tree")
			_ = os.RemoveAll(out + "/one")
		}
		if r := run(t, b, Command{}, "echo x > ../out/target.txt || touch .git/x"); r.Code == 0 {
			t.Error("what was opened for one command is open for the next")
		}
	}
	if litter, _ := filepath.Glob(s.home + "/opened-*"); len(litter) > 0 {
		t.Errorf("left behind: %v", litter)
	}
}

func has(path string) string {
	if _, err := os.Lstat(path); err == nil {
		return path + " is there. "
	}
	return ""
}

func lacks(path, text string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return err.Error() + ". "
	}
	if strings.HasSuffix(text, "\n") && string(data) != text || !strings.Contains(string(data), text) {
		return fmt.Sprintf("%s says %q. ", path, data)
	}
	return ""
}

func TestOpenedRefused(t *testing.T) {
	s := newScene(t)
	b := s.open(t, WorkspaceWrite)
	for path, want := range map[string]string{
		s.home:                    "belongs to the agent",
		s.home + "/config.toml":   "belongs to the agent",
		s.home + "/auth.json":     "belongs to the agent",
		"/":                       "whole disk",
		"/dev/shm":                "the sandbox has its own /dev",
		"/proc/sys":               "the sandbox has its own /proc",
		"relative":                "not absolute",
		s.out + "/missing/folder": "neither does the folder",
	} {
		_, err := b.Start(context.Background(), Command{Argv: []string{"/bin/true"}, Opened: Opened{Paths: []string{path}}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("opening %s: %v, want %q", path, err, want)
		}
	}
	if err := os.Symlink(s.out, s.ws+"/link"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Start(context.Background(), Command{Argv: []string{"/bin/true"}, Opened: Opened{Paths: []string{s.ws + "/link"}}}); err == nil {
		t.Error("a link of the workspace opened what is outside")
	}
}

func TestOpenedNetwork(t *testing.T) {
	s := newScene(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	script := fmt.Sprintf("exec 3<>/dev/tcp/127.0.0.1/%d && echo \"marked $INTERPRETER_SANDBOX_NETWORK_DISABLED\"", listener.Addr().(*net.TCPAddr).Port)
	for _, mode := range []Mode{WorkspaceWrite, ReadOnly} {
		b := s.open(t, mode)
		if r := run(t, b, Command{Opened: Opened{Network: true}}, script); r.Code != 0 || !strings.Contains(r.out, "marked \n") {
			t.Errorf("%s: the network was opened and is closed: %d %s", mode, r.Code, r.out)
		}
		if r := run(t, b, Command{Opened: Opened{Network: true}}, "touch ../out/x"); r.Code == 0 {
			t.Errorf("%s: the network was opened, and the disk with it", mode)
		}
		if r := run(t, b, Command{}, script); r.Code == 0 {
			t.Errorf("%s: the network stays open", mode)
		}
	}
}
