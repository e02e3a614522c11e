package lmstudio

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"interpreter/local/chat"
)

// fixed answers paths with bodies; the rest is answered by other.
func fixed(bodies map[string]string, other http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if body, ok := bodies[r.Method+" "+r.URL.Path]; ok {
			io.WriteString(w, body)
			return
		}
		other(w, r)
	})
}

const (
	listV1     = `{"models":[{"type":"llm","key":"a","max_context_length":8,"loaded_instances":[]}]}`
	listV0     = `{"object":"list","data":[{"id":"b","type":"llm","state":"not-loaded","max_context_length":8}]}`
	listOpenAI = `{"object":"list","data":[{"id":"c","object":"model","owned_by":"organization_owner"},{"id":"text-embedding-nomic"}]}`
)

// The newest list that the server has is the one that counts, and a path that it does not know answers 404 or 200.
func TestListFallsBack(t *testing.T) {
	all := map[string]string{"GET /api/v1/models": listV1, "GET /api/v0/models": listV0, "GET /v1/models": listOpenAI}
	without := func(paths ...string) map[string]string {
		left := map[string]string{}
		for path, body := range all {
			left[path] = body
		}
		for _, path := range paths {
			delete(left, path)
		}
		return left
	}
	for _, test := range []struct {
		name   string
		bodies map[string]string
		model  string
		era    era
	}{
		{"v1", all, "a", eraV1},
		{"v0", without("GET /api/v1/models"), "b", eraV0},
		{"neither", without("GET /api/v1/models", "GET /api/v0/models"), "c", eraNone},
	} {
		for way, other := range map[string]http.HandlerFunc{"404": http.NotFound, "200": unknown} {
			t.Run(test.name+" "+way, func(t *testing.T) {
				_, url := recorded(t, fixed(test.bodies, other))
				p := newProvider(t, url, Options{})
				version, err := p.Version(t.Context())
				if err != nil || version != test.era.String() {
					t.Errorf("version %q, %v", version, err)
				}
				models, err := p.Models(t.Context())
				if err != nil || len(models) != 1 || models[0].Name != test.model || models[0].Provider != "lmstudio" {
					t.Errorf("models %+v, %v", models, err)
				}
			})
		}
	}
}

// What answers in another way is not LM Studio, whatever its status.
func TestListOfStrangers(t *testing.T) {
	for name, test := range map[string]struct {
		bodies map[string]string
		other  http.HandlerFunc
		words  string
	}{
		"nothing known":         {nil, http.NotFound, "is not LM Studio"},
		"errors alone":          {nil, unknown, "it says Unexpected endpoint or method. (GET /v1/models)"},
		"a web page":            {map[string]string{"GET /api/v1/models": "<html>", "GET /v1/models": "<html>"}, http.NotFound, "is not LM Studio"},
		"another product":       {map[string]string{"GET /v1/models": `{"object":"list","data":[{"id":"x:latest","object":"model","owned_by":"library"}]}`}, http.NotFound, `owned by "library"`},
		"one that tells more":   {map[string]string{"GET /v1/models": `{"data":[{"id":"x","owned_by":"organization_owner","max_model_len":8}]}`}, http.NotFound, "is not LM Studio"},
		"an empty list":         {map[string]string{"GET /v1/models": `{"object":"list","data":[]}`}, http.NotFound, "is not LM Studio"},
		"a list without keys":   {map[string]string{"GET /api/v1/models": `{"models":[{"name":"x"}]}`}, http.NotFound, "is not LM Studio"},
		"no list under the key": {map[string]string{"GET /api/v1/models": `{"models":"none"}`}, http.NotFound, "is not LM Studio"},
	} {
		t.Run(name, func(t *testing.T) {
			_, url := recorded(t, fixed(test.bodies, test.other))
			_, err := newProvider(t, url, Options{}).Version(t.Context())
			kind, failure := kindOf(t, err)
			if kind != chat.Invalid || !strings.Contains(failure.Error(), test.words) || !strings.Contains(failure.Remedy, url) {
				t.Errorf("got %v with remedy %q", err, failure.Remedy)
			}
		})
	}
	// An LM Studio with nothing on its disk is one all the same.
	_, url := recorded(t, fixed(map[string]string{"GET /v1/models": `{"object":"list","data":[]}`}, unknown))
	if version, err := newProvider(t, url, Options{}).Version(t.Context()); err != nil || version != eraNone.String() {
		t.Errorf("an empty LM Studio: %q, %v", version, err)
	}
}

func TestListWithTrouble(t *testing.T) {
	answer := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(status)
			io.WriteString(w, body)
		}
	}
	for _, test := range []struct {
		status int
		body   string
		kind   chat.Kind
		words  string
	}{
		{401, `{"error":{"message":"no token","type":"invalid_request_error","code":"invalid_api_key"}}`, chat.Denied, "no token"},
		{401, ``, chat.Denied, "401"},
		{503, `{"error":"starting"}`, chat.Busy, "starting"},
		{500, `{"error":"it broke"}`, chat.Server, "it broke"},
	} {
		_, url := recorded(t, answer(test.status, test.body))
		_, err := newProvider(t, url, Options{}).Models(t.Context())
		kind, failure := kindOf(t, err)
		if kind != test.kind || !strings.Contains(err.Error(), test.words) || (kind == chat.Denied) != (failure.Remedy == tokenRemedy) {
			t.Errorf("%d %s: %v with remedy %q", test.status, test.body, err, failure.Remedy)
		}
	}
}

// A token goes with every request, whichever wire it is on.
func TestToken(t *testing.T) {
	_, url := recorded(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer s3cret" || r.Header.Get("X-Gate") != "open" || r.URL.RawQuery != "k=v" {
			w.WriteHeader(401)
			return
		}
		io.WriteString(w, listV1)
	}))
	o := Options{Token: "s3cret", Header: http.Header{"X-Gate": {"open"}}, Query: map[string][]string{"k": {"v"}}}
	if _, err := newProvider(t, url, o).Models(t.Context()); err != nil {
		t.Error(err)
	}
	if o.Header.Get("Authorization") != "" {
		t.Error("the caller's header was written to")
	}
}

// Everything that may be null or absent, and what the list says of a model.
func TestDecodeV1(t *testing.T) {
	entries, ok := decodeV1([]byte(`{"models":[
		{"type":"llm","publisher":"p","key":"full","display_name":"F","architecture":"qwen3moe","quantization":{"name":"Q4_K_M","bits_per_weight":4.5},
		 "size_bytes":19000000000,"params_string":"30B-A3B","max_context_length":262144,"format":"gguf","description":"d",
		 "loaded_instances":[{"id":"full","config":{"context_length":4096,"parallel":4,"flash_attention":true}},{"id":"full:2","config":{"context_length":65536}},{"config":{}}],
		 "capabilities":{"vision":true,"trained_for_tool_use":true,"reasoning":{"allowed_options":["off","On","high"],"default":"on"}},
		 "variants":["full@q4_k_m","full@q8_0"],"selected_variant":"full@q4_k_m"},
		{"type":"llm","key":"bare","architecture":null,"quantization":null,"params_string":null,"format":null,"description":null,"loaded_instances":null,"capabilities":{}},
		{"type":"llm","key":"unsaid","quantization":{"name":null,"bits_per_weight":null},"size_bytes":"many","max_context_length":-1},
		{"type":"llm","key":"odd","quantization":"Q8_0","size_bytes":1e30,"max_context_length":1e300,"loaded_instances":{"id":"x"},"capabilities":[],"variants":"none"},
		{"type":"embedding","key":"e","max_context_length":2048},
		{"type":"llm"}, null, 7, "text"
	]}`))
	if !ok || len(entries) != 4 {
		t.Fatalf("%v %+v", ok, entries)
	}
	want := entry{
		key: "full", variants: []string{"full@q4_k_m", "full@q8_0"}, selected: "full@q4_k_m", arch: "qwen3moe", quant: "Q4_K_M", params: "30B-A3B",
		format: "gguf", size: 19000000000, trained: 262144, declares: true, tools: true, vision: true, efforts: []string{"off", "on", "high"},
		instances: []instance{{"full", 4096, 4}, {"full:2", 65536, 0}},
	}
	if !reflect.DeepEqual(entries[0], want) {
		t.Errorf("got  %+v\nwant %+v", entries[0], want)
	}
	if got := entries[0].info("lmstudio").Format + entries[1].info("lmstudio").Format; got != "gguf" {
		t.Errorf("formats %q", got)
	}
	if got := entries[0].info("lmstudio").Capabilities; strings.Join(got, " ") != "completion tools thinking vision" {
		t.Errorf("capabilities %q", got)
	}
	if got := entries[1].info("lmstudio").Capabilities; strings.Join(got, " ") != "completion" || !entries[1].blunt {
		t.Errorf("a model that can nothing: %q", got)
	}
	for _, e := range entries[2:] {
		if e.size != 0 || e.trained != 0 || e.info("lmstudio").Capabilities != nil || len(e.instances) != 0 || e.blunt {
			t.Errorf("%+v", e)
		}
	}
	if entries[3].quant != "Q8_0" {
		t.Errorf("%+v", entries[3])
	}
}

func TestDecodeV0(t *testing.T) {
	entries, ok := decodeV0([]byte(`{"data":[
		{"id":"a","object":"model","type":"vlm","publisher":"p","arch":"gemma3","compatibility_type":"mlx","quantization":"4bit","state":"loaded","max_context_length":131072,"loaded_context_length":8192,"capabilities":["tool_use"]},
		{"id":"a:2","type":"vlm","state":"loaded","max_context_length":131072,"loaded_context_length":65536},
		{"id":"b","type":"llm","state":"loaded","max_context_length":4096},
		{"id":"c:2","type":"llm","state":"not-loaded"},
		{"id":"text-embedding","type":"embeddings","state":"not-loaded"}
	]}`))
	if !ok || len(entries) != 3 {
		t.Fatalf("%v %+v", ok, entries)
	}
	if got := entries[0].info("lmstudio").Format; got != "mlx" {
		t.Errorf("format %q", got)
	}
	want := entry{
		key: "a", arch: "gemma3", quant: "4bit", format: "mlx", trained: 131072, declares: true, tools: true, vision: true,
		instances: []instance{{"a", 8192, 0}, {"a:2", 65536, 0}},
	}
	if !reflect.DeepEqual(entries[0], want) {
		t.Errorf("got  %+v\nwant %+v", entries[0], want)
	}
	if entries[1].info("").Capabilities != nil || entries[1].instances[0].window != 0 || entries[2].key != "c:2" {
		t.Errorf("%+v", entries[1:])
	}
	if _, ok := decodeV0([]byte(listOpenAI)); ok {
		t.Error("a list without states was taken for the older one")
	}
}

// What the server has loaded is the window; what the model could have is none.
func TestContextCases(t *testing.T) {
	files, _ := filepath.Glob("testdata/context/*.expected.json")
	if len(files) != 2 {
		t.Fatalf("%d cases", len(files))
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			var want struct {
				Window *int `json:"context_window"`
				Most   int  `json:"upper_bound"`
			}
			var given map[string]json.RawMessage
			for path, into := range map[string]any{file: &want, strings.Replace(file, ".expected", "", 1): &given} {
				data, err := os.ReadFile(path)
				if err != nil || json.Unmarshal(data, into) != nil {
					t.Fatalf("%s: %v", path, err)
				}
			}
			bodies := map[string]string{}
			for path, body := range given {
				bodies[path] = string(body)
			}
			_, url := recorded(t, fixed(bodies, unknown))
			p := newProvider(t, url, Options{})
			loaded, err := p.Loaded(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case want.Window == nil && len(loaded) != 0:
				t.Errorf("a window where none is known: %+v", loaded)
			case want.Window != nil && (len(loaded) != 1 || loaded[0].Window != *want.Window):
				t.Errorf("loaded %+v, want a window of %d", loaded, *want.Window)
			}
			if shown, err := p.Show(t.Context(), "q"); err != nil || want.Most > 0 && shown.Trained != want.Most {
				t.Errorf("shown %+v, %v", shown, err)
			}
		})
	}
}

func TestShowFindsVariantsAndInstances(t *testing.T) {
	_, url := recorded(t, fixed(map[string]string{"GET /api/v1/models": `{"models":[{"type":"llm","key":"o/m","size_bytes":9,"quantization":{"name":"Q4"},
		"variants":["o/m@q4","o/m@q8_0"],"selected_variant":"o/m@q4","loaded_instances":[{"id":"mine","config":{"context_length":8}}]}]}`}, unknown))
	p := newProvider(t, url, Options{})
	for name, want := range map[string]string{"o/m": "o/m Q4 9", "O/M": "o/m Q4 9", "o/m@q4": "o/m Q4 9", "o/m@Q8_0": "o/m@q8_0 Q8_0 0", "mine": "o/m Q4 9"} {
		got, err := p.Show(t.Context(), name)
		if err != nil || fmt.Sprint(got.Name, " ", got.Quantization, " ", got.Size) != want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	_, err := p.Show(t.Context(), "o/n")
	if kind, failure := kindOf(t, err); kind != chat.Missing || failure.Remedy != "lms get o/n" {
		t.Errorf("%v with remedy %q", err, failure.Remedy)
	}
}

func FuzzLists(f *testing.F) {
	for _, seed := range []string{listV1, listV0, listOpenAI, `{"error":"x"}`, `{"models":[{"key":"a:2","loaded_instances":[{"id":"b","config":null}]}]}`, `{"data":[{"id":"a:2","state":"loaded"},{"id":"a"}]}`} {
		f.Add([]byte(seed), "a:2", 65536)
	}
	f.Fuzz(func(t *testing.T, body []byte, name string, window int) {
		v1, _ := decodeV1(body)
		v0, _ := decodeV0(body)
		old, _, _ := decodeOpenAI(body)
		for _, list := range [][]entry{v1, v0, old} {
			have := inventory{entries: list}
			for _, e := range list {
				if e.key == "" || e.size < 0 || e.trained < 0 {
					t.Errorf("%+v", e)
				}
				if i, ok := e.enough(window); ok && (i.id == "" || i.window != 0 && i.window < window) {
					t.Errorf("%d tokens by %+v", window, i)
				}
				if _, ok := have.find(e.key); !ok {
					t.Errorf("%q is not found", e.key)
				}
				e.info("x")
				e.variant(name)
			}
			have.find(name)
		}
		said(body)
		readLink(body)
	})
}
