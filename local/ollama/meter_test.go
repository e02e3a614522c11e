package ollama

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"interpreter/local"
	"interpreter/local/chat"
	"interpreter/local/localtest"
)

func say(text string) chat.Message { return chat.Message{Role: chat.User, Text: text} }

// A model that another program has loaded is sent its window and no other load-time option, nothing about shifting,
// and a bound on the answer that keeps it within the window.
func TestEncodeAdopted(t *testing.T) {
	p := newProvider(t, "http://127.0.0.1:1", Options{Load: map[string]any{"num_gpu": 0}})
	m := &model{provider: p, info: local.ModelInfo{Name: "x"}, window: 65536, how: local.Loading{Window: 65536, Adopt: true}}
	if got, want := string(m.encode(chat.Request{})), `{"model":"x","messages":[],"options":{"num_ctx":65536},"keep_alive":"30m","stream":true,"truncate":false}`; got != want {
		t.Errorf("load: got %s", got)
	}
	predict := func(req chat.Request) int {
		t.Helper()
		body := m.encode(req)
		var in struct {
			Options map[string]any
			Shift   *bool
		}
		if err := json.Unmarshal(body, &in); err != nil {
			t.Fatal(err)
		}
		for _, name := range loadTime[1:] {
			if _, sent := in.Options[name]; sent {
				t.Errorf("%s was sent: %s", name, body)
			}
		}
		if in.Shift != nil || in.Options["num_ctx"] != 65536. {
			t.Errorf("got %s", body)
		}
		n, _ := in.Options["num_predict"].(float64)
		return int(n)
	}
	short := chat.Request{Messages: []chat.Message{say("hi")}, Options: map[string]any{"num_batch": 99, "num_thread": 3}}
	if n := predict(short); n < 65000 || n >= 65536 {
		t.Errorf("a short prompt leaves %d tokens", n)
	}
	half := chat.Request{Messages: []chat.Message{say(strings.Repeat("x", 32768*36/10))}}
	if n := predict(half); n < 28000 || n > 32768 {
		t.Errorf("half a window leaves %d tokens", n)
	}
	m.meter.perToken = 1.8
	if n := predict(half); n != leastAnswer {
		t.Errorf("a full window leaves %d tokens", n)
	}
	short.Output = 100
	if n := predict(short); n != 100 {
		t.Errorf("fewer were asked for, got %d", n)
	}
	short.Output, short.Options["num_predict"] = 0, -1
	if n := predict(short); n < 60000 {
		t.Errorf("without end became %d", n)
	}
	picture := chat.Request{Messages: []chat.Message{{Role: chat.User, Images: []chat.Image{{Data: make([]byte, 3<<20)}}}}}
	if n := predict(picture); n < 60000 {
		t.Errorf("a picture was counted as text: %d tokens are left", n)
	}
	own := &model{provider: p, info: local.ModelInfo{Name: "x"}, window: 65536, how: local.Loading{Window: 65536, Batch: 512}}
	if got := string(own.encode(short)); !strings.Contains(got, `"num_batch":512`) || !strings.Contains(got, `"num_gpu":0`) || strings.Contains(got, "num_thread") || !strings.Contains(got, `"shift":false`) {
		t.Errorf("our own: %s", got)
	}
	if own.how.Batch, own.how.OnCPU, own.provider = 0, true, newProvider(t, "http://127.0.0.1:1", Options{}); !strings.Contains(string(own.encode(short)), `"num_gpu":0`) {
		t.Error("the GPU was not left out")
	}
}

// counting is a server that says of each chat call what the test wants.
type counting struct {
	tokens []int           // prompt tokens of one answer after the other
	loads  []time.Duration // load_duration likewise
	window int             // in /api/ps
	asked  int
}

func (c *counting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/api/ps" {
		fmt.Fprintf(w, `{"models":[{"name":"m","digest":"d","context_length":%d}]}`, c.window)
		return
	}
	body, _ := io.ReadAll(r.Body)
	if strings.Contains(string(body), `"messages":[]`) {
		io.WriteString(w, `{"message":{},"done":true,"done_reason":"load"}`)
		return
	}
	tokens, load := 10, time.Duration(0)
	if c.asked < len(c.tokens) {
		tokens = c.tokens[c.asked]
	}
	if c.asked < len(c.loads) {
		load = c.loads[c.asked]
	}
	c.asked++
	fmt.Fprintf(w, `{"message":{"content":"ok"},"done":true,"done_reason":"stop","prompt_eval_count":%d,"eval_count":1,"load_duration":%d}`+"\n", tokens, load)
}

// A load in the middle of a session is told once; a smaller window after it is an error with both numbers; after a
// pause in which the server may unload a model it is nothing.
func TestReloadSeen(t *testing.T) {
	for _, test := range []struct {
		name   string
		window int
		pause  time.Duration
		notes  int
		fails  bool
	}{
		{"with our window", 65536, 0, 1, false},
		{"with a smaller one", 4096, 0, 0, true},
		{"after a long pause", 4096, time.Hour, 0, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			played := &counting{loads: []time.Duration{0, 2 * time.Second, 3 * time.Second}, window: test.window}
			server := httptest.NewServer(played)
			defer server.Close()
			p := newProvider(t, server.URL, Options{})
			now := time.Now()
			p.now = func() time.Time { now = now.Add(test.pause); return now }
			m, err := p.Load(t.Context(), local.ModelInfo{Name: "m", Digest: "d"}, local.Loading{Window: 65536})
			if err != nil {
				t.Fatal(err)
			}
			notes := 0
			var failure error
			for range 3 {
				for d, err := range m.Stream(t.Context(), localtest.Hello()) {
					if err != nil {
						failure = err
					}
					if d.Notice != "" {
						notes++
						if !strings.Contains(d.Notice, "loaded again") || !strings.Contains(d.Notice, "2.0 s") {
							t.Errorf("notice %q", d.Notice)
						}
					}
				}
			}
			if notes != test.notes || (failure != nil) != test.fails {
				t.Fatalf("%d notices, %v", notes, failure)
			}
			var typed *chat.Error
			if test.fails && (!errors.As(failure, &typed) || typed.Retryable() || !strings.Contains(failure.Error(), "4096") || !strings.Contains(failure.Error(), "65536")) {
				t.Errorf("got %v", failure)
			}
		})
	}
}

// A prompt is said to be cut only when nothing else explains the count.
func TestCutPrompt(t *testing.T) {
	grow := func(n, size int) (list []chat.Request) {
		var req chat.Request
		req.Messages = append(req.Messages, say(strings.Repeat("word ", 4000)))
		for range n {
			list = append(list, chat.Request{Messages: append([]chat.Message(nil), req.Messages...)})
			req.Messages = append(req.Messages, chat.Message{Role: chat.Assistant, Text: "ok"}, say(strings.Repeat("more ", size)))
		}
		return list
	}
	thoughtful := grow(6, 100)
	for i := range thoughtful {
		thoughtful[i].Messages[0].Thinking = strings.Repeat("hm ", 9000)
	}
	other := grow(6, 100)
	other[5].Messages = append([]chat.Message{say("another beginning")}, other[5].Messages...)
	tooled := grow(6, 100)
	tooled[5].Tools = []chat.Spec{{Name: "x", Parameters: json.RawMessage(`{"type":"object"}`)}}
	for _, test := range []struct {
		name   string
		asked  []chat.Request
		tokens []int
		cut    bool
	}{
		{"cut", grow(6, 100), []int{5000, 5100, 5200, 5300, 5400, 2048}, true},
		{"counted whole", grow(6, 100), []int{5000, 5100, 5200, 5300, 5400, 5500}, false},
		{"a server that leaves out what it has cached", grow(6, 100), []int{5000, 100, 100, 100, 100, 100}, false},
		{"the same with growing pieces", grow(6, 4000), []int{5000, 5000, 9000, 20000, 40000, 100}, false},
		{"a template that shows the model nothing", grow(6, 100), []int{12, 12, 12, 12, 12, 12}, false},
		{"thoughts may go", thoughtful, []int{30000, 30100, 30200, 30300, 30400, 5500}, false},
		{"another conversation", other, []int{5000, 5100, 5200, 5300, 5400, 2048}, false},
		{"other tools", tooled, []int{5000, 5100, 5200, 5300, 5400, 2048}, false},
		{"too early to know", grow(3, 100), []int{5000, 5100, 2048}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			played := &counting{tokens: test.tokens}
			server := httptest.NewServer(played)
			defer server.Close()
			m := &model{provider: newProvider(t, server.URL, Options{}), info: local.ModelInfo{Name: "m"}, window: 65536}
			for i, req := range test.asked {
				_, err := localtest.Collect(t.Context(), m, req)
				if last := i == len(test.asked)-1; err == nil != !(last && test.cut) {
					t.Fatalf("request %d: %v", i, err)
				}
				var failure *chat.Error
				if err != nil && (!errors.As(err, &failure) || failure.Kind != chat.Overflow || failure.Window != 2048 || failure.Prompt != 5400 || failure.Remedy == "") {
					t.Errorf("got %v", err)
				}
			}
		})
	}
}

// A model that may run elsewhere is not loaded, and its answers are let through.
func TestRemoteAllowed(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		fmt.Fprintln(w, `{"message":{"content":"far"},"done":false,"remote_host":"https://cloud.example","remote_model":"big"}`)
		io.WriteString(w, wire.End(chat.Stopped, 1, 1))
	}))
	defer server.Close()
	m, err := newProvider(t, server.URL, Options{}).Load(t.Context(), local.ModelInfo{Name: "big:cloud"}, local.Loading{Window: 65536, Remote: true})
	if err != nil || asked > 0 {
		t.Fatalf("%v after %d requests", err, asked)
	}
	if got, err := localtest.Collect(t.Context(), m, localtest.Hello()); err != nil || got.Text != "far" {
		t.Errorf("got %+v, %v", got, err)
	}
}

// Remove and Unload say what they mean on the wire; what is not there is Missing.
func TestRemoveAndUnload(t *testing.T) {
	var seen []string
	looks := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.URL.Path == "/api/ps" {
			looks++
			io.WriteString(w, `{"models":[{"name":"other:1b"}`+map[bool]string{true: `,{"name":"m:1b"}`}[looks < 3]+`]}`)
			return
		}
		seen = append(seen, r.Method+" "+r.URL.Path+" "+string(body))
		switch {
		case strings.Contains(string(body), "absent"):
			http.Error(w, `{"error":"model 'absent' not found"}`, 404)
		case r.Method == http.MethodPost:
			io.WriteString(w, `{"done":true,"done_reason":"unload"}`)
		}
	}))
	defer server.Close()
	p := newProvider(t, server.URL, Options{})
	p.pause = func(context.Context, time.Duration) error { return nil }
	if err := p.Remove(t.Context(), "m:1b"); err != nil {
		t.Error(err)
	}
	if err := p.Unload(t.Context(), local.Resident{Name: "m:1b"}); err != nil || looks != 3 {
		t.Errorf("%v after %d looks", err, looks)
	}
	var failure *chat.Error
	looks = -1000
	if err := p.Unload(t.Context(), local.Resident{Name: "m:1b"}); !errors.As(err, &failure) || failure.Kind != chat.Busy {
		t.Errorf("held by another: %v", err)
	}
	seen = seen[:2]
	if err := p.Remove(t.Context(), "absent"); !errors.As(err, &failure) || failure.Kind != chat.Missing {
		t.Errorf("got %v", err)
	}
	want := []string{`DELETE /api/delete {"model":"m:1b"}`, `POST /api/chat {"keep_alive":0,"messages":[],"model":"m:1b","stream":false}`}
	if len(seen) != 3 || seen[0] != want[0] || seen[1] != want[1] {
		t.Errorf("got %q", seen)
	}
}

// What crashed is told from what was refused, and a load that stalled from both.
func TestCrash(t *testing.T) {
	for text, want := range map[string]struct {
		kind  chat.Kind
		crash bool
	}{
		"llama runner process has terminated: exit status 2":                      {chat.Server, true},
		"model runner has unexpectedly stopped, this may be due to resources":     {chat.Server, true},
		"llama runner process has terminated: cudaMalloc failed: out of memory":   {chat.Memory, false},
		"timed out waiting for llama runner to start - progress 0.40":             {chat.Idle, false},
		"an error was encountered while running the model: unexpected EOF":        {chat.Server, true},
		"pull model manifest: 412: this model requires a newer version of Ollama": {chat.Invalid, false},
		"something broke": {chat.Server, false},
	} {
		if e := classify(500, text, "m"); e.Kind != want.kind || e.Crash != want.crash {
			t.Errorf("%q: got %s, crash %v", text, e.Kind, e.Crash)
		}
	}
}

// What a model says of itself and its place: the server it needs, and until when it stays.
func TestRequiresAndUntil(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/ps" {
			io.WriteString(w, `{"models":[{"name":"m","size":10,"size_vram":4,"context_length":8192,"expires_at":"2026-09-01T10:00:00Z"}]}`)
			return
		}
		io.WriteString(w, `{"requires":"0.30.0","model_info":{}}`)
	}))
	defer server.Close()
	p := newProvider(t, server.URL, Options{})
	if m, err := p.Show(t.Context(), "m"); err != nil || m.Requires != "0.30.0" {
		t.Errorf("got %+v, %v", m, err)
	}
	if list, err := p.Loaded(t.Context()); err != nil || len(list) != 1 || list[0].Until.Unix() != 1788256800 || list[0].VRAM != 4 {
		t.Errorf("got %+v, %v", list, err)
	}
}

func TestKeepFor(t *testing.T) {
	for text, want := range map[string]time.Duration{"30m": 30 * time.Minute, "90": 90 * time.Second, "-1": -time.Second, "-1m": -time.Minute, "0": 0, "odd": 0} {
		if got := keepFor(text); got != want {
			t.Errorf("%s: got %s", text, got)
		}
	}
}

var (
	_ local.Wired    = (*Provider)(nil)
	_ local.Remover  = (*Provider)(nil)
	_ local.Unloader = (*Provider)(nil)
	_ local.Counsel  = (*Provider)(nil)
	_ local.Starter  = (*Provider)(nil)
	_ local.Guide    = (*Provider)(nil)
	_ local.Measurer = (*Provider)(nil)
)
