package practice

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"interpreter/local/chat"
)

func served(t *testing.T, script, wire string) (*Server, string) {
	t.Helper()
	s, err := newServer(parsed(t, script), wire, nil)
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	return s, h.URL
}

// post sends a body and returns the status, the header, what came, and the error that ended it.
func post(t *testing.T, url, body string) (int, http.Header, string, error) {
	t.Helper()
	resp, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		return 0, nil, "", err
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	return resp.StatusCode, resp.Header, string(got), err
}

func get(t *testing.T, url string, into any) string {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got, _ := io.ReadAll(resp.Body)
	if into != nil {
		if err := json.Unmarshal(got, into); err != nil {
			t.Fatalf("%s: %v in %s", url, err, got)
		}
	}
	return string(got)
}

func ndjson(t *testing.T, body string) []nativeLine {
	t.Helper()
	var out []nativeLine
	for _, line := range strings.Split(strings.TrimSpace(body), "\n") {
		var l nativeLine
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		out = append(out, l)
	}
	return out
}

const thinker = `
reply
  think Hm.
  say I look.
  call read {"path":"a<b","deep":{"z":1,"a":2}}
  call read {"path":"c"}
reply
  want ^got it
  say Done.
`

const nativeTools = `"tools":[{"type":"function","function":{"name":"read","parameters":{"type":"object"}}}]`

func TestNativeChat(t *testing.T) {
	s, url := served(t, thinker, "")
	_, header, body, err := post(t, url+"/api/chat", `{"model":"practice","messages":[{"role":"user","content":"go"}],`+nativeTools+`,"options":{"num_ctx":70000}}`)
	if err != nil || header.Get("Content-Type") != "application/x-ndjson" {
		t.Fatalf("%v %v", err, header)
	}
	lines := ndjson(t, body)
	last := lines[len(lines)-1]
	if len(lines) != 5 || lines[0].Message.Thinking != "Hm." || lines[1].Message.Content != "I look." || !last.Done || last.Reason != "stop" || last.Input == 0 || last.Output == 0 {
		t.Errorf("stream: %s", body)
	}
	if c := lines[3].Message.Calls[0]; c.Function.Index != 1 || c.ID == lines[2].Message.Calls[0].ID {
		t.Errorf("second call: %+v", c)
	}
	if !strings.Contains(body, `"arguments":{"path":"a<b","deep":{"z":1,"a":2}}`) {
		t.Errorf("arguments lost their bytes: %s", body)
	}
	_, _, body, _ = post(t, url+"/api/chat", `{"model":"practice:latest","stream":false,"think":false,"messages":[{"role":"user","content":"go"},
		{"role":"assistant","content":"","tool_calls":[{"function":{"name":"read","arguments":{}}}]},{"role":"tool","tool_name":"read","content":"got it"}]}`)
	if one := ndjson(t, body); one[0].Message.Content != "Done." || !one[0].Done {
		t.Errorf("in one piece: %s", body)
	}
	var ps list
	get(t, url+"/api/ps", &ps)
	if ps.Models[0].Window != 4096 {
		t.Errorf("a request without num_ctx loads %d", ps.Models[0].Window)
	}
	got := s.Requests()
	if len(got) != 2 || got[0].Request.Window != 70000 || got[0].Request.Tools[0].Name != "read" || got[1].Request.Effort != "none" || got[1].Request.Messages[2].Result.Text != "got it" {
		t.Errorf("requests: %+v", got)
	}
}

func TestLoadShowsInPS(t *testing.T) {
	_, url := served(t, "reply\n say a\n", "ollama")
	var ps list
	get(t, url+"/api/ps", &ps)
	if len(ps.Models) != 0 {
		t.Errorf("loaded before anybody asked: %+v", ps)
	}
	_, _, body, _ := post(t, url+"/api/chat", `{"model":"practice","options":{"num_ctx":131072},"keep_alive":"30m"}`)
	if l := ndjson(t, body); l[0].Reason != "load" {
		t.Errorf("load: %s", body)
	}
	get(t, url+"/api/ps", &ps)
	if ps.Models[0].Window != 131072 || *ps.Models[0].VRAM != 0 || ps.Models[0].Size <= 2<<20 || time.Until(*ps.Models[0].Expires) < 29*time.Minute {
		t.Errorf("ps: %+v", ps)
	}
	post(t, url+"/api/chat", `{"model":"practice","keep_alive":0}`)
	if get(t, url+"/api/ps", &ps); len(ps.Models) != 0 {
		t.Errorf("still loaded: %+v", ps)
	}
	_, url = served(t, "loaded 4096\nreply\n say a\n", "ollama")
	post(t, url+"/api/chat", `{"model":"practice","options":{"num_ctx":131072}}`)
	if get(t, url+"/api/ps", &ps); ps.Models[0].Window != 4096 {
		t.Errorf("a server that pretends: %+v", ps)
	}
}

func TestLibrary(t *testing.T) {
	_, url := served(t, "model deep:1b\nwindow 100000\narchitecture qwen3moe\nsize 5000000\nthink hm\nreply\n say a\n", "")
	if got := get(t, url+"/", nil); got != "Ollama is running" {
		t.Errorf("liveness: %q", got)
	}
	if got := get(t, url+"/api/version", nil); got != `{"version":"0.24.0"}` {
		t.Errorf("version: %s", got)
	}
	var tags list
	get(t, url+"/api/tags", &tags)
	if m := tags.Models[0]; m.Name != "deep:1b" || m.Size != 5000000 || len(m.Digest) != 64 || m.Details.Family != "qwen3moe" {
		t.Errorf("tags: %+v", m)
	}
	var show struct {
		Capabilities []string
		Info         map[string]any `json:"model_info"`
		License      string
	}
	_, _, body, _ := post(t, url+"/api/show", `{"model":"DEEP:1b"}`)
	if err := json.Unmarshal([]byte(body), &show); err != nil || fmt.Sprint(show.Capabilities) != "[completion tools thinking]" ||
		show.Info["qwen3moe.context_length"] != 100000.0 || show.License != Banner {
		t.Errorf("show: %v %s", err, body)
	}
	for path, body := range map[string]string{"/api/show": `{"model":"other"}`, "/api/chat": `{"model":"other","messages":[{"role":"user","content":"x"}]}`} {
		if status, _, got, _ := post(t, url+path, body); status != 404 || got != `{"error":"model 'other' not found"}` {
			t.Errorf("%s: %d %s", path, status, got)
		}
	}
}

func TestPull(t *testing.T) {
	_, url := served(t, "absent\nreply\n say a\n", "")
	var tags list
	if get(t, url+"/api/tags", &tags); len(tags.Models) != 0 {
		t.Errorf("listed before it was pulled: %+v", tags)
	}
	if _, _, body, _ := post(t, url+"/api/pull", `{"model":"other"}`); !strings.Contains(body, `{"error":"pull model manifest: file does not exist"}`) {
		t.Errorf("pull of another: %s", body)
	}
	_, _, body, _ := post(t, url+"/api/pull", `{"model":"practice"}`)
	if lines := strings.Split(strings.TrimSpace(body), "\n"); lines[len(lines)-1] != `{"status":"success"}` || !strings.Contains(body, `"completed":1048576`) {
		t.Errorf("pull: %s", body)
	}
	if get(t, url+"/api/tags", &tags); len(tags.Models) != 1 {
		t.Errorf("not listed after it was pulled")
	}
}

func TestOverflow(t *testing.T) {
	long := `{"role":"user","content":"` + strings.Repeat("x", 40000) + `"}`
	_, url := served(t, "reply\n say a\n", "ollama")
	status, _, body, _ := post(t, url+"/api/chat", `{"model":"practice","truncate":false,"options":{"num_ctx":8192},"messages":[`+long+`]}`)
	if status != 400 || body != `{"error":"the input length exceeds the context length"}` {
		t.Errorf("native: %d %s", status, body)
	}
	_, _, body, _ = post(t, url+"/api/chat", `{"model":"practice","stream":false,"options":{"num_ctx":8192},"messages":[`+long+`]}`)
	if l := ndjson(t, body); l[0].Input != 8192 {
		t.Errorf("truncated in silence: %s", body)
	}
	for wire, says := range map[string]string{"chat": `"n_prompt_tokens":10000,"type":"exceed_context_size_error"`, "lmstudio": "10000 tokens"} {
		_, url := served(t, "loaded 4096\nreply\n say a\n", wire)
		if status, _, body, _ := post(t, url+"/v1/chat/completions", `{"model":"practice","messages":[`+long+`]}`); status != 400 || !strings.Contains(body, says) {
			t.Errorf("%s: %d %s", wire, status, body)
		}
	}
}

func TestBadDaysOnTheNativeWire(t *testing.T) {
	s, url := served(t, "reply\n status 503 loading model\n retry-after 2\nreply\n say half of\n cut\nreply\n say half\n error out of memory\nreply\n stall 9m\n malformed {\"broken\n say whole\n", "ollama")
	var slept time.Duration
	s.Sleep = func(_ context.Context, d time.Duration) error { slept += d; return nil }
	const body = `{"model":"practice","messages":[{"role":"user","content":"go"}]}`
	status, header, got, _ := post(t, url+"/api/chat", body)
	if status != 503 || header.Get("Retry-After") != "2" || got != `{"error":"loading model"}` {
		t.Errorf("status: %d %v %s", status, header, got)
	}
	if _, _, got, err := post(t, url+"/api/chat", body); !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(got, "half of") {
		t.Errorf("cut: %v %q", err, got)
	}
	if _, _, got, err := post(t, url+"/api/chat", body); err != nil || !strings.HasSuffix(got, "{\"error\":\"out of memory\"}\n") {
		t.Errorf("error: %v %q", err, got)
	}
	if _, _, got, _ := post(t, url+"/api/chat", body); !strings.HasPrefix(got, "{\"broken\n") || slept != 9*time.Minute {
		t.Errorf("malformed: %q after %v", got, slept)
	}
}

// sse takes a stream of events apart: names and data.
func sse(t *testing.T, body string) (names []string, data []map[string]any) {
	t.Helper()
	scan := bufio.NewScanner(strings.NewReader(body))
	scan.Buffer(nil, 1<<20)
	for scan.Scan() {
		if name, ok := strings.CutPrefix(scan.Text(), "event: "); ok {
			names = append(names, name)
		}
		if text, ok := strings.CutPrefix(scan.Text(), "data: "); ok && text != "[DONE]" {
			var v map[string]any
			if err := json.Unmarshal([]byte(text), &v); err != nil {
				t.Fatalf("%v in %q", err, text)
			}
			data = append(data, v)
		}
	}
	return names, data
}

func TestCompletions(t *testing.T) {
	for _, wire := range []string{"ollama", "chat"} {
		_, url := served(t, thinker, wire)
		_, _, body, _ := post(t, url+"/v1/chat/completions", `{"model":"practice","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":[{"type":"text","text":"go"}]}],`+nativeTools+`}`)
		_, data := sse(t, body)
		args, finish, thought := map[float64]string{}, "", ""
		for _, d := range data {
			for _, c := range d["choices"].([]any) {
				choice := c.(map[string]any)
				if f, ok := choice["finish_reason"].(string); ok {
					finish = f
				}
				delta := choice["delta"].(map[string]any)
				for _, field := range []string{"reasoning", "reasoning_content"} {
					if v, ok := delta[field].(string); ok {
						thought += v
					}
				}
				calls, _ := delta["tool_calls"].([]any)
				for _, c := range calls {
					c := c.(map[string]any)
					args[c["index"].(float64)] += c["function"].(map[string]any)["arguments"].(string)
				}
			}
		}
		usage := data[len(data)-1]["usage"].(map[string]any)
		if args[0] != `{"path":"a<b","deep":{"z":1,"a":2}}` || args[1] != `{"path":"c"}` || finish != "tool_calls" || thought != "Hm." ||
			usage["total_tokens"].(float64) <= 0 || !strings.HasSuffix(body, "data: [DONE]\n\n") {
			t.Errorf("%s: %v %q %q\n%s", wire, args, finish, thought, body)
		}
		_, _, body, _ = post(t, url+"/v1/chat/completions", `{"model":"practice","messages":[{"role":"user","content":"go"},
			{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"read","arguments":"{}"}}]},{"role":"tool","tool_call_id":"1","content":"got it"}]}`)
		if !strings.Contains(body, `"content":"Done."`) || !strings.Contains(body, `"finish_reason":"stop"`) {
			t.Errorf("%s in one piece: %s", wire, body)
		}
	}
	_, url := served(t, "capabilities completion\nreply\n say a\n", "")
	if status, _, body, _ := post(t, url+"/v1/chat/completions", `{"model":"practice","messages":[],`+nativeTools+`}`); status != 400 || !strings.Contains(body, "does not support tools") {
		t.Errorf("no tools: %d %s", status, body)
	}
}

func TestResponses(t *testing.T) {
	_, url := served(t, thinker, "responses")
	_, _, body, _ := post(t, url+"/v1/responses", `{"model":"practice","stream":true,"input":"go","tools":[{"type":"function","name":"read","parameters":{}}]}`)
	names, data := sse(t, body)
	var done []string
	for i, d := range data {
		if d["sequence_number"].(float64) != float64(i) || d["type"] != names[i] {
			t.Errorf("event %d: %v named %s", i, d, names[i])
		}
		if d["type"] == "response.output_item.done" {
			done = append(done, d["item"].(map[string]any)["type"].(string))
		}
	}
	if strings.Join(done, " ") != "reasoning message function_call function_call" || names[0] != "response.created" || names[len(names)-1] != "response.completed" {
		t.Errorf("items %v, events %v", done, names)
	}
	_, _, body, _ = post(t, url+"/v1/responses", `{"model":"practice","input":[{"role":"user","content":"go"},{"type":"reasoning","summary":[]},
		{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look."}]},
		{"type":"function_call","call_id":"1","name":"read","arguments":"{}"},{"type":"function_call_output","call_id":"1","output":"got it"}]}`)
	if !strings.Contains(body, `"text":"Done."`) {
		t.Errorf("in one piece: %s", body)
	}
	if status, _, body, _ := post(t, url+"/v1/responses", `{"model":"practice","input":7}`); status != 400 || !strings.Contains(body, "neither a text nor a list") {
		t.Errorf("bad input: %d %s", status, body)
	}
}

func TestMessages(t *testing.T) {
	_, url := served(t, thinker, "messages")
	_, _, body, _ := post(t, url+"/v1/messages", `{"model":"practice","max_tokens":100,"stream":true,"system":"s","messages":[{"role":"user","content":"go"}],"tools":[{"name":"read","input_schema":{}}]}`)
	names, data := sse(t, body)
	var kinds []string
	for i, d := range data {
		if d["type"] != names[i] {
			t.Errorf("event %d: %v named %s", i, d, names[i])
		}
		if block, ok := d["content_block"].(map[string]any); ok {
			kinds = append(kinds, fmt.Sprint(d["index"], block["type"]))
		}
	}
	if strings.Join(kinds, " ") != "0thinking 1text 2tool_use 3tool_use" || strings.Count(body, "event: content_block_stop") != 4 ||
		!strings.Contains(body, `"stop_reason":"tool_use"`) || names[len(names)-1] != "message_stop" {
		t.Errorf("blocks %v, events %v", kinds, names)
	}
	_, _, body, _ = post(t, url+"/v1/messages", `{"model":"practice","max_tokens":100,"messages":[{"role":"user","content":"go"},
		{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"read","input":{}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":[{"type":"text","text":"got it"}]}]}]}`)
	if !strings.Contains(body, `"text":"Done."`) || !strings.Contains(body, `"stop_reason":"end_turn"`) {
		t.Errorf("in one piece: %s", body)
	}
	if status, _, body, _ := post(t, url+"/v1/messages", `{"model":"practice","messages":[]}`); status != 400 || !strings.Contains(body, "max_tokens is required") {
		t.Errorf("no max_tokens: %d %s", status, body)
	}
}

func TestServeEndsWithItsContext(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var log bytes.Buffer
	ended := make(chan error, 1)
	go func() {
		ended <- Serve(ctx, listener, parsed(t, "reply\n say a\n pause 24h\nreply\n want no\n"), "", &log)
	}()
	resp, err := http.Post("http://"+listener.Addr().String()+"/api/chat", "", strings.NewReader(`{"model":"practice","messages":[{"role":"user","content":"x"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	first := make([]byte, 1)
	if _, err := resp.Body.Read(first); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("ended with %v", err)
	}
	if _, err := io.ReadAll(resp.Body); err == nil {
		t.Error("the answer was not broken off")
	}
	if !strings.Contains(log.String(), `{"wire":"native","messages":1,`) {
		t.Errorf("log: %s", log.String())
	}
	err = Serve(ctx, listener, parsed(t, "reply\n"), "carrier pigeon", nil)
	if err == nil || !strings.Contains(err.Error(), "known: all, ollama") {
		t.Errorf("unknown wire: %v", err)
	}
}

func TestServerRunsTheToolCheck(t *testing.T) {
	_, url := served(t, "reply\n say a\n", "")
	tools := `"tools":[{"type":"function","function":{"name":"probe_sum"}},{"type":"function","function":{"name":"lookup_city"}}]`
	_, _, body, _ := post(t, url+"/api/chat", `{"model":"practice","messages":[{"role":"user","content":"17 and 25"}],`+tools+`}`)
	if l := ndjson(t, body); len(l) != 2 || l[0].Message.Calls[0].Function.Name != probe || string(l[0].Message.Calls[0].Function.Args) != `{"a":17,"b":25}` {
		t.Errorf("call: %s", body)
	}
	_, _, body, _ = post(t, url+"/api/chat", `{"model":"practice","messages":[{"role":"user","content":"17 and 25"},
		{"role":"assistant","content":"","tool_calls":[{"function":{"name":"probe_sum","arguments":{}}}]},{"role":"tool","content":"QX-42Z"}],`+tools+`}`)
	if !strings.Contains(body, "QX-42Z") {
		t.Errorf("receipt: %s", body)
	}
}

var _ chat.Model = (*Model)(nil)
