package lmstudio

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"interpreter/local"
	"interpreter/local/chat"
	"interpreter/local/localtest"
)

// The contract, over each generation of the server's API.
func TestProvider(t *testing.T) {
	for name, serve := range map[string]func(localtest.State, http.Handler) http.Handler{"v1": serveV1, "v0": serveV0} {
		t.Run(name, func(t *testing.T) {
			w := wire
			w.Serve = serve
			localtest.TestProvider(t, w)
		})
	}
}

func quote(text string) string { return string(local.AppendJSON(nil, text)) }

func write(w http.ResponseWriter, value any) { w.Write(local.AppendJSON(nil, value)) }

// object is a JSON object.
type object = map[string]any

// newProvider is a provider whose waits take no time.
func newProvider(t testing.TB, base string, o Options) *Provider {
	t.Helper()
	p, err := New(base, o)
	if err != nil {
		t.Fatal(err)
	}
	p.pause = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	return p
}

// kindOf is the kind of an error, and the error.
func kindOf(t *testing.T, err error) (chat.Kind, *chat.Error) {
	t.Helper()
	failure, ok := err.(*chat.Error)
	if !ok {
		t.Fatalf("got %v, want a chat.Error", err)
	}
	return failure.Kind, failure
}

// unknown answers a path as LM Studio does when it does not know it.
func unknown(w http.ResponseWriter, r *http.Request) {
	write(w, object{"error": fmt.Sprintf("Unexpected endpoint or method. (%s %s)", r.Method, r.URL.Path)})
}

func capable(s localtest.State, capability string) bool { return s.Model.Can(capability) }

// serveV1 is LM Studio since 0.4.0 in a state. Chat calls go to answer.
func serveV1(s localtest.State, answer http.Handler) http.Handler {
	var lock sync.Mutex
	window := s.Window
	mux := http.NewServeMux()
	mux.HandleFunc("/", unknown)
	mux.HandleFunc("GET /api/v1/models", func(w http.ResponseWriter, r *http.Request) {
		lock.Lock()
		defer lock.Unlock()
		loaded := []any{}
		if window > 0 {
			loaded = append(loaded, object{"id": s.Model.Name, "config": object{"context_length": window, "parallel": 4}})
		}
		can := object{"vision": false, "trained_for_tool_use": capable(s, "tools")}
		if capable(s, "thinking") {
			can["reasoning"] = object{"allowed_options": []string{"off", "on"}, "default": "on"}
		}
		write(w, object{"models": []any{
			object{"type": "embedding", "key": "text-embedding-x", "loaded_instances": []any{}, "max_context_length": 2048},
			object{
				"type": "llm", "publisher": "someone", "key": s.Model.Name, "display_name": "Someone's", "architecture": s.Model.Architecture,
				"quantization": object{"name": "Q4_K_M", "bits_per_weight": 4}, "size_bytes": s.Model.Size, "params_string": nil,
				"loaded_instances": loaded, "max_context_length": s.Model.Trained, "format": "gguf", "capabilities": can, "description": nil,
			},
		}})
	})
	mux.HandleFunc("POST /api/v1/models/load", func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Window int `json:"context_length"`
		}
		json.NewDecoder(r.Body).Decode(&in)
		lock.Lock()
		defer lock.Unlock()
		window = in.Window
		write(w, object{"type": "llm", "instance_id": s.Model.Name, "status": "loaded", "load_config": object{"context_length": window}})
	})
	mux.Handle("POST /v1/chat/completions", answer)
	return mux
}

// serveV0 is LM Studio before it.
func serveV0(s localtest.State, answer http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/", unknown)
	mux.HandleFunc("GET /api/v0/models", func(w http.ResponseWriter, r *http.Request) {
		m := object{
			"id": s.Model.Name, "object": "model", "type": "llm", "publisher": "someone", "arch": s.Model.Architecture,
			"compatibility_type": "gguf", "quantization": "Q4_K_M", "state": "not-loaded", "max_context_length": s.Model.Trained,
		}
		if capable(s, "tools") {
			m["capabilities"] = []string{"tool_use"}
		}
		if s.Window > 0 {
			m["state"], m["loaded_context_length"] = "loaded", s.Window
		}
		write(w, object{"object": "list", "data": []any{object{"id": "text-embedding-x", "type": "embeddings", "state": "not-loaded"}, m}})
	})
	mux.Handle("POST /v1/chat/completions", answer)
	return mux
}

func chunk(delta, finish string) string {
	return `data: {"choices":[{"delta":` + delta + `,"finish_reason":` + finish + "}]}\n\n"
}

var wire = localtest.Wire{
	New: func(base string, first, idle time.Duration) local.Provider {
		p, err := New(base, Options{First: first, Idle: idle})
		if err != nil {
			panic(err)
		}
		return p
	},
	Type:     "text/event-stream",
	Text:     func(s string) string { return chunk(`{"content":`+quote(s)+`}`, "null") },
	Thinking: func(s string) string { return chunk(`{"reasoning_content":`+quote(s)+`}`, "null") },
	Calls: func(calls ...chat.Call) string {
		text := ""
		for i, c := range calls {
			id := ""
			if c.ID != "" {
				id = `"id":` + quote(c.ID) + ","
			}
			text += chunk(fmt.Sprintf(`{"tool_calls":[{%s"index":%d,"type":"function","function":{"name":%s,"arguments":""}}]}`, id, i, quote(c.Name)), "null")
			text += chunk(fmt.Sprintf(`{"tool_calls":[{"index":%d,"function":{"arguments":%s}}]}`, i, quote(string(c.Args))), "null")
		}
		return text
	},
	End: func(f chat.Finish, input, output int) string {
		return chunk(`{}`, quote(string(f))) + fmt.Sprintf(`data: {"choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}}`, input, output, input+output) +
			"\n\ndata: [DONE]\n\n"
	},
	Fault: func(text string) string {
		return "event: error\ndata: {\"error\":{\"message\":" + quote(text) + "}}\n\n"
	},
	Refusal: func(text string) string { return `{"error":` + quote(text) + `}` },
	Overflow: func(prompt, window int) string {
		return fmt.Sprintf(`{"error":"Trying to keep the first %d tokens when the context overflows. However, the model is loaded with a context length of only %d tokens, which is not enough."}`, prompt, window)
	},
	Missing: func(model string) string {
		return `{"error":{"message":` + quote(`model "`+model+`" not found`) + `,"type":"invalid_request_error","code":"model_not_found"}}`
	},
}

func TestNewTakesAddresses(t *testing.T) {
	for base, want := range map[string]string{
		"http://127.0.0.1:1234": "http://127.0.0.1:1234", "http://127.0.0.1:1234/v1/": "http://127.0.0.1:1234",
		"https://box.lan/lm/v1": "https://box.lan/lm", " http://[::1]:1234 ": "http://[::1]:1234",
	} {
		if p, err := New(base, Options{}); err != nil || p.Address() != want {
			t.Errorf("%s: %v, %v", base, p, err)
		}
	}
	for _, bad := range []string{"", "127.0.0.1:1234", "ftp://x", "http://"} {
		if _, err := New(bad, Options{}); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestAddress(t *testing.T) {
	for _, test := range []struct {
		places       Addresses
		want, source string
	}{
		{Addresses{}, DefaultAddress, "the default"},
		{Addresses{Configured: "http://box:4321/v1/"}, "http://box:4321", "base_url of the configuration"},
		{Addresses{Configured: "http://box:1", CodexPort: " 4000 "}, "http://127.0.0.1:4000", "CODEX_OSS_PORT"},
		{Addresses{CodexPort: "4000", CodexBaseURL: "localhost:5000/v1"}, "http://localhost:5000", "CODEX_OSS_BASE_URL"},
		{Addresses{CodexBaseURL: "http://a:1", Override: "https://b.lan"}, "https://b.lan", "the command line"},
		{Addresses{Override: "  ", Configured: "http://c:1"}, "http://c:1", "base_url of the configuration"},
	} {
		if base, source, err := Address(test.places); err != nil || base != test.want || source != test.source {
			t.Errorf("%+v: %s by %s, %v", test.places, base, source, err)
		}
	}
	for _, bad := range []Addresses{{CodexPort: "0"}, {CodexPort: "x"}, {CodexPort: "65536"}, {Override: "ftp://x"}, {Configured: "http://"}} {
		if _, _, err := Address(bad); err == nil || !strings.Contains(err.Error(), "read ") {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

func TestGuide(t *testing.T) {
	p := newProvider(t, "http://127.0.0.1:1234", Options{})
	if p.PullCommand("qwen/qwen3@q4") != "lms get qwen/qwen3@q4" || p.PullCommand("a b'c") != `lms get 'a b'\''c'` || p.Wire() != "chat" {
		t.Errorf("%s, %s", p.PullCommand("qwen/qwen3@q4"), p.PullCommand("a b'c"))
	}
	if p.Advise(eraV1.String()) != "" || !strings.Contains(p.Advise(eraV0.String()), "0.4.0") {
		t.Error("advice on versions")
	}
	if got := p.Share("m", 65536); len(got) != 1 || !strings.Contains(got[0], "lms load m --context-length 65536 --parallel 1") {
		t.Errorf("share: %q", got)
	}
}

// record is a server that notes what it is asked.
type record struct {
	http.Handler
	lock  sync.Mutex
	calls []string
}

func (s *record) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.lock.Lock()
	s.calls = append(s.calls, r.Method+" "+r.URL.Path)
	s.lock.Unlock()
	s.Handler.ServeHTTP(w, r)
}

// count is how often a call was made.
func (s *record) count(call string) int {
	s.lock.Lock()
	defer s.lock.Unlock()
	n := 0
	for _, c := range s.calls {
		if c == call {
			n++
		}
	}
	return n
}

// recorded starts a server that notes what it is asked.
func recorded(t *testing.T, h http.Handler) (*record, string) {
	t.Helper()
	r := &record{Handler: h}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	return r, server.URL
}
