package ollama

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"interpreter/local/practice"
)

// The models in a server's folder are found without it, under the names that it gives them, with what their files tell.
// Stubs, other formats, broken manifests and names that lead elsewhere are left out.
func TestStored(t *testing.T) {
	folder := t.TempDir()
	script, err := practice.Parse("model small\nwindow 131072\nreply\n  say Hello.\n")
	if err != nil {
		t.Fatal(err)
	}
	if err := practice.WriteGGUF(script, filepath.Join(folder, "made"), practice.GGUFOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(folder, "blobs"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(folder, "made", "practice.gguf"), filepath.Join(folder, "blobs", "sha256-0a")); err != nil {
		t.Fatal(err)
	}
	const model = `{"mediaType":"application/vnd.ollama.image.model","digest":"%s","size":1000}`
	layers := func(all ...string) string { return `{"schemaVersion":2,"layers":[` + strings.Join(all, ",") + `]}` }
	whole := layers(fmt.Sprintf(model, "sha256:0a"), `{"mediaType":"application/vnd.ollama.image.projector","digest":"sha256:0b","size":24}`)
	for name, text := range map[string]string{
		"models.example/library/qwen3/8b":             whole,
		"models.example/someone/qwen3/latest":         whole,
		"other.example/someone/qwen3/q4":              whole,
		"models.example/library/stub/cloud":           layers(),
		"models.example/library/gone/latest":          layers(fmt.Sprintf(model, "sha256:ff")),
		"models.example/library/outside/latest":       layers(fmt.Sprintf(model, "../../secret")),
		"models.example/library/broken/latest":        whole[:40],
		"models.example/library/deeper/than/expected": whole,
	} {
		path := filepath.Join(folder, "manifests", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var names []string
	for _, m := range Stored(folder) {
		names = append(names, m.Name)
		info, err := m.Info()
		if err != nil {
			t.Errorf("%s: %v", m.Name, err)
		}
		if info.Name != m.Name || info.Provider != "ollama" || info.Size != 1024 || info.Projector != 24 || info.Trained != 131072 || !info.Geometry.Known() {
			t.Errorf("%s: %+v", m.Name, info)
		}
	}
	if got, want := strings.Join(names, " "), "qwen3:8b someone/qwen3:latest other.example/someone/qwen3:q4"; got != want {
		t.Errorf("found %s, want %s", got, want)
	}
	if err := os.RemoveAll(filepath.Join(folder, "manifests", "models.example", "library")); err != nil {
		t.Fatal(err)
	}
	if found := Stored(folder); len(found) != 2 || found[0].Name != "models.example/someone/qwen3:latest" {
		t.Errorf("without a usual owner: %+v", found)
	}
	if found := Stored(filepath.Join(folder, "nowhere")); len(found) > 0 {
		t.Errorf("in no folder: %v", found)
	}
}

// A server that has a switch for its cloud says how it stands; an older one does not know, which is no error.
func TestCloud(t *testing.T) {
	for _, c := range []struct {
		body      string
		status    int
		on, known bool
		fails     bool
	}{
		{`{"cloud":{"disabled":true,"source":"env"}}`, 200, false, true, false},
		{`{"cloud":{"disabled":false,"source":"none"}}`, 200, true, true, false},
		{`{}`, 200, false, false, false},
		{`404 page not found`, 404, false, false, false},
		{`{"error":"broken"}`, 500, false, false, true},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/api/status" {
				t.Errorf("asked for %s", r.URL.Path)
			}
			w.WriteHeader(c.status)
			fmt.Fprint(w, c.body)
		}))
		on, known, err := newProvider(t, server.URL, Options{}).Cloud(t.Context())
		server.Close()
		if on != c.on || known != c.known || (err != nil) != c.fails {
			t.Errorf("%d %s: %v, %v, %v", c.status, c.body, on, known, err)
		}
	}
}
