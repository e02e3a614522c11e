package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A project may be stricter than the person, never looser.
func TestProjectsDoNotLoosen(t *testing.T) {
	for _, tt := range []struct{ name, user, project, dropped string }{
		{"full access", "", `sandbox_mode = "danger-full-access"`, "sandbox_mode"},
		{"stricter", "", "sandbox_mode = \"read-only\"\napproval_policy = \"untrusted\"", ""},
		{"what holds anyway", "", "sandbox_mode = \"workspace-write\"\napproval_policy = \"on-failure\"", ""},
		{"looser than the person's", "sandbox_mode = \"read-only\"\napproval_policy = \"untrusted\"", "sandbox_mode = \"workspace-write\"\napproval_policy = \"on-request\"", "approval_policy sandbox_mode"},
		{"the person is looser", "sandbox_mode = \"danger-full-access\"\napproval_policy = \"never\"", "sandbox_mode = \"danger-full-access\"\napproval_policy = \"never\"", ""},
		{"nobody asked", "", `approval_policy = "never"`, "approval_policy"},
		{"network", "", "[sandbox_workspace_write]\nnetwork_access = true", "sandbox_workspace_write.network_access"},
		{"network of the person's", "[sandbox_workspace_write]\nnetwork_access = true", "[sandbox_workspace_write]\nnetwork_access = true", ""},
		{"no network", "[sandbox_workspace_write]\nnetwork_access = true", "[sandbox_workspace_write]\nnetwork_access = false", ""},
		{"scratch", "[sandbox_workspace_write]\nexclude_slash_tmp = true", "[sandbox_workspace_write]\nexclude_slash_tmp = false", "sandbox_workspace_write.exclude_slash_tmp"},
		{"login shell", "allow_login_shell = false", "allow_login_shell = true", "allow_login_shell"},
		{"no login shell", "", "allow_login_shell = false", ""},
		{"roots inside", "", "[sandbox_workspace_write]\nwritable_roots = [\"../build\", \"ROOT/new/deep\"]", ""},
		{"a root outside", "", "[sandbox_workspace_write]\nwritable_roots = [\"../build\", \"../../other\"]", "sandbox_workspace_write.writable_roots"},
		{"the home", "", "[sandbox_workspace_write]\nwritable_roots = [\"~/x\"]", "sandbox_workspace_write.writable_roots"},
		{"a link out", "", "[sandbox_workspace_write]\nwritable_roots = [\"../out/x\"]", "sandbox_workspace_write.writable_roots"},
		{"the environment", "", "[shell_environment_policy]\nset = { LD_PRELOAD = \"x\" }", "shell_environment_policy"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			base, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			home, root := filepath.Join(base, "home"), filepath.Join(base, "work")
			for _, dir := range []string{home, filepath.Join(root, ".git"), filepath.Join(root, folder), filepath.Join(root, "build")} {
				if err := os.MkdirAll(dir, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Symlink(base, filepath.Join(root, "out")); err != nil {
				t.Fatal(err)
			}
			user := tt.user + "\n[projects." + `"` + filepath.ToSlash(root) + `"` + "]\ntrust_level = \"trusted\"\n"
			for path, text := range map[string]string{filepath.Join(home, "config.toml"): user, filepath.Join(root, folder, "config.toml"): strings.ReplaceAll(tt.project, "ROOT", filepath.ToSlash(root))} {
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			c, warnings, err := Load(Source{Home: home, Dir: root, Cwd: root, UserHome: base})
			if err != nil || c.Trust != Trusted {
				t.Fatalf("%v, %v", c.Trust, err)
			}
			var dropped []string
			for _, w := range warnings {
				dropped = append(dropped, w.Key)
				if w.Line == 0 || !strings.Contains(w.Text, "a project may not") {
					t.Errorf("%+v", w)
				}
			}
			slices.Sort(dropped)
			if got := strings.Join(dropped, " "); got != tt.dropped {
				t.Errorf("dropped %q, want %q", got, tt.dropped)
			}
		})
	}
}
