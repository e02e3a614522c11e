package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"interpreter/local"
	"interpreter/sandbox"
)

func TestLeaving(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "web")
	for name, text := range map[string]string{
		".git/HEAD": "ref: refs/heads/main\n", ".env": "A=1\n", "web/.env.production": "B=1\n", "web/.env.example": "C=\n", "web/.env.local": "",
		"web/.envrc": "D=1\n", "web/environment": "E=1\n", "web/.env.hidden": "F=1\n",
	} {
		path := filepath.Join(top, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, ".env.d"), 0o755); err != nil {
		t.Fatal(err)
	}
	policy, _, err := sandbox.Resolve(sandbox.Settings{Mode: sandbox.ReadOnly, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	policy.Hidden = append(policy.Hidden, filepath.Join(policy.Dir, ".env.hidden"))
	s := settings{folders: folders{dir: policy.Dir}}
	want := []string{filepath.Join(filepath.Dir(policy.Dir), ".env"), ".env.production"}
	slices.Sort(want)
	if got := secretFiles(policy.Dir, policy); !slices.Equal(got, want) {
		t.Errorf("files with secrets: %q, want %q", got, want)
	}
	for _, c := range []struct {
		m    local.Prepared
		want string
	}{
		{local.Prepared{Local: true, Address: "http://127.0.0.1:11434"}, ""},
		{local.Prepared{Address: "https://models.example.com/v1"}, "leaves this machine for models.example.com;"},
		{local.Prepared{Address: "http://10.0.0.5:8000/v1"}, "leaves this machine for 10.0.0.5:8000;"},
		{local.Prepared{Local: true, Leaves: true, Address: "http://127.0.0.1:11434"}, "leaves this machine for its vendor's machines;"},
	} {
		got := s.leaving(&c.m, policy)
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%+v: warned %q, want %q", c.m, got, c.want)
		}
	}
	for _, name := range []string{".env.production", ".env.hidden"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(top, ".env")); err != nil {
		t.Fatal(err)
	}
	if got := s.leaving(&local.Prepared{Address: "https://models.example.com/v1"}, policy); got != "" {
		t.Errorf("without such a file it warned %q", got)
	}
}
