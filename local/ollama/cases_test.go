package ollama

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"interpreter/local"
	"interpreter/local/chat"
	"interpreter/local/localtest"
)

func TestStreams(t *testing.T) {
	localtest.TestStreams(t, localtest.Streams{Bare: ".ndjson", Least: 9, Model: func(base string) chat.Model {
		p := newProvider(t, base, Options{First: localtest.Scaled(firstByte), Idle: localtest.Scaled(betweenTwo)})
		return &model{provider: p, info: local.ModelInfo{Name: "m"}, window: 65536}
	}})
}

// TestPull plays testdata/pull.
func TestPull(t *testing.T) {
	files, _ := filepath.Glob("testdata/pull/*.ndjson")
	if len(files) == 0 {
		t.Fatal("no cases")
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			var want struct {
				Result      string
				Resume      bool     `json:"resume_offered"`
				MustMention []string `json:"error_must_mention"`
				MaxPercent  int64    `json:"max_percent"`
			}
			localtest.ReadJSON(t, strings.TrimSuffix(file, ".ndjson")+".expected.json", &want)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, file) }))
			defer server.Close()
			var failure error
			for at, err := range newProvider(t, server.URL, Options{}).Pull(t.Context(), "x:1b") {
				if failure = err; err != nil {
					break
				}
				if at.Done > at.Total {
					t.Errorf("more than all: %+v", at)
				}
			}
			if (want.Result == "ok") != (failure == nil) {
				t.Fatalf("error %v, want %s", failure, want.Result)
			}
			var typed *chat.Error
			if failure != nil && !errors.As(failure, &typed) {
				t.Fatalf("untyped error %v", failure)
			}
			for _, words := range want.MustMention {
				if !strings.Contains(failure.Error(), words) {
					t.Errorf("error %v does not mention %q", failure, words)
				}
			}
			if want.Resume && !strings.Contains(typed.Remedy, "again") {
				t.Errorf("remedy %q offers no resume", typed.Remedy)
			}
		})
	}
}

// A layer that goes back and one that appears late change the sum, never past the whole.
func TestPullSum(t *testing.T) {
	body := `{"status":"pulling a","digest":"a","total":100,"completed":90}
{"status":"pulling a","digest":"a","total":100,"completed":40}
{"status":"pulling b","digest":"b","total":10,"completed":10}
{"status":"success"}
`
	var got [][2]int64
	if err := readPull(strings.NewReader(body), "m", func(p local.Progress) bool {
		got = append(got, [2]int64{p.Done, p.Total})
		return true
	}); err != nil {
		t.Fatal(err)
	}
	want := [][2]int64{{90, 100}, {40, 100}, {50, 110}, {50, 110}}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("line %d: %v, want %v", i, got[i], want[i])
		}
	}
}

// TestContext plays testdata/context: what is loaded counts, not what was trained; a Modelfile's num_ctx is read.
func TestContext(t *testing.T) {
	files, _ := filepath.Glob("testdata/context/*[0-9].json")
	if len(files) == 0 {
		t.Fatal("no cases")
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			var answers map[string]json.RawMessage
			localtest.ReadJSON(t, file, &answers)
			var want struct {
				Window int `json:"context_window"`
			}
			localtest.ReadJSON(t, strings.TrimSuffix(file, ".json")+".expected.json", &want)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				answer, ok := answers[r.Method+" "+r.URL.Path]
				if !ok {
					w.WriteHeader(404)
				}
				w.Write(answer)
			}))
			defer server.Close()
			p := newProvider(t, server.URL, Options{})
			loaded, err := p.Loaded(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			shown, err := p.Show(t.Context(), "q:30b")
			if err != nil {
				t.Fatal(err)
			}
			window := shown.Configured
			if len(loaded) > 0 {
				window = loaded[0].Window
			}
			if window != want.Window {
				t.Errorf("window %d, want %d (%+v, %+v)", window, want.Window, loaded, shown)
			}
		})
	}
}
