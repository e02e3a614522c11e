package ollama

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"interpreter/local"
	"interpreter/local/chat"
	"interpreter/local/localtest"
)

type expected struct {
	Text      string
	Reasoning string
	Calls     []struct {
		Name      string
		Arguments json.RawMessage
	}
	Outcome          string
	Requests         int
	MinWait          int      `json:"min_wait_ms"`
	SecondWaitLonger bool     `json:"second_wait_longer"`
	MustMention      []string `json:"error_must_mention"`
	Kind             string   `json:"error_kind"`
	Usage            *struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
	}
}

func readJSON(t *testing.T, file string, into any) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// TestStreams plays testdata/streams. A script goes through local.Retry with a clock that does not wait; a bare body
// is one answer without repetition. Six minutes of silence become a tenth of a second, against limits scaled alike.
func TestStreams(t *testing.T) {
	files, _ := filepath.Glob("testdata/streams/*.expected.json")
	if len(files) == 0 {
		t.Fatal("no cases")
	}
	for _, file := range files {
		base := strings.TrimSuffix(file, ".expected.json")
		t.Run(filepath.Base(base), func(t *testing.T) {
			var want expected
			readJSON(t, file, &want)
			const scale = 1.0 / 3600
			player := &localtest.Player{Scale: scale}
			scripted := false
			if _, err := os.Stat(base + ".script.json"); err == nil {
				player.Script, scripted = localtest.ReadScript(t, base+".script.json"), true
			} else {
				body, err := os.ReadFile(base + ".ndjson")
				if err != nil {
					t.Fatal(err)
				}
				player.Script.Exchanges = []localtest.Exchange{{Status: 200, Steps: []localtest.Step{{Text: string(body)}}}}
			}
			server := httptest.NewServer(player)
			defer server.Close()
			p := newProvider(t, server.URL, Options{First: scaled(firstByte, scale), Idle: scaled(betweenTwo, scale)})
			var m chat.Model = &model{provider: p, info: local.ModelInfo{Name: "m"}, window: 65536}
			var waits []time.Duration
			if scripted {
				m = local.Retry(m, local.Patience{Jitter: func() float64 { return 0.5 }, Sleep: func(_ context.Context, d time.Duration) error {
					waits = append(waits, d)
					return nil
				}})
			}
			got, err := localtest.Collect(t.Context(), m, localtest.Hello())
			checkOutcome(t, want, got, err)
			if want.Requests > 0 && player.Requests() != want.Requests {
				t.Errorf("%d requests, want %d", player.Requests(), want.Requests)
			}
			if want.MinWait > 0 && (len(waits) == 0 || waits[0] < time.Duration(want.MinWait)*time.Millisecond) {
				t.Errorf("waits %v, want at least %d ms", waits, want.MinWait)
			}
			if want.SecondWaitLonger && (len(waits) != 2 || waits[1] <= waits[0]) {
				t.Errorf("waits %v, want the second longer", waits)
			}
		})
	}
}

func scaled(d time.Duration, scale float64) time.Duration { return time.Duration(float64(d) * scale) }

func checkOutcome(t *testing.T, want expected, got localtest.Answer, err error) {
	t.Helper()
	if want.Outcome == "ok" != (err == nil) {
		t.Fatalf("error %v, want outcome %s", err, want.Outcome)
	}
	if got.Text != want.Text || got.Thinking != want.Reasoning {
		t.Errorf("text %q, thinking %q", got.Text, got.Thinking)
	}
	if len(got.Calls) != len(want.Calls) {
		t.Fatalf("calls %+v", got.Calls)
	}
	ids := map[string]bool{}
	for i, c := range got.Calls {
		var a, b any
		json.Unmarshal(c.Args, &a)
		json.Unmarshal(want.Calls[i].Arguments, &b)
		x, _ := json.Marshal(a)
		y, _ := json.Marshal(b)
		if c.Name != want.Calls[i].Name || string(x) != string(y) || c.ID == "" || ids[c.ID] {
			t.Errorf("call %+v, want %s %s", c, want.Calls[i].Name, y)
		}
		ids[c.ID] = true
	}
	if want.Usage != nil && (got.Usage.Input != want.Usage.Prompt || got.Usage.Output != want.Usage.Completion) {
		t.Errorf("usage %+v, want %+v", got.Usage, *want.Usage)
	}
	for _, words := range want.MustMention {
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("error %v does not mention %q", err, words)
		}
	}
	var failure *chat.Error
	if want.Kind != "" && (!errors.As(err, &failure) || string(failure.Kind) != want.Kind) {
		t.Errorf("error %v, want kind %s", err, want.Kind)
	}
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
			readJSON(t, strings.TrimSuffix(file, ".ndjson")+".expected.json", &want)
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
			readJSON(t, file, &answers)
			var want struct {
				Window int `json:"context_window"`
			}
			readJSON(t, strings.TrimSuffix(file, ".json")+".expected.json", &want)
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
