package ollama

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"interpreter/local"
	"interpreter/local/chat"
)

func TestEncode(t *testing.T) {
	p := newProvider(t, "http://127.0.0.1:1", Options{Load: map[string]any{"num_gpu": 0}})
	m := &model{provider: p, info: local.ModelInfo{Name: "x:1b", Capabilities: []string{"tools", "thinking"}}, window: 65536}
	got := string(m.encode(chat.Request{
		Messages: []chat.Message{
			{Role: chat.System, Text: "be <brief> & good"},
			{Role: chat.User, Text: "look", Images: []chat.Image{{MIME: "image/png", Data: []byte("png")}}},
			{Role: chat.Assistant, Thinking: "hm", Calls: []chat.Call{
				{ID: "c1", Name: "read", Args: json.RawMessage(`{"b": 1.0, "a":[ 2e3 ]}`)},
				{ID: "c2", Name: "read", Args: json.RawMessage(`{}`), Raw: "{broken"},
				{ID: "c3", Name: "read", Args: json.RawMessage(`"text"`)},
			}},
			{Role: chat.Tool, Result: &chat.Result{CallID: "c1", Name: "read", Text: "a\nb"}},
		},
		Tools:   []chat.Spec{{Name: "read", Description: "Reads > 1.", Parameters: json.RawMessage(`{"type": "object"}`)}},
		Window:  1024,
		Output:  100,
		Effort:  "none",
		Format:  json.RawMessage(`{"type":"object"}`),
		Options: map[string]any{"temperature": 0.7, "num_ctx": 99, "seed": 7},
	}))
	want := `{"model":"x:1b","messages":[{"role":"system","content":"be <brief> & good"},` +
		`{"role":"user","content":"look","images":["cG5n"]},` +
		`{"role":"assistant","content":"","thinking":"hm","tool_calls":[` +
		`{"id":"c1","function":{"index":0,"name":"read","arguments":{"b": 1.0, "a":[ 2e3 ]}}},` +
		`{"id":"c2","function":{"index":1,"name":"read","arguments":{}}},` +
		`{"id":"c3","function":{"index":2,"name":"read","arguments":{}}}]},` +
		`{"role":"tool","content":"a\nb","tool_name":"read","tool_call_id":"c1"}],` +
		`"tools":[{"type":"function","function":{"name":"read","description":"Reads > 1.","parameters":{"type": "object"}}}],` +
		`"think":false,"format":{"type":"object"},` +
		`"options":{"num_ctx":65536,"num_gpu":0,"num_predict":100,"seed":7,"temperature":0.7},` +
		`"keep_alive":"30m","stream":true,"truncate":false,"shift":false}`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if !json.Valid([]byte(got)) {
		t.Error("not valid JSON")
	}
}

// The messages of a request are the first bytes of those of the next, the same request gives the same bytes, and
// nothing of what loads a model differs between the load and a call.
func TestPrefix(t *testing.T) {
	p := newProvider(t, "http://127.0.0.1:1", Options{})
	m := &model{provider: p, info: local.ModelInfo{Name: "x"}, window: 65536}
	req := chat.Request{Options: map[string]any{"z": 1, "a": 2, "m": 3}}
	var before []byte
	for i := range 12 {
		req.Messages = append(req.Messages,
			chat.Message{Role: chat.Assistant, Calls: []chat.Call{{ID: fmt.Sprint("c", i), Name: "run", Args: json.RawMessage(`{"n": ` + fmt.Sprint(i) + `}`)}}},
			chat.Message{Role: chat.Tool, Result: &chat.Result{CallID: fmt.Sprint("c", i), Name: "run", Text: "<ok>"}})
		body := m.encode(req)
		if !bytes.Equal(body, m.encode(req)) {
			t.Fatal("the same request gave other bytes")
		}
		var split struct{ Messages json.RawMessage }
		if err := json.Unmarshal(body, &split); err != nil {
			t.Fatal(err)
		}
		now := bytes.TrimSuffix(split.Messages, []byte("]"))
		if !bytes.HasPrefix(now, before) {
			t.Fatalf("request %d rewrote its beginning", i)
		}
		before = now
	}
	load := string(m.encode(chat.Request{}))
	if want := `{"model":"x","messages":[],"options":{"num_ctx":65536},"keep_alive":"30m","stream":true,"truncate":false,"shift":false}`; load != want {
		t.Errorf("load: got %s", load)
	}
}

// The levels of thinking are told to a model whose template writes them, whatever its architecture is called.
func TestEffort(t *testing.T) {
	const levels = "Reasoning: {{ .ThinkLevel }}"
	for _, test := range []struct {
		template     string
		capabilities []string
		effort       string
		want         any
	}{
		{"{{ .Prompt }}", []string{"thinking"}, "", nil},
		{"{{ .Prompt }}", []string{"thinking"}, "none", false},
		{"{{ .Prompt }}", []string{"thinking"}, "high", true},
		{"{{ .Prompt }}", []string{"tools"}, "high", nil},
		{"{{ .Prompt }}", []string{"tools"}, "none", nil},
		{levels, []string{"thinking"}, "none", "low"},
		{levels, []string{"thinking"}, "medium", "medium"},
		{levels, []string{"thinking"}, "xhigh", "high"},
		{levels, []string{"thinking"}, "", nil},
		{levels, []string{"tools"}, "high", nil},
		{"{% if reasoning_effort is defined %}", []string{"thinking"}, "minimal", "low"},
		{"", []string{"thinking"}, "low", true},
	} {
		got := effort(local.ModelInfo{Architecture: "gptoss", Template: test.template, Capabilities: test.capabilities}, test.effort)
		if got != test.want {
			t.Errorf("%+v: got %v", test, got)
		}
	}
}

func TestAddress(t *testing.T) {
	for _, test := range []struct {
		in           Addresses
		want, source string
	}{
		{Addresses{}, "http://127.0.0.1:11434", "the default"},
		{Addresses{OllamaHost: "0.0.0.0"}, "http://127.0.0.1:11434", "OLLAMA_HOST"},
		{Addresses{OllamaHost: "0.0.0.0:8000"}, "http://127.0.0.1:8000", "OLLAMA_HOST"},
		{Addresses{OllamaHost: ":8000"}, "http://127.0.0.1:8000", "OLLAMA_HOST"},
		{Addresses{OllamaHost: "[::]:8000"}, "http://[::1]:8000", "OLLAMA_HOST"},
		{Addresses{OllamaHost: "::1"}, "http://[::1]:11434", "OLLAMA_HOST"},
		{Addresses{OllamaHost: ` "box" `}, "http://box:11434", "OLLAMA_HOST"},
		{Addresses{OllamaHost: "http://box"}, "http://box:80", "OLLAMA_HOST"},
		{Addresses{OllamaHost: "https://box"}, "https://box:443", "OLLAMA_HOST"},
		{Addresses{OllamaHost: "https://box:99999"}, "https://box:443", "OLLAMA_HOST"},
		{Addresses{OllamaHost: "box:port"}, "http://box:11434", "OLLAMA_HOST"},
		{Addresses{OllamaHost: "ollama.com"}, "https://ollama.com:443", "OLLAMA_HOST"},
		{Addresses{OllamaHost: "http://box:1/ollama/"}, "http://box:1/ollama", "OLLAMA_HOST"},
		{Addresses{OllamaHost: "box", Configured: "http://127.0.0.1:9/v1"}, "http://127.0.0.1:9", "base_url of the configuration"},
		{Addresses{Configured: "http://a", CodexPort: "4000"}, "http://127.0.0.1:4000", "CODEX_OSS_PORT"},
		{Addresses{CodexPort: "4000", CodexBaseURL: "http://b:1/v1/"}, "http://b:1", "CODEX_OSS_BASE_URL"},
		{Addresses{CodexBaseURL: "http://b:1", Override: "localhost:7"}, "http://localhost:7", "the command line"},
	} {
		got, source, err := Address(test.in)
		if err != nil || got != test.want || source != test.source {
			t.Errorf("%+v: got %s from %s, %v; want %s", test.in, got, source, err, test.want)
		}
	}
	for _, in := range []Addresses{{CodexPort: "x"}, {CodexPort: "70000"}, {Override: "ftp://a"}, {Configured: "http://"}} {
		if got, _, err := Address(in); err == nil {
			t.Errorf("%+v: got %s, want an error", in, got)
		}
	}
	if p := newProvider(t, "http://127.0.0.1:5/v1/", Options{}); p.Address() != "http://127.0.0.1:5" {
		t.Errorf("/v1 stays in %s", p.Address())
	}
	if _, err := New("127.0.0.1:5", Options{}); err == nil {
		t.Error("an address without a scheme was taken")
	}
}

func TestClassify(t *testing.T) {
	for _, test := range []struct {
		status int
		text   string
		want   chat.Kind
	}{
		{404, `model 'x:1b' not found`, chat.Missing},
		{404, `model \"x\" not found, try pulling it first`, chat.Missing},
		{404, `404 page not found`, chat.Invalid},
		{400, `host.example/library/x:1b does not support tools`, chat.NoTools},
		{400, `"x" does not support thinking`, chat.NoThinking},
		{400, `invalid model name`, chat.Invalid},
		{400, `the input length exceeds the context length`, chat.Overflow},
		{400, `prompt is longer than the context length`, chat.Overflow},
		{403, `Ollama cloud is disabled: remote model details are unavailable`, chat.Remote},
		{403, ``, chat.Denied},
		{401, `unauthorized`, chat.Denied},
		{499, `request canceled`, chat.Server},
		{503, `server busy, please try again. maximum pending requests exceeded`, chat.Busy},
		{500, `model requires more system memory (9.1 GiB) than is available (4.0 GiB)`, chat.Memory},
		{500, `llama runner: CUDA error: out of memory`, chat.Memory},
		{500, `cudaMalloc failed`, chat.Memory},
		{500, `llama runner process has terminated: exit status 2`, chat.Server},
		{500, `no user query found in messages`, chat.Invalid},
		{500, `this model may be incompatible with your version of Ollama`, chat.Invalid},
		{0, `an unknown error was encountered while running the model`, chat.Server},
	} {
		if got := classify(test.status, test.text, "x:1b"); got.Kind != test.want {
			t.Errorf("%d %q: got %s, want %s", test.status, test.text, got.Kind, test.want)
		}
	}
}

func TestOverflowNumbers(t *testing.T) {
	for _, body := range []string{
		`{"error":"Cannot truncate prompt with n_keep (9100) >= n_ctx (4096)"}`,
		`{"error":"{\"error\":{\"code\":400,\"message\":\"request (9100 tokens) exceeds the available context size (4096 tokens), try increasing it\",\"n_prompt_tokens\":9100,\"n_ctx\":4096}}"}`,
		`{"error":{"message":"request (9100 tokens) exceeds the available context size (4096 tokens)"}}`,
		`{"error":"prompt of 9100 tokens is longer than the context length of 4096"}`,
	} {
		e := classify(400, said([]byte(body)), "m")
		if e.Kind != chat.Overflow || e.Prompt != 9100 || e.Window != 4096 || !strings.Contains(e.Remedy, "9100") {
			t.Errorf("%s: got %+v", body, e)
		}
	}
	if e := classify(400, "the input length exceeds the context length", "m"); e.Kind != chat.Overflow || e.Prompt != 0 || e.Remedy == "" {
		t.Errorf("got %+v", e)
	}
}

func TestAdvise(t *testing.T) {
	p := newProvider(t, "http://127.0.0.1:1", Options{})
	for version, want := range map[string]string{
		"0.12.3": "cuts long prompts", "0.9.6": "cuts long prompts", "0.12.4": "order of arguments", "0.15.5": "order of arguments", "0.15.6": "0.15.6 cannot be told to keep its cloud", "0.16.1": "cloud models off", "0.16.2": "nested arguments", "0.24.0": "", "0.0.0": "",
		"0.33.0-rc2": "", "1.0": "", "odd": "",
	} {
		if got := p.Advise(version); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: got %q, want %q", version, got, want)
		}
	}
}

func TestNumCtx(t *testing.T) {
	for text, want := range map[string]int{
		"num_ctx                        16384\nstop \"x\"": 16384, "stop \"num_ctx 5 6\"": 0, "": 0, "temperature 1\nnum_ctx 8192": 8192,
	} {
		if got := numCtx(text); got != want {
			t.Errorf("%q: got %d, want %d", text, got, want)
		}
	}
}

// A chunk that ran elsewhere ends the answer at once, whatever follows.
func TestRemoteChunk(t *testing.T) {
	d := newDecoder("m", nil)
	body := `{"message":{"content":"a"},"done":false,"remote_host":"https://cloud.example","remote_model":"big"}` + "\n" + wire.End(chat.Stopped, 1, 1)
	err := d.read(strings.NewReader(body), func(d chat.Delta) bool { t.Errorf("heard %+v", d); return true })
	var failure *chat.Error
	if !errors.As(err, &failure) || failure.Kind != chat.Remote || failure.Retryable() || !strings.Contains(failure.Error(), "cloud.example") {
		t.Errorf("got %v", err)
	}
}

func TestArguments(t *testing.T) {
	for _, test := range []struct{ in, args, raw string }{
		{`{"b":1,"a":2}`, `{"b":1,"a":2}`, ""},
		{`"{\"a\":1}"`, `{"a":1}`, ""},
		{`"not json"`, `{}`, "not json"},
		{`null`, `{}`, ""}, {``, `{}`, ""}, {`""`, `{}`, ""},
		{`[1]`, `{}`, "[1]"},
	} {
		args, raw := arguments(json.RawMessage(test.in))
		if string(args) != test.args || raw != test.raw {
			t.Errorf("%s: got %s, %q", test.in, args, raw)
		}
	}
}

// A call that the last chunk repeats is one call; two calls alike without ids are two.
func TestRepeatedCall(t *testing.T) {
	call := chat.Call{ID: "k1", Name: "a", Args: []byte(`{"n":1}`)}
	bare := chat.Call{Name: "a", Args: []byte(`{"n":1}`)}
	var ids []string
	d := newDecoder("m", nil)
	body := wire.Calls(call) + wire.Calls(call, bare, bare) + wire.End(chat.Stopped, 1, 1)
	if err := d.read(strings.NewReader(body), func(d chat.Delta) bool {
		if d.Call != nil {
			ids = append(ids, d.Call.ID)
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(ids, " "); got != "k1 call_1 call_2" {
		t.Errorf("got %s", got)
	}
}

// Counts per layer come by a second, verbose request, once for each digest.
func TestMeasure(t *testing.T) {
	verbose := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Verbose bool }
		json.NewDecoder(r.Body).Decode(&in)
		heads := "null"
		if in.Verbose {
			verbose++
			heads = "[0,2,0,2]"
		}
		fmt.Fprintf(w, `{"model_info":{"general.architecture":"lfm2","lfm2.block_count":4,"lfm2.attention.head_count":8,`+
			`"lfm2.embedding_length":512,"lfm2.shortconv.l_cache":3,"lfm2.attention.head_count_kv":%s},"capabilities":["tools"]}`, heads)
	}))
	defer server.Close()
	p := newProvider(t, server.URL, Options{})
	info, err := p.Show(t.Context(), "lfm2:1b")
	if err != nil || !info.Geometry.Partial || info.Geometry.Known() {
		t.Fatalf("got %+v, %v", info.Geometry, err)
	}
	info.Digest = "d1"
	for range 2 {
		if info, err = p.Measure(t.Context(), info); err != nil || !info.Geometry.Known() {
			t.Fatalf("got %+v, %v", info.Geometry, err)
		}
	}
	if verbose != 1 {
		t.Errorf("%d verbose requests", verbose)
	}
	if got, want := info.Geometry.Cache(1024, ""), int64(2*1024*2*(64+64)*2+2*4*512*2); got != want {
		t.Errorf("cache %d, want %d", got, want)
	}
}

// What the tensors weigh is known to the byte: experts, and embeddings apart from the output, which stay in main memory.
func TestShowWeighs(t *testing.T) {
	for _, test := range []struct {
		name, tensors  string
		experts, onCPU int64
	}{
		{"a mixture", `{"name":"token_embd.weight","type":"Q4_K","shape":[256,1000]},{"name":"output.weight","type":"Q6_K","shape":[256,1000]},
			{"name":"blk.0.ffn_up_exps.weight","type":"MXFP4","shape":[64,32,8]},{"name":"blk.0.ffn_up_shexp.weight","type":"F16","shape":[64,32]}`, 8 * 64 * 17, 1000 * 144},
		{"embeddings that are the output too", `{"name":"token_embd.weight","type":"F16","shape":[256,1000]}`, 0, 0},
		{"a type that nobody knows", `{"name":"token_embd.weight","type":"Q4_K","shape":[256,1000]},{"name":"output.weight","type":"Q6_K","shape":[256,1000]},
			{"name":"blk.0.ffn_up_exps.weight","type":"unknown","shape":[64,32,8]}`, 0, 0},
		{"none listed", ``, 0, 0},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, `{"model_info":{"general.architecture":"m","m.block_count":1,"m.attention.head_count":8,"m.embedding_length":256,"m.expert_count":8},"tensors":[%s]}`, test.tensors)
		}))
		info, err := newProvider(t, server.URL, Options{}).Show(t.Context(), "m")
		if g := info.Geometry; err != nil || g.ExpertBytes != test.experts || g.OnCPU != test.onCPU {
			t.Errorf("%s: %d bytes of experts and %d of embeddings, %v", test.name, g.ExpertBytes, g.OnCPU, err)
		}
		server.Close()
	}
}

// The format of a model's files is told by the list and by what is shown of a model.
func TestFormats(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/tags" {
			fmt.Fprint(w, `{"models":[{"name":"a","details":{"format":"gguf"}},{"name":"b","details":{"format":"Safetensors"}},{"name":"c"}]}`)
			return
		}
		fmt.Fprint(w, `{"details":{"format":"safetensors"},"model_info":{"general.architecture":"m"}}`)
	}))
	defer server.Close()
	p := newProvider(t, server.URL, Options{})
	list, err := p.Models(t.Context())
	if err != nil || len(list) != 3 || list[0].Format != "gguf" || list[1].Format != "safetensors" || list[2].Format != "" {
		t.Errorf("got %+v, %v", list, err)
	}
	if m, err := p.Show(t.Context(), "b"); err != nil || m.Format != "safetensors" {
		t.Errorf("got %+v, %v", m, err)
	}
	if m, err := local.Whole(t.Context(), p, local.ModelInfo{Name: "b"}); err != nil || m.Format != "safetensors" {
		t.Errorf("got %+v, %v", m, err)
	}
}

// The list is asked for once more when the server is not ready with it.
func TestModelsAgain(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/tags" { // somebody else's, who takes us for another server
			http.NotFound(w, r)
			return
		}
		if asked++; asked == 1 {
			http.Error(w, `{"error":"not ready"}`, 500)
			return
		}
		fmt.Fprint(w, `{"models":[{"name":"big:cloud","remote_host":"https://cloud.example","size":300}]}`)
	}))
	defer server.Close()
	p := newProvider(t, server.URL, Options{})
	list, err := p.Models(t.Context())
	if err != nil || asked != 2 || len(list) != 1 || list[0].RemoteHost == "" {
		t.Errorf("got %+v, %v after %d", list, err, asked)
	}
}

// An overflow in words without numbers names at least the window.
func TestOverflowWindow(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, `{"error":"the input length exceeds the context length"}`, 400)
	}))
	defer server.Close()
	m := &model{provider: newProvider(t, server.URL, Options{}), window: 8192}
	for _, err := range m.Stream(t.Context(), chat.Request{}) {
		var failure *chat.Error
		if !errors.As(err, &failure) || failure.Kind != chat.Overflow || failure.Window != 8192 || !strings.Contains(err.Error(), "8192") {
			t.Errorf("got %v", err)
		}
	}
}

// Another program at the address is named as such.
func TestStranger(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "<html>") }))
	defer server.Close()
	_, err := newProvider(t, server.URL, Options{}).Version(t.Context())
	var failure *chat.Error
	if !errors.As(err, &failure) || failure.Kind != chat.Invalid || failure.Remedy == "" {
		t.Errorf("got %v", err)
	}
}

// What a gate before the server wants goes with every request, and into no message of ours.
func TestHeaderAndQuery(t *testing.T) {
	var seen []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Method+" "+r.URL.String()+" "+r.Header.Get("Authorization")+" "+r.Header.Get("Content-Type"))
		io.WriteString(w, `{"version":"0.30.0","message":{},"done":true,"done_reason":"load"}`)
	}))
	o := Options{Header: http.Header{"Authorization": {"Bearer k3y"}}, Query: url.Values{"team": {"s3cret"}}}
	p := newProvider(t, server.URL+"/v1", o)
	if _, err := p.Version(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Load(t.Context(), local.ModelInfo{Name: "m"}, local.Loading{Window: 4096}); err != nil {
		t.Fatal(err)
	}
	want := []string{"GET /api/version?team=s3cret Bearer k3y ", "POST /api/chat?team=s3cret Bearer k3y application/json"}
	if !slices.Equal(seen, want) {
		t.Errorf("got %q, want %q", seen, want)
	}
	server.Close()
	if _, err := p.Version(t.Context()); err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("got %v, want an error without the query", err)
	}
}
