package lmstudio

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"interpreter/local/practice"
)

// The file of a model is known by its size, alone, in pieces, and with the file that lets it see.
func TestFileOf(t *testing.T) {
	folder := t.TempDir()
	for path, size := range map[string]int{
		"a/m/m-Q4.gguf": 100, "a/m/mmproj-m.gguf": 7, "a/m/readme.md": 55,
		"b/n/n-00001-of-00002.gguf": 60, "b/n/n-00002-of-00002.gguf": 70,
		"c/x/x.gguf": 500, "d/y/y.gguf": 500, "e/z/z.gguf": 900, "f/z/z.gguf": 900,
		"g/half-00002-of-00002.gguf": 333, "h/mlx/model.safetensors": 1000,
	} {
		full := filepath.Join(folder, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, make([]byte, size), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for size, want := range map[int64]string{
		100: "a/m/m-Q4.gguf", 107: "a/m/m-Q4.gguf", 130: "b/n/n-00001-of-00002.gguf", 900: "f/z/z.gguf",
		60: "", 7: "", 500: "", 333: "", 1000: "", 1: "",
	} {
		if want != "" {
			want = filepath.Join(folder, filepath.FromSlash(want))
		}
		if got := fileOf(folder, size); got != want {
			t.Errorf("%d bytes: %q, want %q", size, got, want)
		}
	}
	if got := fileOf(filepath.Join(folder, "absent"), 100); got != "" {
		t.Errorf("an absent folder: %q", got)
	}
}

// Layers come from the header of the file where the folder is known, else from the catalogue by the key.
func TestGeometry(t *testing.T) {
	script, err := practice.Parse(hi)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := practice.WriteGGUF(script, folder, practice.GGUFOptions{}); err != nil {
		t.Fatal(err)
	}
	file, err := os.Stat(filepath.Join(folder, "practice.gguf"))
	if err != nil {
		t.Fatal(err)
	}
	_, _, url := played(t, fmt.Sprintf("size %d\n", file.Size())+hi)
	for _, test := range []struct {
		files string
		known bool
	}{{folder, true}, {t.TempDir(), false}, {"", false}} {
		p := newProvider(t, url, Options{Files: test.files})
		for range 2 {
			m, err := p.Show(t.Context(), "practice")
			if err != nil || m.Geometry.Known() != test.known || m.Trained != 131072 || m.Architecture != "llama" {
				t.Errorf("files %q: %+v, %v", test.files, m, err)
			}
		}
	}
	for architecture, known := range map[string]bool{"qwen3moe": true, "qwen3-moe": true, "llama": false} {
		_, _, url = played(t, "model qwen/qwen3-coder-30b\narchitecture "+architecture+"\n"+hi)
		m, err := newProvider(t, url, Options{}).Show(t.Context(), "qwen/qwen3-coder-30b")
		if err != nil || m.Geometry.Known() != known || known && (m.Geometry.Layers != 48 || m.Geometry.KVHeads[0] != 4) {
			t.Errorf("%s by the catalogue: %+v, %v", architecture, m, err)
		}
	}
}
