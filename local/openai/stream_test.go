package openai

import (
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

// lines are events, one a line, of choices that carry these deltas, and an end.
func lines(deltas ...string) string {
	var text strings.Builder
	for _, d := range deltas {
		text.WriteString(chunkOf(d, "null"))
	}
	return text.String() + chunkOf("{}", `"tool_calls"`) + "data: [DONE]\n\n"
}

func call(parts ...string) string { return `{"tool_calls":[` + strings.Join(parts, ",") + `]}` }

// say is deltas in one line: text, thinking, calls, finish.
func say(deltas []chat.Delta) string {
	var text, thinking string
	var rest []string
	for _, d := range deltas {
		text += d.Text
		thinking += d.Thinking
		if d.Call != nil {
			rest = append(rest, fmt.Sprintf("%s%s", d.Call.Name, d.Call.Args))
			if d.Call.Raw != "" {
				rest = append(rest, fmt.Sprintf("raw %s", d.Call.Raw))
			}
		}
		if d.Finish != "" {
			rest = append(rest, string(d.Finish))
		}
	}
	out := rest
	if text != "" {
		out = append([]string{"text " + text}, out...)
	}
	if thinking != "" {
		out = append([]string{"thinking " + thinking}, out...)
	}
	return strings.Join(out, " | ")
}

// streamTests are bodies and what comes of them. The tools that are known are read_file and ls.
var streamTests = []struct{ name, body, want string }{
	{"no number, no id, two in one list", lines(call(`{"function":{"name":"ls","arguments":"{}"}}`, `{"function":{"name":"ls","arguments":"{}"}}`)), "ls{} | ls{} | stop"},
	{"no number, no id, one after the other", lines(call(`{"function":{"name":"ls","arguments":"{\"a\":1}"}}`), call(`{"function":{"name":"ls","arguments":"{\"a\":2}"}}`)), `ls{"a":1} | ls{"a":2} | stop`},
	{"no number, no id, other tool", lines(call(`{"function":{"name":"ls","arguments":""}}`), call(`{"function":{"name":"read_file","arguments":"{}"}}`)), "ls{} | read_file{} | stop"},
	{"the same number, no id", lines(call(`{"index":0,"function":{"name":"ls","arguments":"{\"a\":1}"}}`), call(`{"index":0,"function":{"name":"read_file","arguments":"{}"}}`)), `ls{"a":1} | read_file{} | stop`},
	{"the same number, new id, more of the second", lines(call(`{"index":0,"id":"a","function":{"name":"ls","arguments":"{}"}}`), call(`{"index":0,"id":"b","function":{"name":"ls","arguments":"{\"a\":"}}`), call(`{"index":0,"function":{"arguments":"1}"}}`)), `ls{} | ls{"a":1} | stop`},
	{"woven by number", lines(call(`{"index":0,"id":"a","function":{"name":"ls","arguments":"{\"a\":"}}`), call(`{"index":1,"id":"b","function":{"name":"read_file","arguments":"{\"b\":"}}`), call(`{"index":0,"function":{"arguments":"1}"}}`, `{"index":1,"function":{"arguments":"2}"}}`)), `ls{"a":1} | read_file{"b":2} | stop`},
	{"woven by id", lines(call(`{"id":"a","function":{"name":"ls","arguments":"{\"a\":"}}`), call(`{"id":"b","function":{"name":"read_file","arguments":"{\"b\":"}}`), call(`{"id":"a","function":{"arguments":"1}"}}`), call(`{"id":"b","function":{"arguments":"2}"}}`)), `ls{"a":1} | read_file{"b":2} | stop`},
	{"one id for two numbers", lines(call(`{"index":0,"id":"x","function":{"name":"ls","arguments":"{}"}}`, `{"index":1,"id":"x","function":{"name":"read_file","arguments":"{}"}}`)), "ls{} | read_file{} | stop"},
	{"an id that comes late", lines(call(`{"index":0,"function":{"name":"ls","arguments":"{\"a\":"}}`), call(`{"index":0,"id":"late","function":{"arguments":"1}"}}`)), `ls{"a":1} | stop`},
	{"null id and null number", lines(call(`{"index":null,"id":null,"function":{"name":"ls","arguments":null}}`)), "ls{} | stop"},
	{"a number as a text, an id as a number", lines(call(`{"index":"0","id":7,"function":{"name":"ls","arguments":"{"}}`), call(`{"index":"0","function":{"arguments":"}"}}`)), "ls{} | stop"},
	{"a name in pieces", lines(call(`{"index":0,"id":"a","function":{"name":"read_"}}`), call(`{"index":0,"function":{"name":"file","arguments":"{}"}}`)), "read_file{} | stop"},
	{"a name so far, each time", lines(call(`{"index":0,"id":"a","function":{"name":"read"}}`), call(`{"index":0,"id":"a","function":{"name":"read_file","arguments":"{}"}}`)), "read_file{} | stop"},
	{"everything once more at the end", lines(call(`{"index":0,"id":"a","function":{"name":"ls","arguments":"{\"a\":"}}`), call(`{"index":0,"function":{"arguments":"1}"}}`), call(`{"index":0,"id":"a","function":{"name":"ls","arguments":"{\"a\":1}"}}`)), `ls{"a":1} | stop`},
	{"all so far, each time", lines(call(`{"index":0,"id":"a","function":{"name":"ls","arguments":"{\"a\":"}}`), call(`{"index":0,"id":"a","function":{"name":"ls","arguments":"{\"a\":1"}}`), call(`{"index":0,"id":"a","function":{"name":"ls","arguments":"{\"a\":1}"}}`)), `ls{"a":1} | stop`},
	{"an empty object first", lines(call(`{"index":0,"id":"a","function":{"name":"ls","arguments":"{}"}}`), call(`{"index":0,"function":{"arguments":"{\"a\":1}"}}`)), `ls{"a":1} | stop`},
	{"an object, then the same again", lines(call(`{"index":0,"id":"a","function":{"name":"ls","arguments":{"a":1}}}`), call(`{"index":0,"id":"a","function":{"name":"ls","arguments":{"a":1}}}`)), `ls{"a":1} | stop`},
	{"bytes as written", lines(call(`{"index":0,"id":"a","function":{"name":"ls","arguments":" {\"b\" : 1.0, \"a\":12345678901234567890}"}}`)), `ls{"b" : 1.0, "a":12345678901234567890} | stop`},
	{"halves of a character in arguments", lines(call(`{"index":0,"id":"a","function":{"name":"ls","arguments":"{\"a\":\"\ud83d"}}`), call(`{"index":0,"function":{"arguments":"\ude00\"}"}}`)), `ls{"a":"😀"} | stop`},
	{"no JSON", lines(call(`{"index":0,"id":"a","function":{"name":"ls","arguments":"{'a': 1}"}}`)), `ls{} | raw {'a': 1} | stop`},
	{"residue in a name", lines(call(`{"index":0,"id":"a","function":{"name":"ls</arg_key>","arguments":"{}"}}`)), "ls{} | stop"},
	{"a refusal", lines(`{"content":null,"refusal":"I can"}`, `{"refusal":"not."}`), "text I cannot. | stop"},
	{"the old function_call", lines(`{"function_call":{"name":"ls","arguments":"{\"a\":"}}`, `{"function_call":{"arguments":"1}"}}`), `ls{"a":1} | stop`},
	{"length with one whole call and one open", strings.Replace(lines(call(`{"index":0,"id":"a","function":{"name":"ls","arguments":"{}"}}`), call(`{"index":1,"id":"b","function":{"name":"ls","arguments":"{\"a"}}`)), "tool_calls\"}", "length\"}", 1), `ls{} | ls{} | raw {"a | length`},
	{"only a finish, no delta", `data: {"choices":[{"index":0,"finish_reason":"stop"}]}` + "\n\n", "stop"},
	{"[DONE] without a finish reason", chunkOf(`{"content":"a"}`, "null") + "data: [DONE]\n\n", "text a | stop"},
	{"[DONE] in the middle of a call", chunkOf(call(`{"index":0,"id":"a","function":{"name":"ls","arguments":"{\"a"}}`), "null") + "data: [DONE]\n\n", "the connection broke off"},
	{"the end in the middle of a call", chunkOf(call(`{"index":0,"id":"a","function":{"name":"ls","arguments":"{}"}}`), "null"), "the connection broke off"},
	{"nothing at all", "", "the connection broke off"},
	{"events without empty lines", strings.ReplaceAll(lines(`{"content":"a"}`, `{"content":"b"}`), "\n\n", "\n"), "text ab | stop"},
	{"carriage returns alone", strings.ReplaceAll(lines(`{"content":"a"}`, `{"content":"b"}`), "\n", "\r"), "text ab | stop"},
	{"data over several lines", "data: {\"choices\":\ndata: [{\"delta\":\ndata: {\"content\":\"a\"},\ndata: \"finish_reason\":\"stop\"}]}\n\n", "text a | stop"},
	{"a mark at the beginning", "\xef\xbb\xbf" + lines(`{"content":"a"}`), "text a | stop"},
	{"chunks without a frame", strings.ReplaceAll(strings.ReplaceAll(lines(`{"content":"a"}`, `{"content":"b"}`), "data: [DONE]", ""), "data: ", ""), "text ab | stop"},
	{"one object over several lines", "\n{\n \"choices\": [\n  {\"message\": {\"content\": null, \"reasoning\": \"hm\", \"tool_calls\": [{\"id\":\"a\",\"function\":{\"name\":\"ls\",\"arguments\":\"{}\"}}]}}\n ]\n}\n", "thinking hm | ls{} | stop"},
	{"one object with length", `{"choices":[{"message":{"content":"a"},"finish_reason":"length"}]}`, "text a | length"},
	{"one object, cut", `{"choices":[{"message":{"content":"a`, "the connection broke off"},
	{"thinking under two names at once", lines(`{"reasoning":"hm","reasoning_content":"hm"}`), "thinking hm | stop"},
	{"thinking as an object", lines(`{"reasoning":{"content":"h"}}`, `{"reasoning":{"text":"m"}}`), "thinking hm | stop"},
	{"thinking as a part", lines(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"a"}]}`), "thinking hm | text a | stop"},
	{"an error as a text", chunkOf(`{"content":"a"}`, "null") + "data: {\"error\":\"model crashed\"}\n\n", "text a | the server failed: model crashed"},
	{"an error after the end of the model", chunkOf(`{"content":"a"}`, `"stop"`) + "data: {\"error\":\"no counts\"}\n\n", "text a | the server failed: no counts"},
	{"a null error", `data: {"error":null,"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}` + "\n\n", "text a | stop"},
	{"an error event of words", "event: error\ndata: out of cheese\n\n", "the server failed: out of cheese"},
	{"llama.cpp's old error line", `error: {"code":500,"message":"slot gone","type":"server_error"}` + "\n\n", "the server failed: slot gone"},
	{"an overflow within a stream", `data: {"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":8192}}` + "\n\n", "the context window is too small: the prompt has 9000 tokens, the window holds 8192"},
	{"vLLM's bare error", `data: {"object":"error","message":"engine died","type":"InternalServerError","code":500}` + "\n\n", "the server failed: engine died"},
	{"given up", chunkOf(`{"content":"a"}`, `"abort"`), "text a | the server failed"},
	{"another choice", `data: {"choices":[{"index":1,"delta":{"content":"b"}},{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}` + "\n\n", "text a | stop"},
	{"everything once more beside the stream", chunkOf(`{"content":"a"}`, "null") + `data: {"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}` + "\n\n", "text a | stop"},
	{"a page", "<!DOCTYPE html><title>Router</title>", "no usable answer: http://127.0.0.1:1 (/chat/completions) gives a web page"},
	{"words", "Ollama is running", "no usable answer: http://127.0.0.1:1 (/chat/completions) gives no answer"},
	{"no JSON in an event", "data: hello\n\ndata: [DONE]\n\n", "the connection broke off: a part of the stream is no answer: \"hello\""},
}

func TestStreamForms(t *testing.T) {
	p := newProvider(t, "http://127.0.0.1:1", Options{})
	for _, test := range streamTests {
		t.Run(test.name, func(t *testing.T) {
			for at := -1; at < len(test.body); at += 5 {
				deltas, failure := decodeAll(p, &localtest.Pieces{Data: []byte(test.body), At: at})
				got := say(deltas)
				if failure != "" {
					got = strings.TrimPrefix(got+" | "+strings.TrimPrefix(failure, "m: "), " | ")
				}
				if got != test.want && (failure == "" || !strings.HasPrefix(got, test.want)) {
					t.Fatalf("split at %d: got  %s\nwant %s", at, got, test.want)
				}
			}
		})
	}
}

func TestUsage(t *testing.T) {
	p := newProvider(t, "http://127.0.0.1:1", Options{})
	end := chunkOf(`{"content":"a"}`, `"stop"`)
	for _, test := range []struct {
		name, body string
		want       *chat.Usage
	}{
		{"none", end, nil},
		{"in the last chunk", `data: {"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":4,"completion_tokens_details":{"reasoning_tokens":3},"prompt_tokens_details":{"cached_tokens":5}}}` + "\n\n", &chat.Usage{Input: 9, CachedInput: 5, Output: 4, Reasoning: 3}},
		{"in a chunk without choices", end + `data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4,"prompt_tokens_details":null}}` + "\n\n", &chat.Usage{Input: 9, Output: 4}},
		{"in every chunk", `data: {"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":9,"completion_tokens":1}}` + "\n\n" + strings.TrimSuffix(end, "}\n\n") + `,"usage":{"prompt_tokens":9,"completion_tokens":2}}` + "\n\n", &chat.Usage{Input: 9, Output: 2}},
		{"in the choice", `data: {"choices":[{"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":9,"completion_tokens":4}}]}` + "\n\n", &chat.Usage{Input: 9, Output: 4}},
		{"llama.cpp's timings", strings.TrimSuffix(end, "}\n\n") + `,"timings":{"cache_n":100,"prompt_n":20,"prompt_ms":1500.5,"predicted_n":7,"predicted_ms":250}}` + "\n\n", &chat.Usage{Input: 120, CachedInput: 100, Output: 7, Prefill: 1500500 * time.Microsecond, Decode: 250 * time.Millisecond}},
		{"both", strings.TrimSuffix(end, "}\n\n") + `,"usage":{"prompt_tokens":120,"completion_tokens":7},"timings":{"cache_n":100,"prompt_n":20,"prompt_ms":1000,"predicted_n":7,"predicted_ms":250}}` + "\n\n", &chat.Usage{Input: 120, CachedInput: 100, Output: 7, Prefill: time.Second, Decode: 250 * time.Millisecond}},
		{"nonsense", strings.TrimSuffix(end, "}\n\n") + `,"usage":{"prompt_tokens":-1,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":50}}}` + "\n\n", &chat.Usage{Output: 4}},
	} {
		t.Run(test.name, func(t *testing.T) {
			deltas, failure := decodeAll(p, strings.NewReader(test.body))
			if failure != "" || len(deltas) == 0 {
				t.Fatalf("%v, %s", deltas, failure)
			}
			got := deltas[len(deltas)-1].Usage
			if (got == nil) != (test.want == nil) || got != nil && *got != *test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

// Once a call has begun, the server may not fall silent for as long as before.
func TestSilenceWithinCall(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, chunkOf(call(`{"index":0,"id":"a","function":{"name":"ls","arguments":"{"}}`), "null"))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	defer server.Close()
	p := newProvider(t, server.URL, Options{First: time.Minute, Idle: 30 * time.Millisecond})
	got, err := localtest.Collect(t.Context(), p.Chat(local.ModelInfo{Name: "m"}, "m", 0), localtest.Hello())
	var e *chat.Error
	if !errors.As(err, &e) || e.Kind != chat.Idle || len(got.Calls) > 0 {
		t.Errorf("got %+v, %v", got, err)
	}
}

// An early sign of life is not the beginning of an answer: a prompt may be read for long after it. A server that
// leaves the connection open after the end does not hold the answer up.
func TestSilence(t *testing.T) {
	const idle = 40 * time.Millisecond
	for _, test := range []struct{ name, early, late string }{
		{"a role, then reading", chunkOf(`{"role":"assistant","content":""}`, "null"), wire.Text("late") + wire.End(chat.Stopped, 1, 1)},
		{"a comment, then reading", ": processing\n\n", wire.Text("late") + wire.End(chat.Stopped, 1, 1)},
		{"no end of the body", "", chunkOf(`{"content":"late"}`, `"stop"`)},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				io.WriteString(w, test.early)
				w.(http.Flusher).Flush()
				select {
				case <-time.After(3 * idle):
				case <-r.Context().Done():
				}
				io.WriteString(w, test.late)
				w.(http.Flusher).Flush()
				<-r.Context().Done()
			}))
			defer server.Close()
			p := newProvider(t, server.URL, Options{First: 10 * time.Second, Idle: idle})
			got, err := localtest.Collect(t.Context(), p.Chat(local.ModelInfo{Name: "m"}, "m", 0), localtest.Hello())
			if err != nil || got.Text != "late" || got.Finish != chat.Stopped {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

// A file in small pieces, the name in each, takes time in proportion to its length.
func TestManyPieces(t *testing.T) {
	code := strings.Repeat(`func f() { g() }\\n`, 20_000) // 360 kB, full of braces
	var body strings.Builder
	head := `data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"ls","arguments":"`
	tail := `"}}]}}]}` + "\n\n"
	body.WriteString(head + `{\"content\":\"` + tail)
	for i := 0; i < len(code); i += 19 {
		body.WriteString(head + code[i:min(i+19, len(code))] + tail)
	}
	body.WriteString(head + `\"}` + tail + chunkOf("{}", `"tool_calls"`))
	began := time.Now()
	deltas, failure := decodeAll(newProvider(t, "http://127.0.0.1:1", Options{}), strings.NewReader(body.String()))
	if failure != "" || len(deltas) != 2 || !strings.Contains(string(deltas[0].Call.Args), `{ g() }\n`) || deltas[0].Call.Raw != "" {
		t.Fatalf("%d deltas, %s", len(deltas), failure)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("took %s", took)
	}
}
