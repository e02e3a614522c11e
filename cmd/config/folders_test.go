package config

import (
	"os"
	"path/filepath"
	"testing"
)

func TestForgetTrust(t *testing.T) {
	for _, row := range []struct{ name, before, after string }{
		{"as it was written", "# mine\n\n[projects.\"/r\"]\ntrust_level = \"trusted\"\n", "# mine\n"},
		{"all there is", "[projects.\"/r\"]\ntrust_level = \"trusted\"\n", ""},
		{"between others", "[tui]\n\n[projects.\"/r\"]\ntrust_level = \"trusted\"\n\n[projects.\"/s\"]\ntrust_level = \"trusted\"\n", "[tui]\n\n[projects.\"/s\"]\ntrust_level = \"trusted\"\n"},
		{"comments", "[projects.\"/r\"] # mine\n# why\ntrust_level = \"trusted\" # gone\n", "[projects.\"/r\"] # mine\n# why\n"},
		{"a comment below", "[projects.\"/r\"]\ntrust_level = \"trusted\"\n# next\n[tui]\n", "[projects.\"/r\"]\n# next\n[tui]\n"},
		{"inline", "[projects]\n\"/r\" = { trust_level = \"untrusted\" } # x\n\"/s\" = {}\n", "[projects]\n\"/s\" = {}\n"},
		{"dotted", "a = 1\nprojects.\"/r\".trust_level = 'untrusted'\nb = 2\n", "a = 1\nb = 2\n"},
		{"line ends", "a = 1\r\n\r\n[projects.\"/r\"]\r\ntrust_level = \"trusted\"\r\n", "a = 1\r\n"},
		{"mark, no last line end", "\ufeffa = 1\n[projects.\"/r\"]\ntrust_level = \"trusted\"", "\ufeffa = 1\n"},
	} {
		home := t.TempDir()
		write(t, UserPath(home), row.before)
		if err := ForgetTrust(home, "/r"); err != nil {
			t.Errorf("%s: %v", row.name, err)
			continue
		}
		if got, err := os.ReadFile(UserPath(home)); err != nil || string(got) != row.after {
			t.Errorf("%s:\n%q\nwant\n%q, %v", row.name, got, row.after, err)
		}
	}
}

func TestForgetTrustRefuses(t *testing.T) {
	for _, before := range []string{
		"", "[projects.\"/s\"]\ntrust_level = \"trusted\"\n", "projects = { \"/r\" = { trust_level = \"trusted\" } }\n",
		"[projects]\n\"/r\" = { trust_level = \"trusted\", other = 1 }\n", "[projects.\"/r\"\n",
	} {
		home := t.TempDir()
		write(t, UserPath(home), before)
		if err := ForgetTrust(home, "/r"); err == nil {
			t.Errorf("%q is edited", before)
		}
		if got, err := os.ReadFile(UserPath(home)); err != nil || string(got) != before {
			t.Errorf("%q became %q, %v", before, got, err)
		}
	}
}

// Our folders are known whether they hold a config or not, and with the trust of each.
func TestFolders(t *testing.T) {
	root := t.TempDir()
	home, repo := filepath.Join(root, "home"), filepath.Join(root, "repo")
	sub := filepath.Join(repo, "sub")
	write(t, filepath.Join(repo, ".git", "HEAD"), "")
	write(t, filepath.Join(repo, folder, "rules", "a.rules"), "")
	write(t, filepath.Join(sub, folder, "config.toml"), "")
	write(t, UserPath(home), "[projects.'"+sub+"']\ntrust_level = \"trusted\"\n")
	c, _, err := Load(Source{Home: home, Dir: sub, UserHome: root})
	if err != nil {
		t.Fatal(err)
	}
	want := []Folder{{filepath.Join(repo, folder), Undecided}, {filepath.Join(sub, folder), Trusted}}
	if len(c.Folders) != 2 || c.Folders[0] != want[0] || c.Folders[1] != want[1] {
		t.Errorf("%+v, want %+v", c.Folders, want)
	}
	if want[0].Inert() == "" || want[1].Inert() != "" {
		t.Error("what counts is inert, or what does not is not")
	}
}
