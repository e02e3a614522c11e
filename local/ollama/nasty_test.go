package ollama

import (
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ollama/ollama/api"

	"interpreter/local"
	"interpreter/local/chat"
)

// An answer without an end is no answer, and does not fill the memory.
func TestEndlessAnswer(t *testing.T) {
	block := strings.Repeat(" ", 1<<20)
	sent := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for range 4 * longestLine / len(block) {
			if _, err := io.WriteString(w, block); err != nil {
				return
			}
			sent += len(block)
		}
	}))
	defer server.Close()
	_, err := newProvider(t, server.URL, Options{}).Version(t.Context())
	var failure *chat.Error
	if !errors.As(err, &failure) || failure.Kind != chat.Invalid {
		t.Errorf("error %v", err)
	}
	server.Close()
	if sent > 2*longestLine {
		t.Errorf("%d bytes were taken", sent)
	}
}

// answeringWith is a server with fixed answers by path.
func answeringWith(t *testing.T, answers map[string]string) *Provider {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, ok := answers[r.URL.Path]
		if !ok {
			w.WriteHeader(404)
			text = `{"error":"not found"}`
		}
		io.WriteString(w, text)
	}))
	t.Cleanup(server.Close)
	return newProvider(t, server.URL, Options{})
}

func TestListsOfNonsense(t *testing.T) {
	p := answeringWith(t, map[string]string{
		"/api/tags": `{"models":[null,{},{"name":""},{"model":"a:1b","size":-5,"details":{"context_length":-1}},{"name":"b:1b","size":7,"details":{"context_length":99999999999999}}]}`,
		"/api/ps":   `{"models":[null,{},{"name":"a:1b","size":-3,"size_vram":-7,"context_length":-1}]}`,
		"/api/show": `{"parameters":"num_ctx    99999999999999","model_info":{"general.architecture":"qwen35","qwen35.block_count":1,"qwen35.nextn_predict_layers":5,"qwen35.context_length":1e30}}`,
	})
	models, err := p.Models(t.Context())
	if err != nil || len(models) != 2 || models[0].Name != "a:1b" || models[0].Size != 0 || models[0].Trained != 0 || models[1].Trained != 0 {
		t.Errorf("models %+v, %v", models, err)
	}
	loaded, err := p.Loaded(t.Context())
	if err != nil || len(loaded) != 1 || loaded[0].Size != 0 || loaded[0].VRAM != 0 || loaded[0].Window != 0 {
		t.Errorf("loaded %+v, %v", loaded, err)
	}
	info, err := p.Show(t.Context(), "a:1b")
	if err != nil || info.Trained != 0 || info.Configured != 0 || info.Geometry.Layers != 1 {
		t.Errorf("info %+v, %v", info, err)
	}
}

// A path that a server does not know is not a model that it lacks.
func TestNoSuchCall(t *testing.T) {
	_, err := answeringWith(t, nil).Version(t.Context())
	var failure *chat.Error
	if !errors.As(err, &failure) || failure.Kind != chat.Invalid || strings.Contains(failure.Remedy, "pull") {
		t.Errorf("error %+v", err)
	}
}

func TestPasswordInAddress(t *testing.T) {
	var got string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Get("Authorization")
		io.WriteString(w, `{"version":"0.24.0"}`)
	}))
	defer server.Close()
	p := newProvider(t, strings.Replace(server.URL, "http://", "http://u:pw@", 1), Options{})
	if _, err := p.Version(t.Context()); err != nil || got != "Basic dTpwdw==" {
		t.Errorf("sent %q, %v", got, err)
	}
	if strings.Contains(p.Address(), "pw") {
		t.Errorf("the address is %s", p.Address())
	}
}

func TestBoundAddress(t *testing.T) {
	for said, want := range map[string]string{
		"http://0.0.0.0:1/v1": "http://127.0.0.1:1", "http://[::]:1": "http://[::1]:1", "0.0.0.0:1": "http://127.0.0.1:1", "http://0.0.0.0": "http://127.0.0.1",
	} {
		if got, _, err := Address(Addresses{Configured: said}); got != want || err != nil {
			t.Errorf("%s: %s, %v", said, got, err)
		}
	}
	if got, _, err := Address(Addresses{CodexPort: "+4700"}); got != "http://127.0.0.1:4700" || err != nil {
		t.Errorf("port: %s, %v", got, err)
	}
}

// 412 is also a part of digests and addresses.
func TestDownloadThatFailed(t *testing.T) {
	for text, want := range map[string]bool{
		"pull model manifest: 412: requires a newer version of Ollama":          true,
		"max retries exceeded: Get blobs/sha256:ab412cd: unexpected EOF":        false,
		"read tcp 10.0.0.4:41200->10.0.0.9:443: read: connection reset by peer": false,
	} {
		err := pullFailure("m", text, &layers{})
		var failure *chat.Error
		if errors.As(err, &failure); strings.Contains(failure.Remedy, "update the server") != want {
			t.Errorf("%s: %s", text, failure.Remedy)
		}
	}
}

func TestLayersStaySums(t *testing.T) {
	all := &layers{total: map[string]int64{}, done: map[string]int64{}, kept: map[string]int64{}}
	for _, digest := range []string{"a", "b", "c"} {
		all.add(api.ProgressResponse{Digest: digest, Total: math.MaxInt64, Completed: math.MaxInt64})
		all.add(api.ProgressResponse{Digest: digest, Total: -1, Completed: -1})
	}
	if p := all.progress(""); p.Total <= 0 || p.Done < 0 || p.Done > p.Total || p.Kept < 0 {
		t.Errorf("%+v", local.Progress(p))
	}
}
