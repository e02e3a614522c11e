package responses

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"interpreter/local"
	"interpreter/local/chat"
	"interpreter/local/localtest"
	"interpreter/local/openai"
)

// talk is a conversation with all there can be in one.
func talk() []chat.Message {
	call := func(id, name, args string) chat.Call { return chat.Call{ID: id, Name: name, Args: []byte(args)} }
	result := func(id, text string) chat.Message {
		return chat.Message{Role: chat.Tool, Result: &chat.Result{CallID: id, Text: text}}
	}
	picture := result("c2", "look")
	picture.Images = []chat.Image{{MIME: "image/png", Data: []byte("PNG")}}
	return []chat.Message{
		{Role: chat.System, Text: "Be brief."}, {Role: chat.System, Text: "Be kind & <clear>."},
		{Role: chat.User, Text: "context"}, {Role: chat.User, Text: "find it", Images: []chat.Image{{MIME: "image/jpeg", Data: []byte("J")}}},
		{Role: chat.Assistant, Thinking: "hm", Text: "I look.", Calls: []chat.Call{call("c1", "read", `{ "z":1.0,"a":"<ü>" }`), call("c2", "view", `{}`)}},
		result("c1", "no such <file>"), picture,
		{Role: chat.System, Text: "remember"},
		{Role: chat.Assistant, Calls: []chat.Call{call("c1", "read", `{"again":true}`)}},
		result("c1", "found"),
		{Role: chat.Assistant, Thinking: "well", Seal: "sealed", Text: "Done."},
		{Role: chat.User, Text: "more"},
	}
}

func modelOf(t testing.TB, base string) *model {
	return newProvider(t, base, openai.Options{}).Chat(local.ModelInfo{Name: "m"}, "m", 65536).(*model)
}

func items(t *testing.T, body []byte) (instructions string, lines []string) {
	t.Helper()
	var got struct {
		Instructions string
		Input        []json.RawMessage
	}
	if err := json.Unmarshal(body, &got); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	for _, item := range got.Input {
		lines = append(lines, string(item))
	}
	return got.Instructions, lines
}

func TestBody(t *testing.T) {
	req := chat.Request{Messages: talk(), Tools: []chat.Spec{{Name: "read", Description: "a <b>", Parameters: []byte(`{"type":"object", "properties":{}}`)}}}
	body, _ := modelOf(t, "http://127.0.0.1:1").encode(req)
	instructions, got := items(t, body)
	if instructions != "Be brief.\n\nBe kind & <clear>." {
		t.Errorf("instructions %q", instructions)
	}
	want := []string{
		`{"type":"message","role":"user","content":[{"type":"input_text","text":"context"}]}`,
		`{"type":"message","role":"user","content":[{"type":"input_text","text":"find it"},{"type":"input_image","detail":"auto","image_url":"data:image/jpeg;base64,Sg=="}]}`,
		`{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"content":[{"type":"reasoning_text","text":"hm"}]}`,
		`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look.","annotations":[]}],"status":"completed"}`,
		`{"type":"function_call","call_id":"c1","name":"read","arguments":"{ \"z\":1.0,\"a\":\"<ü>\" }"}`,
		`{"type":"function_call","call_id":"c2","name":"view","arguments":"{}"}`,
		`{"type":"function_call_output","call_id":"c1","output":"no such <file>"}`,
		`{"type":"function_call_output","call_id":"c2","output":"look"}`,
		`{"type":"message","role":"user","content":[{"type":"input_image","detail":"auto","image_url":"data:image/png;base64,UE5H"}]}`,
		`{"type":"message","role":"user","content":[{"type":"input_text","text":"remember"}]}`,
		`{"type":"function_call","call_id":"c1_2","name":"read","arguments":"{\"again\":true}"}`,
		`{"type":"function_call_output","call_id":"c1_2","output":"found"}`,
		`{"type":"reasoning","summary":[{"type":"summary_text","text":"well"}],"content":[{"type":"reasoning_text","text":"well"}],"encrypted_content":"sealed"}`,
		`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done.","annotations":[]}],"status":"completed"}`,
		`{"type":"message","role":"user","content":[{"type":"input_text","text":"more"}]}`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	rest := `"tools":[{"type":"function","name":"read","description":"a <b>","strict":false,"parameters":{"type":"object", "properties":{}}}],"parallel_tool_calls":true,"store":false,"stream":true}`
	if !strings.HasSuffix(string(body), rest) {
		t.Errorf("got %s, want …%s", body, rest)
	}
}

// What a conversation is at one moment is the beginning of what it is later. Pictures of results come behind all of them, so
// that between a result and the next one there is no such moment.
func TestPrefix(t *testing.T) {
	for _, base := range []string{"http://127.0.0.1:1", "https://api.openai.com/v1"} {
		m := modelOf(t, base)
		all := talk()
		var before []byte
		for k := 2; k <= len(all); k++ {
			body, _ := m.encode(chat.Request{Messages: all[:k]})
			at := bytes.LastIndex(body, []byte(`],"`))
			if k < len(all) && all[k].Result != nil {
				continue
			}
			if i := bytes.Index(body, []byte(`],"include"`)); i >= 0 {
				at = i
			} else if i := bytes.Index(body, []byte(`],"store"`)); i >= 0 {
				at = i
			}
			if !bytes.HasPrefix(body, before) {
				t.Errorf("%d messages: %s\ndoes not begin with\n%s", k, body, before)
			}
			before = body[:at]
		}
	}
}

// The wire's own vendor takes thoughts back only as it sealed them, and gives the seal when asked.
func TestVendor(t *testing.T) {
	m := modelOf(t, "https://api.openai.com/v1")
	body, _ := m.encode(chat.Request{Messages: append(talk(), chat.Message{Role: chat.Assistant, Seal: "alone"})})
	_, got := items(t, body)
	all := strings.Join(got, "\n")
	for _, want := range []string{
		`{"type":"reasoning","summary":[{"type":"summary_text","text":"well"}],"encrypted_content":"sealed"}`, `{"type":"reasoning","summary":[],"encrypted_content":"alone"}`,
	} {
		if !strings.Contains(all, want) {
			t.Errorf("no %s in\n%s", want, all)
		}
	}
	if strings.Contains(all, `"hm"`) || !bytes.Contains(body, []byte(`"include":["reasoning.encrypted_content"]`)) {
		t.Errorf("body %s", body)
	}
}

func TestMembers(t *testing.T) {
	for name, test := range map[string]struct {
		req  chat.Request
		want string
	}{
		"nothing asked for":  {chat.Request{}, `"input":[],"store":false,"stream":true}`},
		"an answer's length": {chat.Request{Output: 50, Options: map[string]any{"num_predict": 9}}, `"max_output_tokens":50,"store":false,"stream":true}`},
		"the option of it":   {chat.Request{Options: map[string]any{"num_predict": 9}}, `"max_output_tokens":9,"store":false,"stream":true}`},
		"an effort":          {chat.Request{Effort: "xhigh"}, `"reasoning":{"effort":"high"},"store":false,"stream":true}`},
		"no thoughts":        {chat.Request{Effort: "none"}, `"reasoning":{"effort":"none"},"store":false,"stream":true}`},
		"a schema": {chat.Request{Format: []byte(`{"type":"object"}`)},
			`"text":{"format":{"type":"json_schema","name":"answer","strict":true,"schema":{"type":"object"}}},"store":false,"stream":true}`},
		"sampling and more": {chat.Request{Options: map[string]any{"top_k": 20, "temperature": 0.5}, Extra: map[string]any{"store": true, "input": 1, "prompt_cache_key": "k"}},
			`"temperature":0.5,"top_k":20,"prompt_cache_key":"k","store":false,"stream":true}`},
	} {
		body, _ := modelOf(t, "http://127.0.0.1:1").encode(test.req)
		if !strings.HasSuffix(string(body), test.want) {
			t.Errorf("%s: got %s, want …%s", name, body, test.want)
		}
	}
}

// What a server does not know is left out from then on.
func TestUnknownMember(t *testing.T) {
	for mark, words := range map[string]string{
		`"reasoning":{"effort"`:  failureOf("invalid_request_error", `"m" does not support thinking`),
		`"encrypted_content"`:    failureOf("BadRequestError", "Encrypted content is not supported."),
		`"type":"reasoning"`:     failureOf("invalid_request_error", "input[2]: unknown item type: 'reasoning'"),
		`"strict":false`:         `{"detail":[{"type":"extra_forbidden","loc":["body","tools",0,"strict"],"msg":"Extra inputs are not permitted"}]}`,
		`"parallel_tool_calls"`:  failureOf("invalid_request_error", "Unsupported parameter: 'parallel_tool_calls'"),
		`"prompt_cache_key":"k"`: failureOf("invalid_request_error", "unknown field prompt_cache_key"),
	} {
		m, got := answering(t, refuses(400, words), says(end(chat.Stopped, 1, 1)))
		req := chat.Request{Messages: talk(), Tools: []chat.Spec{{Name: "read"}}, Extra: map[string]any{"prompt_cache_key": "k"}}
		if strings.Contains(mark, "effort") {
			req.Effort = "low"
		}
		for range 2 {
			if _, err := localtest.Collect(t.Context(), m, req); err != nil {
				t.Fatalf("%s: %v", mark, err)
			}
		}
		if len(*got) != 3 {
			t.Fatalf("%s: %d requests", mark, len(*got))
		}
		for i, want := range []bool{true, false, false} {
			if bytes.Contains((*got)[i], []byte(mark)) != want {
				t.Errorf("%s: request %d is %s", mark, i, (*got)[i])
			}
		}
	}
}
