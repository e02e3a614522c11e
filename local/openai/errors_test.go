package openai

import (
	"context"
	"encoding/json"
	"errors"
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

func TestErrors(t *testing.T) {
	for _, test := range []struct {
		name           string
		status         int
		body           string
		kind           chat.Kind
		prompt, window int
		words, remedy  string
	}{
		{"llama.cpp's overflow", 400, `{"error":{"code":400,"message":"the request exceeds the available context size. try increasing the context size or enable context shift","type":"exceed_context_size_error","n_prompt_tokens":70123,"n_ctx":65536}}`, chat.Overflow, 70123, 65536, "70123", "70123"},
		{"llama.cpp's, in words", 400, `{"error":{"code":400,"message":"request (9001 tokens) exceeds the available context size (8192 tokens), try increasing it"}}`, chat.Overflow, 9001, 8192, "", ""},
		{"llama.cpp's, old", 500, `{"error":{"code":500,"message":"context size exceeded","type":"server_error"}}`, chat.Overflow, 0, 65536, "", ""},
		{"LM Studio's overflow", 400, `{"error":"Trying to keep the first 15028 tokens when context the overflows. However, the model is loaded with context length of only 7424 tokens, which is not enough."}`, chat.Overflow, 15028, 7424, "", ""},
		{"LM Studio's other one", 400, `{"error":"Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)"}`, chat.Overflow, 15028, 7424, "", ""},
		{"the practice server's", 400, `{"error":"cannot keep the first 9000 tokens of the prompt: the model was loaded with a context of only 4096 tokens"}`, chat.Overflow, 9000, 4096, "", ""},
		{"vLLM's overflow", 400, `{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens in the messages, Please reduce the length of the messages.","type":"BadRequestError","param":null,"code":400}`, chat.Overflow, 5000, 4096, "", ""},
		{"vLLM's, with an answer", 400, `{"error":{"message":"This model's maximum context length is 4096 tokens. However, you requested 6000 tokens (5000 in the messages, 1000 in the completion). Please reduce the length of the messages or completion.","type":"BadRequestError","code":400}}`, chat.Overflow, 5000, 4096, "", ""},
		{"vLLM's, the answer too long", 400, `{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5012 tokens (12 in the messages, 5000 in the completion)."}`, chat.Overflow, 5012, 4096, "", ""},
		{"vLLM's newest", 400, `{"error":{"message":"You passed 40961 input tokens and requested 0 output tokens. However, the model's context length is only 32768 tokens, resulting in a maximum input length of 32768 tokens.","type":"BadRequestError","code":400}}`, chat.Overflow, 40961, 32768, "", ""},
		{"vLLM's decoder", 400, `{"error":{"message":"The decoder prompt (length 5000) is longer than the maximum model length of 4096. Make sure that max_model_len is no smaller","code":400}}`, chat.Overflow, 5000, 4096, "", ""},
		{"SGLang's", 400, `{"object":"error","message":"The input (5,000 tokens) is longer than the model's context length (4,096 tokens).","code":400}`, chat.Overflow, 5000, 4096, "", ""},
		{"SGLang's total", 400, `{"message":"Requested token count exceeds the model's maximum context length of 4096 tokens. You requested a total of 5000 tokens: 4500 tokens from the input messages and 500 tokens for the completion."}`, chat.Overflow, 4500, 4096, "", ""},
		{"by a code", 400, `{"error":{"message":"too much","type":"invalid_request_error","code":"context_length_exceeded","n_ctx":4096}}`, chat.Overflow, 0, 4096, "too much", ""},
		{"no key", 401, `{"error":{"message":"Invalid API Key","type":"authentication_error","code":401}}`, chat.Denied, 0, 0, "", "model_providers.box.env_key"},
		{"a page of a gate", 403, `<html><title>403 Forbidden</title></html>`, chat.Denied, 0, 0, "403 Forbidden", "env_key"},
		{"vLLM's key", 401, `{"error":"Unauthorized"}`, chat.Denied, 0, 0, "", "env_key"},
		{"no such model", 404, "{\"error\":{\"message\":\"The model `m` does not exist.\",\"type\":\"NotFoundError\",\"code\":404}}", chat.Missing, 0, 0, "", "m"},
		{"no such model, 400", 400, `{"error":{"message":"model 'm' not found","type":"invalid_request_error"}}`, chat.Missing, 0, 0, "", "m"},
		{"none loaded", 404, `{"error":{"message":"No models loaded. Please load a model in the developer page","type":"invalid_request_error"}}`, chat.Missing, 0, 0, "", ""},
		{"no such path", 404, `{"detail":"Not Found"}`, chat.Invalid, 0, 0, "Not Found", "check the address"},
		{"no such path, in words", 404, "404 page not found", chat.Invalid, 0, 0, "", "check the address"},
		{"a page", 404, "<!DOCTYPE html><html><head><title>nginx</title></head><body>lots</body></html>", chat.Invalid, 0, 0, "web page", "check the address"},
		{"a page of a gateway", 502, "<html><head><title>502 Bad Gateway</title></head><body>lots</body></html>", chat.Server, 0, 0, "502 Bad Gateway", ""},
		{"loading", 503, `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`, chat.Busy, 0, 0, "Loading model", ""},
		{"loading, 500", 500, `{"error":{"message":"Loading model"}}`, chat.Busy, 0, 0, "", ""},
		{"slow down", 429, `{"error":"slow down"}`, chat.Busy, 0, 0, "slow down", ""},
		{"no tools", 400, `{"error":{"code":500,"message":"tools param requires --jinja flag","type":"server_error"}}`, chat.NoTools, 0, 0, "", "--jinja"},
		{"no tools in vLLM", 400, `{"object":"error","message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set"}`, chat.NoTools, 0, 0, "", "--enable-auto-tool-choice"},
		{"memory", 500, `{"error":{"message":"CUDA error: out of memory"}}`, chat.Memory, 0, 0, "", "free memory"},
		{"crashed", 500, `{"error":"The model has crashed without additional information."}`, chat.Server, 0, 0, "crashed", ""},
		{"FastAPI's list", 422, `{"detail":[{"type":"missing","loc":["body","messages"],"msg":"Field required"}]}`, chat.Invalid, 0, 0, "Field required", ""},
		{"nothing", 400, ``, chat.Invalid, 0, 0, "", ""},
		{"half of JSON", 500, `{"error":`, chat.Server, 0, 0, "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.WriteHeader(test.status)
				io.WriteString(w, test.body)
			}))
			defer server.Close()
			p := newProvider(t, server.URL, Options{Name: "box"})
			_, err := localtest.Collect(t.Context(), p.Chat(local.ModelInfo{Name: "m"}, "m", 65536), localtest.Hello())
			var e *chat.Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v", err)
			}
			if e.Kind != test.kind || e.Prompt != test.prompt || e.Window != test.window || e.Status != test.status || e.Model != "m" {
				t.Errorf("got %+v", e)
			}
			if !strings.Contains(e.Error(), test.words) || !strings.Contains(e.Remedy, test.remedy) || strings.Contains(e.Error(), "lots") {
				t.Errorf("got %q with remedy %q", e, e.Remedy)
			}
			if e.Crash != (test.name == "crashed") {
				t.Errorf("crash %t", e.Crash)
			}
			if test.words == "web page" && !strings.Contains(e.Error(), server.URL) {
				t.Errorf("the address is not named: %v", e)
			}
		})
	}
}

// A key that the server does not know is told from none at all.
func TestKey(t *testing.T) {
	p := play(t, "token open-sesame\nreply\n  say x\n")
	for header, words := range map[string]string{"": "env_key", "Bearer wrong": "not the one this server wants", "Bearer open-sesame": ""} {
		options := Options{Name: "box", Header: http.Header{}}
		if header != "" {
			options.Header.Set("Authorization", header)
		}
		_, err := localtest.Collect(t.Context(), newProvider(t, p.Address(), options).Chat(local.ModelInfo{Name: "m"}, "practice", 0), localtest.Hello())
		var e *chat.Error
		switch errors.As(err, &e); {
		case words == "" && err != nil:
			t.Errorf("%q: %v", header, err)
		case words != "" && (e == nil || e.Kind != chat.Denied || !strings.Contains(e.Remedy, words)):
			t.Errorf("%q: got %+v", header, e)
		}
	}
}

func TestRedirect(t *testing.T) {
	asked := 0
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer elsewhere.Close()
	server := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	defer server.Close()
	_, err := newProvider(t, server.URL, Options{}).Version(t.Context())
	var e *chat.Error
	if !errors.As(err, &e) || e.Kind != chat.Invalid || !strings.Contains(e.Error(), elsewhere.URL) || asked > 0 {
		t.Errorf("got %v, %d requests elsewhere", err, asked)
	}
}

// What a server refuses in the form of a request is written otherwise from then on, and nothing is asked twice for
// anything else.
func TestAdapt(t *testing.T) {
	request := chat.Request{
		Messages: session, Tools: tools, Effort: "low", Format: json.RawMessage(`{"type":"object"}`),
		Options: map[string]any{"temperature": 0, "min_p": 0.1}, Extra: map[string]any{"chat_template_kwargs": map[string]any{"preserve_thinking": true}, "thinking": true, "prompt_cache_key": "k"},
	}
	gone := func(words ...string) func(string) bool {
		return func(body string) bool {
			for _, w := range words {
				if strings.Contains(body, w) {
					return false
				}
			}
			return true
		}
	}
	for _, test := range []struct {
		name     string
		status   int
		refusal  string
		good     func(body string) bool
		requests int // of the first stream
	}{
		{"an unknown member", 400, `{"error":{"message":"Unrecognized request argument supplied: min_p"}}`, gone(`"min_p"`), 2},
		{"FastAPI's", 422, `{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}`, gone(`"stream_options"`), 2},
		{"an effort that is not known", 400, `{"error":{"message":"Input should be 'low', 'medium' or 'high' for reasoning_effort"}}`, gone(`"reasoning_effort"`), 2},
		{"no thinking", 400, `{"error":{"message":"\"m\" does not support thinking"}}`, gone(`"reasoning_effort"`), 2},
		{"thinking in messages", 400, `{"error":{"message":"messages.3: unknown field reasoning_content"}}`, gone(`"reasoning_content"`), 2},
		{"a schema beside tools", 400, `{"error":{"message":"Cannot use custom grammar constraints with tools."}}`, gone(`"response_format"`), 2},
		{"strict", 400, `{"error":{"message":"response_format.json_schema.strict: unknown field"}}`, gone(`"strict"`), 2},
		{"several calls at once", 400, `{"error":{"message":"parallel_tool_calls is not supported by this model"}}`, gone(`"parallel_tool_calls"`), 2},
		{"the template's settings", 400, `{"error":{"message":"json: unknown field \"chat_template_kwargs\""}}`, gone(`"chat_template_kwargs"`), 2},
		{"a switch of another family", 422, `{"error":{"message":"[{'loc': ('body', 'thinking'), 'msg': 'Extra inputs are not permitted'}]"}}`, gone(`"thinking"`), 2},
		{"a key of a cache", 400, `{"error":{"message":"Unknown parameter: 'prompt_cache_key'."}}`, gone(`"prompt_cache_key"`), 2},
		{"arguments of a call before", 500, `{"error":{"code":500,"message":"Failed to parse tool call arguments as JSON: [json.exception.parse_error.101] parse error","type":"server_error"}}`, gone(`1.0,  `), 2},
		{"arguments, in other words", 400, `{"error":{"message":"messages[3].tool_calls[0].function.arguments: must be valid JSON"}}`, gone(`1.0,  `), 2},
		{"turns", 500, `{"error":{"message":"Jinja Exception: After the optional system message, conversation roles must alternate user/assistant/user/assistant/..."}}`, func(body string) bool { return strings.Contains(body, filler) }, 2},
		{"no system role", 400, `{"error":{"message":"System role not supported"}}`, gone(`"role":"system"`), 2},
		{"ids", 400, `{"error":{"message":"Tool call IDs should be alphanumeric strings with length 9!"}}`, gone(`"id":"x"`), 2},
		{"another thing", 400, `{"error":{"message":"this is not allowed here"}}`, func(string) bool { return false }, 1},
		{"what cannot be left out", 400, `{"error":{"message":"stream is not supported"}}`, func(string) bool { return false }, 1},
		{"an overflow", 400, `{"error":{"message":"the request exceeds the available context size, stream_options is unknown"}}`, func(string) bool { return false }, 1},
		{"a refusal that stays", 400, `{"error":{"message":"min_p is not supported"}}`, func(string) bool { return false }, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			var bodies []string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				bodies = append(bodies, string(body))
				if !test.good(string(body)) {
					w.WriteHeader(test.status)
					io.WriteString(w, test.refusal)
					return
				}
				io.WriteString(w, wire.Text("ok")+wire.End(chat.Stopped, 1, 1))
			}))
			defer server.Close()
			m := newProvider(t, server.URL, Options{}).Chat(local.ModelInfo{Name: "m"}, "m", 65536)
			got, err := localtest.Collect(t.Context(), m, request)
			if len(bodies) != test.requests || (got.Text == "ok") != (test.requests == 2 && test.name != "a refusal that stays") {
				t.Fatalf("%d requests, got %+v, %v", len(bodies), got, err)
			}
			localtest.Collect(t.Context(), m, request)
			if len(bodies) != test.requests+1 {
				t.Errorf("the form was not kept: %d requests", len(bodies))
			}
		})
	}
}

// A server whose own parser falls over what its model wrote is asked for another answer, with the same prompt.
func TestUnreadAnswer(t *testing.T) {
	for _, set := range []any{nil, 7} {
		var bodies []string
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			if bodies = append(bodies, string(body)); len(bodies) < 3 {
				w.WriteHeader(500)
				io.WriteString(w, `{"error":{"code":500,"message":"Failed to parse input at pos 17: <tool_call>{","type":"server_error"}}`)
				return
			}
			io.WriteString(w, wire.Text("ok")+wire.End(chat.Stopped, 1, 1))
		}))
		defer server.Close()
		m := newProvider(t, server.URL, Options{}).Chat(local.ModelInfo{Name: "m"}, "m", 65536)
		m = local.Retry(m, local.Patience{Sleep: func(context.Context, time.Duration) error { return nil }})
		got, err := localtest.Collect(t.Context(), m, chat.Request{Messages: session, Tools: tools, Options: map[string]any{"seed": set}})
		if err != nil || got.Text != "ok" || len(bodies) != 3 {
			t.Fatalf("%d requests, %+v, %v", len(bodies), got, err)
		}
		prompts, seeds := map[string]bool{}, map[string]bool{}
		for _, body := range bodies {
			prompt, rest, _ := strings.Cut(body, `,"parallel_tool_calls"`)
			prompts[prompt], seeds[rest] = true, true
		}
		if len(prompts) != 1 || len(seeds) != 3 {
			t.Errorf("%d prompts, %d sets of members: %v", len(prompts), len(seeds), seeds)
		}
	}
}

// A person is told when what the model wrote can no longer go back as it is, and only then.
func TestPlainArguments(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked++; asked == 1 {
			w.WriteHeader(500)
			io.WriteString(w, `{"error":{"message":"cannot parse tool call arguments"}}`)
			return
		}
		io.WriteString(w, wire.End(chat.Stopped, 1, 1))
	}))
	defer server.Close()
	m := newProvider(t, server.URL, Options{}).Chat(local.ModelInfo{Name: "m"}, "m", 65536)
	for turn, want := range []int{1, 0} {
		notices := 0
		for d, err := range m.Stream(t.Context(), chat.Request{Messages: session}) {
			if err != nil {
				t.Fatal(err)
			}
			if d.Notice != "" {
				notices++
			}
		}
		if notices != want {
			t.Errorf("turn %d: %d notices", turn, notices)
		}
	}
	for in, want := range map[string]string{
		`{ "b":[1.0, {"x":"\ud83d"}],"a":1e999,"b2":12345678901234567890}`: `{"a":"1e999","b":[1.0,{"x":"�"}],"b2":12345678901234567890}`,
		`{"a":1,"a":2}`: `{"a":2}`, `[1]`: `{}`, ``: `{}`, `{"a":"<b>"}`: `{"a":"<b>"}`,
	} {
		if got := string(local.PlainObject([]byte(in))); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}
