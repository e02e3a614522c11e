package openai

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"interpreter/local"
	"interpreter/local/chat"
	"interpreter/local/localtest"
	"interpreter/local/practice"
)

func TestAddress(t *testing.T) {
	for _, test := range []struct{ base, address, api string }{
		{"http://127.0.0.1:8080", "http://127.0.0.1:8080", "http://127.0.0.1:8080/v1"},
		{"http://127.0.0.1:8080/", "http://127.0.0.1:8080", "http://127.0.0.1:8080/v1"},
		{"http://127.0.0.1:8080/v1", "http://127.0.0.1:8080", "http://127.0.0.1:8080/v1"},
		{" http://127.0.0.1:8080/v1// ", "http://127.0.0.1:8080", "http://127.0.0.1:8080/v1"},
		{"http://box.lan//llm//v1/", "http://box.lan/llm", "http://box.lan/llm/v1"},
		{"https://box.lan/llm", "https://box.lan/llm", "https://box.lan/llm/v1"},
		{"http://box:8000/v3", "http://box:8000/v3", "http://box:8000/v3"},
		{"http://[::1]:8080/v1?x=1#f", "http://[::1]:8080", "http://[::1]:8080/v1"},
		{"http://me:secret@box/v1", "http://box", "http://box/v1"},
	} {
		p, err := New(test.base, Options{})
		if err != nil {
			t.Errorf("%s: %v", test.base, err)
			continue
		}
		if p.Address() != test.address || p.api != test.api {
			t.Errorf("%s: address %q, api %q", test.base, p.Address(), p.api)
		}
	}
	for _, base := range []string{"", "127.0.0.1:8080", "ftp://x", "http://", "http:///v1", "://"} {
		if _, err := New(base, Options{}); err == nil || !strings.Contains(err.Error(), base) {
			t.Errorf("%q: %v", base, err)
		}
	}
}

// What a person says of a server goes with every request, and the paths have no double slash.
func TestHeaderAndQuery(t *testing.T) {
	var got []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, _, _ := r.BasicAuth()
		got = append(got, r.Method+" "+r.URL.String()+" "+r.Header.Get("X-Gate")+" "+user)
		if strings.HasSuffix(r.URL.Path, "completions") {
			io.WriteString(w, wire.Text("ok")+wire.End(chat.Stopped, 1, 1))
			return
		}
		reply(w, 200, object{"data": []any{object{"id": "m", "owned_by": "sglang"}}})
	}))
	defer server.Close()
	base := strings.Replace(server.URL, "http://", "http://me:pw@", 1) + "/llm/v1/?b=2"
	header := http.Header{"X-Gate": {"open"}}
	p := newProvider(t, base, Options{Header: header, Query: url.Values{"a": {"1"}}})
	if _, err := p.Models(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := localtest.Collect(t.Context(), p.Chat(local.ModelInfo{Name: "m"}, "m", 0), localtest.Hello()); err != nil {
		t.Fatal(err)
	}
	want := []string{"GET /llm/v1/models?a=1&b=2 open me", "POST /llm/v1/chat/completions?a=1&b=2 open me"}
	if !reflect.DeepEqual(got, want) || len(header) != 1 {
		t.Errorf("got %q, header %v", got, header)
	}
}

// serving answers GET requests by path, and a chat call with "ok".
func serving(t *testing.T, answers map[string]any) *httptest.Server {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			io.WriteString(w, wire.Text("ok")+wire.End(chat.Stopped, 1, 1))
			return
		}
		answer, ok := answers[r.URL.RequestURI()]
		if !ok {
			http.NotFound(w, r)
			return
		}
		reply(w, 200, answer)
	}))
	t.Cleanup(server.Close)
	return server
}

func list(models ...object) object { return object{"object": "list", "data": models} }

// servers are the kinds there are and what is known of each.
var servers = []struct {
	name     string
	answers  map[string]any
	said     int // window named by a person
	version  string
	trained  int
	served   int
	can      []string
	resident []local.Resident
}{
	{
		name: "llama.cpp with a template that takes tools",
		answers: map[string]any{
			"/v1/models": list(object{"id": "m", "owned_by": "llamacpp", "meta": object{"n_ctx_train": 262144, "n_params": 30532122624, "size": 18556685824}}),
			"/props": object{
				"default_generation_settings": object{"n_ctx": 32768}, "total_slots": 4, "build_info": "b6123-abcdef0",
				"chat_template": "{% if tools %}…{% endif %}<think>", "modalities": object{"vision": true},
			},
		},
		version: "llama.cpp b6123-abcdef0", trained: 262144, served: 32768, can: []string{"completion", "tools", "thinking", "vision"},
		resident: []local.Resident{{Name: "m", Guessed: true, Size: 18556685824, Window: 32768, Slots: 4}},
	},
	{
		name: "llama.cpp with a template that says nothing of tools",
		answers: map[string]any{
			"/v1/models": list(object{"id": "m", "owned_by": "llamacpp"}),
			"/props":     object{"default_generation_settings": object{"n_ctx": 65536}, "total_slots": 1, "chat_template": "{{ messages }}"},
		},
		version: "llama.cpp", served: 65536, resident: []local.Resident{{Name: "m", Guessed: true, Window: 65536, Slots: 1}},
	},
	{
		name: "llama.cpp's router",
		answers: map[string]any{
			"/v1/models":                    list(object{"id": "m", "owned_by": "llamacpp", "status": object{"value": "loaded"}}, object{"id": "other", "status": object{"value": "unloaded"}}),
			"/props":                        object{"role": "router"},
			"/props?autoload=false&model=m": object{"default_generation_settings": object{"n_ctx": 65536}, "total_slots": 1},
			"/props?model=m":                object{"default_generation_settings": object{"n_ctx": 65536}, "total_slots": 1},
		},
		version: "llama.cpp", served: 65536, resident: []local.Resident{{Name: "m", Guessed: true, Window: 65536, Slots: 1}},
	},
	{
		name: "vLLM",
		answers: map[string]any{
			"/v1/models": list(object{"id": "m", "owned_by": "vllm", "root": "org/m", "max_model_len": 131072}),
			"/version":   object{"version": "0.10.1"},
		},
		version: "vllm 0.10.1", served: 131072, resident: []local.Resident{{Name: "m", Guessed: true, Window: 131072}},
	},
	{
		name:    "a server that says nothing of itself",
		answers: map[string]any{"/v1/models": list(object{"id": "m"}, object{"id": ""})},
		version: "of an unknown version",
	},
	{
		name:    "a server that says nothing, and a person who does",
		answers: map[string]any{"/v1/models": list(object{"id": "m"})}, said: 65536,
		version: "of an unknown version", served: 65536, resident: []local.Resident{{Name: "m", Guessed: true, Window: 65536}},
	},
}

func TestServers(t *testing.T) {
	for _, test := range servers {
		t.Run(test.name, func(t *testing.T) {
			p := newProvider(t, serving(t, test.answers).URL, Options{Name: "box", Window: test.said})
			if p.Name() != "box" || p.Wire() != "chat" {
				t.Errorf("%s, %s", p.Name(), p.Wire())
			}
			if v, err := p.Version(t.Context()); err != nil || v != test.version {
				t.Errorf("version %q, %v", v, err)
			}
			info, err := p.Show(t.Context(), "m")
			if err != nil || info.Trained != test.trained || info.Configured != test.served || !reflect.DeepEqual(info.Capabilities, test.can) || info.Provider != "box" {
				t.Errorf("show %+v, %v", info, err)
			}
			loaded, err := p.Loaded(t.Context())
			if err != nil || !reflect.DeepEqual(loaded, test.resident) {
				t.Errorf("loaded %+v, %v", loaded, err)
			}
			// A fresh provider knows no more than this one did.
			p = newProvider(t, p.Address(), Options{Name: "box", Window: test.said})
			asked := max(test.served, 4096)
			m, err := p.Load(t.Context(), info, local.Loading{Window: asked})
			if err != nil {
				t.Fatal(err)
			}
			if got, err := localtest.Collect(t.Context(), m, localtest.Hello()); err != nil || got.Text != "ok" {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

// Counts that no model has are none: sums are made of them.
func TestNonsenseCounts(t *testing.T) {
	p := newProvider(t, serving(t, map[string]any{
		"/v1/models": json.RawMessage(`{"data":[{"id":"m","owned_by":"llamacpp","max_model_len":-4,"meta":{"n_ctx_train":4611686018427387904,"n_ctx":9223372036854775807,"size":-5}}]}`),
		"/props":     json.RawMessage(`{"default_generation_settings":{"n_ctx":-1},"total_slots":9007199254740993,"build_info":"b1"}`),
	}).URL, Options{Window: 65536})
	info, err := p.Show(t.Context(), "m")
	if err != nil || info.Trained != 0 || info.Configured != 65536 || info.Size != 0 {
		t.Errorf("show %+v, %v", info, err)
	}
	loaded, err := p.Loaded(t.Context())
	if err != nil || len(loaded) != 1 || loaded[0].Window != 65536 || loaded[0].Slots != 0 || loaded[0].Size != 0 {
		t.Errorf("loaded %+v, %v", loaded, err)
	}
}

func TestRefusedWindow(t *testing.T) {
	for _, test := range []struct {
		server, asked, served int
		try                   string
	}{
		{0, 65536, 32768, "-c 262144"}, // four slots share it
		{3, 131073, 0, ""},             // 131072 are enough for an agent
		{0, 32768, 0, ""},
	} {
		p := newProvider(t, serving(t, servers[test.server].answers).URL, Options{Name: "box"})
		_, err := p.Load(t.Context(), local.ModelInfo{Name: "m"}, local.Loading{Window: test.asked})
		if test.served == 0 {
			if err != nil {
				t.Errorf("asked for %d: %v", test.asked, err)
			}
			continue
		}
		var refusal *local.Refusal
		if !errors.As(err, &refusal) || refusal.Code != local.WrongWindow || refusal.Needed != int64(test.asked) || refusal.Available != int64(test.served) {
			t.Fatalf("got %v", err)
		}
		for _, words := range []string{"65536", "32768"} {
			if !strings.Contains(err.Error(), words) {
				t.Errorf("%v does not name %s", err, words)
			}
		}
		if !strings.Contains(refusal.Try, test.try) || !strings.Contains(refusal.Try, "model_context_window=32768") {
			t.Errorf("try %q", refusal.Try)
		}
		if _, err := p.Load(t.Context(), local.ModelInfo{Name: "m"}, local.Loading{Window: test.asked, Adopt: true}); err != nil {
			t.Errorf("adopting: %v", err)
		}
	}
}

func TestPull(t *testing.T) {
	for _, err := range newProvider(t, "http://127.0.0.1:1", Options{Name: "box"}).Pull(t.Context(), "x:1b") {
		var refusal *local.Refusal
		if !errors.As(err, &refusal) || refusal.Code != local.NoPull || refusal.Try == "" || !strings.Contains(err.Error(), "x:1b") {
			t.Errorf("got %v", err)
		}
	}
}

// A wrong address is told from a server that is not there.
func TestStrangers(t *testing.T) {
	for name, body := range map[string]string{
		"a page": "<html><title>Router</title>", "words": "Ollama is running", "other JSON": `{"hello":"world"}`, "an empty body": "", "a list": "[]",
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, body) }))
			defer server.Close()
			_, err := newProvider(t, server.URL, Options{}).Version(t.Context())
			var e *chat.Error
			if !errors.As(err, &e) || e.Kind != chat.Invalid || !strings.Contains(e.Error(), server.URL) || !strings.Contains(e.Remedy, "address") {
				t.Errorf("got %v (%+v)", err, e)
			}
		})
	}
	_, err := newProvider(t, serving(t, map[string]any{"/v1/models": list(object{"id": "one"}, object{"id": "two"})}).URL, Options{}).Show(t.Context(), "three")
	var e *chat.Error
	if !errors.As(err, &e) || e.Kind != chat.Missing || !strings.Contains(e.Remedy, "one, two") {
		t.Errorf("got %v (%+v)", err, e)
	}
}

// play serves a script on the wire of llama.cpp's server.
func play(t *testing.T, text string) *Provider {
	t.Helper()
	script, err := practice.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- practice.Serve(ctx, listener, script, "chat", nil) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return newProvider(t, "http://"+listener.Addr().String(), Options{Name: "box", First: 10 * time.Second, Idle: 10 * time.Second})
}

// Ready takes this provider from a wish to a model that called a tool, against the practice server.
func TestReady(t *testing.T) {
	p := play(t, "window 131072\nreply\n  think hm\n  say Grüße.\n  call read_file {\"file_path\":\"日本.txt\"}\nreply\n  want ^done$\n  say Fertig.\n")
	var ready *local.Prepared
	for stage, err := range local.Ready(t.Context(), local.Options{Providers: []local.Provider{p}, Patience: local.Patience{Requests: -1, Streams: -1}}) {
		if err != nil {
			t.Fatal(err)
		}
		ready = stage.Ready
	}
	if ready == nil || ready.Provider != "box" || ready.Window != 131072 || ready.Verdict != local.Native {
		t.Fatalf("got %+v", ready)
	}
	req := localtest.Hello()
	req.Tools = tools
	got, err := localtest.Collect(t.Context(), ready.Model, req)
	if err != nil || got.Text != "Grüße." || got.Thinking != "hm" || len(got.Calls) != 1 || string(got.Calls[0].Args) != `{"file_path":"日本.txt"}` || got.Usage.Input == 0 {
		t.Fatalf("got %+v, %v", got, err)
	}
	req.Messages = append(req.Messages,
		chat.Message{Role: chat.Assistant, Text: got.Text, Thinking: got.Thinking, Calls: got.Calls},
		chat.Message{Role: chat.Tool, Result: &chat.Result{CallID: got.Calls[0].ID, Name: "read_file", Text: "done"}})
	if got, err = localtest.Collect(t.Context(), ready.Model, req); err != nil || got.Text != "Fertig." {
		t.Fatalf("got %+v, %v", got, err)
	}
}

// A server that was started with its window keeps it: a smaller wish uses part of it, a larger one is told what counts,
// whatever an earlier run has recorded.
func TestReadyWithAFixedWindow(t *testing.T) {
	p := play(t, "window 131072\nreply\n  say hello\n")
	loads := filepath.Join(t.TempDir(), "loads.json")
	for _, test := range []struct{ asked, want int }{{200_000, 131_072}, {40_960, 40_960}, {0, 131_072}, {98_304, 98_304}} {
		var ready *local.Prepared
		told := ""
		o := local.Options{Providers: []local.Provider{p}, Window: test.asked, Loads: loads, Patience: local.Patience{Requests: -1, Streams: -1}}
		for stage, err := range local.Ready(t.Context(), o) {
			if err != nil {
				t.Fatalf("%d: %v", test.asked, err)
			}
			told += stage.Text + stage.Warning + "\n"
			ready = stage.Ready
		}
		if ready == nil || ready.Window != test.want || strings.Contains(told, "loading") || strings.Contains(told, "another program") {
			t.Errorf("%d: got %+v\n%s", test.asked, ready, told)
		}
		if test.asked > 131_072 && !strings.Contains(told, "box serves 131072") {
			t.Errorf("%d: it was told\n%s", test.asked, told)
		}
	}
}

// The bad days that a script can rehearse.
func TestBadDays(t *testing.T) {
	for _, test := range []struct {
		script string
		kind   chat.Kind
	}{
		{"window 4096\nreply\n  say x\n", chat.Overflow},
		{"reply\n  status 503\n", chat.Busy},
		{"reply\n  say half\n  cut\n", chat.Broken},
		{"reply\n  say half\n  error model runner has unexpectedly stopped\n", chat.Server},
	} {
		p := play(t, test.script)
		req := localtest.Hello()
		req.Messages[0].Text = strings.Repeat("a long prompt ", 4000)
		_, err := localtest.Collect(t.Context(), p.Chat(local.ModelInfo{Name: "practice"}, "practice", 4096), req)
		var e *chat.Error
		if !errors.As(err, &e) || e.Kind != test.kind {
			t.Errorf("%q: got %v", test.script, err)
		}
		if e != nil && test.kind == chat.Overflow && (e.Prompt <= 4096 || e.Window != 4096) {
			t.Errorf("overflow %+v", e)
		}
	}
}
