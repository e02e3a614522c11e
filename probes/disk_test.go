package probes

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFreeAt(t *testing.T) {
	dir := t.TempDir()
	here, err := FreeAt(dir)
	if err != nil || here.Total <= 0 || here.Free <= 0 || here.Free > here.Total || here.Path != dir {
		t.Fatalf("got %+v, %v", here, err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "gone"), filepath.Join(dir, "link")); err != nil {
		t.Log(err)
	}
	for _, path := range []string{filepath.Join(dir, "not", "yet", "there"), file, filepath.Join(file, "below"), filepath.Join(dir, "link", "models")} {
		if v, err := FreeAt(path); err != nil || v.Total != here.Total || v.Path != path {
			t.Errorf("%s: got %+v, %v", path, v, err)
		}
	}
	t.Chdir(dir)
	if v, err := FreeAt("models"); err != nil || !strings.HasSuffix(v.Path, "models") || !filepath.IsAbs(v.Path) {
		t.Errorf("got %+v, %v", v, err)
	}
	if _, err := FreeAt(""); err == nil {
		t.Error("a folder without a name was measured")
	}
}

func TestDisksOfAMachine(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "models")
	m := ProbeAll(t.Context(), Ask{Disks: []Volume{{Path: dir, What: "ollama"}, {Path: "", What: "lmstudio"}}})
	if len(m.Disks) != 1 || m.Disks[0].What != "ollama" || m.Disks[0].Path != dir || m.Disks[0].Free <= 0 {
		t.Errorf("got %+v", m.Disks)
	}
	found := false
	for _, note := range m.Notes {
		found = found || note.Source == "disk"
	}
	if !found {
		t.Errorf("no note on the folder without a name: %v", m.Notes)
	}
}
