package messages

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
	failed := result("c1", "no such <file>")
	failed.Result.Failed = true
	picture := result("c2", "look")
	picture.Images = []chat.Image{{MIME: "image/png", Data: []byte("PNG")}}
	return []chat.Message{
		{Role: chat.System, Text: "Be brief."}, {Role: chat.System, Text: "Be kind & <clear>."},
		{Role: chat.User, Text: "context"}, {Role: chat.User, Text: "find it", Images: []chat.Image{{MIME: "image/jpeg", Data: []byte("J")}}},
		{Role: chat.Assistant, Thinking: "hm", Text: "I look.", Calls: []chat.Call{call("c1", "read", `{ "z":1.0,"a":"<ü>" }`), call("c2", "view", `{}`)}},
		failed, picture,
		{Role: chat.User, Text: "a word"}, {Role: chat.System, Text: "remember"},
		{Role: chat.Assistant, Calls: []chat.Call{call("c1", "read", `{"again":true}`)}},
		result("c1", "found"),
		{Role: chat.Assistant, Text: " "}, {Role: chat.Assistant, Thinking: "well", Seal: "sig", Text: "Done."},
		{Role: chat.User, Text: "more"},
	}
}

func modelOf(t testing.TB, base string, window int) *model {
	return newProvider(t, base, openai.Options{}).Chat(local.ModelInfo{Name: "m"}, "m", window).(*model)
}

type sent struct {
	Model    string
	System   []struct{ Type, Text string }
	Messages []struct {
		Role    string
		Content []json.RawMessage
	}
	Tools  []json.RawMessage
	Output int `json:"max_tokens"`
	Stream bool
}

func parse(t *testing.T, body []byte) (s sent) {
	t.Helper()
	if err := json.Unmarshal(body, &s); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	return s
}

func TestBody(t *testing.T) {
	req := chat.Request{Messages: talk(), Tools: []chat.Spec{{Name: "read", Description: "a <b>", Parameters: []byte(`{"type":"object", "properties":{}}`)}, {Name: "bare"}}}
	body, _ := modelOf(t, "http://127.0.0.1:1", 0).encode(req)
	got := parse(t, body)
	if len(got.System) != 2 || got.System[1].Text != "Be kind & <clear>." || !got.Stream || got.Output != mostOutput {
		t.Errorf("got %+v", got)
	}
	var lines []string
	for i, m := range got.Messages {
		if want := []string{"user", "assistant"}[i%2]; m.Role != want {
			t.Errorf("message %d is of the %s", i, m.Role)
		}
		for _, block := range m.Content {
			lines = append(lines, m.Role[:1]+" "+string(block))
		}
	}
	want := []string{
		`u {"type":"text","text":"context"}`,
		`u {"type":"text","text":"find it"}`,
		`u {"type":"image","source":{"type":"base64","media_type":"image/jpeg","data":"Sg=="}}`,
		`a {"type":"thinking","thinking":"hm","signature":""}`,
		`a {"type":"text","text":"I look."}`,
		`a {"type":"tool_use","id":"c1","name":"read","input":{ "z":1.0,"a":"<ü>" }}`,
		`a {"type":"tool_use","id":"c2","name":"view","input":{}}`,
		`u {"type":"tool_result","tool_use_id":"c1","content":"no such <file>","is_error":true}`,
		`u {"type":"tool_result","tool_use_id":"c2","content":[{"type":"text","text":"look"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"UE5H"}}]}`,
		`u {"type":"text","text":"a word"}`,
		`u {"type":"text","text":"remember"}`,
		`a {"type":"tool_use","id":"c1_2","name":"read","input":{"again":true}}`,
		`u {"type":"tool_result","tool_use_id":"c1_2","content":"found"}`,
		`a {"type":"thinking","thinking":"well","signature":"sig"}`,
		`a {"type":"text","text":"Done."}`,
		`u {"type":"text","text":"more"}`,
	}
	if strings.Join(lines, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
	if tools := string(bytes.Join([][]byte{got.Tools[0], got.Tools[1]}, []byte("\n"))); tools != `{"name":"read","description":"a <b>","input_schema":{"type":"object", "properties":{}}}
{"name":"bare","description":"","input_schema":{"type":"object","properties":{}}}` {
		t.Errorf("tools %s", tools)
	}
	if bytes.Contains(body, []byte("cache_control")) || bytes.Contains(body, []byte("metadata")) || bytes.Contains(body, []byte("context_management")) {
		t.Errorf("the body has what a server of one's own need not know: %s", body)
	}
}

// What a conversation is at one moment is the beginning of what it is later, but for what closes the last message.
func TestPrefix(t *testing.T) {
	for _, base := range []string{"http://127.0.0.1:1", "https://api.anthropic.com"} {
		m := modelOf(t, base, 65536)
		all := talk()
		var before []byte
		for k := range len(all) + 1 {
			if k < 3 { // nothing but system messages
				continue
			}
			body, _ := m.encode(chat.Request{Messages: all[:k]})
			at := bytes.Index(body, []byte(`]}],"max_tokens"`))
			if at < 0 {
				t.Fatalf("no end of the messages in %s", body)
			}
			if !bytes.HasPrefix(body, before) {
				t.Errorf("%d messages: %s\ndoes not begin with\n%s", k, body, before)
			}
			before = body[:at]
		}
	}
}

// The wire's own vendor refuses thoughts without its signature and ids of other letters.
func TestVendor(t *testing.T) {
	m := modelOf(t, "https://api.anthropic.com", 0)
	messages := append(talk(), chat.Message{Role: chat.Assistant, Calls: []chat.Call{{ID: "functions.read:0", Name: "read", Args: []byte("{}")}}},
		chat.Message{Role: chat.Tool, Result: &chat.Result{CallID: "functions.read:0", Text: "x"}})
	body, _ := m.encode(chat.Request{Messages: messages, Effort: "high", Options: map[string]any{"temperature": 0.2}})
	for _, not := range []string{`"hm"`, "functions.read:0", "temperature"} {
		if bytes.Contains(body, []byte(not)) {
			t.Errorf("the body has %s: %s", not, body)
		}
	}
	if !bytes.Contains(body, []byte(`"signature":"sig"`)) || bytes.Count(body, []byte("functions_read_0")) != 2 {
		t.Errorf("body %s", body)
	}
}

func TestMembers(t *testing.T) {
	for name, test := range map[string]struct {
		window int
		req    chat.Request
		want   string
	}{
		"nothing asked for":     {0, chat.Request{}, `"max_tokens":32000,"stream":true}`},
		"an answer's length":    {0, chat.Request{Output: 1}, `"max_tokens":1,"stream":true}`},
		"the option of it":      {0, chat.Request{Options: map[string]any{"num_predict": 77}}, `"max_tokens":77,"stream":true}`},
		"what the window has":   {4096, chat.Request{}, `"max_tokens":4089,"stream":true}`},
		"a window that is full": {2048, chat.Request{Messages: []chat.Message{{Role: chat.User, Text: strings.Repeat("many words ", 1000)}}}, `"max_tokens":1024,"stream":true}`},
		"thoughts":              {0, chat.Request{Effort: "low"}, `"max_tokens":32000,"thinking":{"type":"enabled","budget_tokens":4096},"stream":true}`},
		"few thoughts":          {0, chat.Request{Effort: "high", Output: 6000}, `"max_tokens":6000,"thinking":{"type":"enabled","budget_tokens":3000},"stream":true}`},
		"no room for thoughts":  {0, chat.Request{Effort: "high", Output: 1500}, `"max_tokens":1500,"stream":true}`},
		"no thoughts":           {0, chat.Request{Effort: "none"}, `"max_tokens":32000,"thinking":{"type":"disabled"},"stream":true}`},
		"sampling": {0, chat.Request{Options: map[string]any{"top_k": 20, "temperature": 0.5, "min_p": 0.1, "stop": "END"}},
			`"max_tokens":32000,"temperature":0.5,"top_k":20,"stop_sequences":["END"],"stream":true}`},
		"what belongs to other wires": {0, chat.Request{Extra: map[string]any{"metadata": 1, "reasoning_effort": "low", "context_management": 1, "stream": false, "tool_choice": map[string]any{"type": "auto"}}},
			`"max_tokens":32000,"tool_choice":{"type":"auto"},"stream":true}`},
	} {
		body, _ := modelOf(t, "http://127.0.0.1:1", test.window).encode(test.req)
		if !strings.HasSuffix(string(body), test.want) {
			t.Errorf("%s: got %.300s, want …%s", name, body, test.want)
		}
	}
}

// What a server does not know is left out from then on.
func TestUnknownMember(t *testing.T) {
	good := end(chat.Stopped, 1, 1)
	for name, words := range map[string]string{
		"thinking":    failureOf("invalid_request_error", "thinking: Extra inputs are not permitted"),
		"is_error":    `{"detail":[{"type":"extra_forbidden","loc":["body","messages",1,"is_error"],"msg":"Extra inputs are not permitted"}]}`,
		"temperature": failureOf("invalid_request_error", "unknown field \"temperature\""),
	} {
		m, got := answering(t, openai.Options{}, 0, refuses(400, words), says(good))
		req := chat.Request{Messages: talk(), Effort: "none", Options: map[string]any{"temperature": 1}}
		for range 2 {
			if _, err := localtest.Collect(t.Context(), m, req); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if len(*got) != 3 {
			t.Fatalf("%s: %d requests", name, len(*got))
		}
		for i, want := range []bool{true, false, false} {
			if bytes.Contains((*got)[i].body, []byte(`,"`+name+`":`)) != want && name != "thinking" ||
				name == "thinking" && bytes.Contains((*got)[i].body, []byte(`"disabled"`)) != want {
				t.Errorf("%s: request %d is %s", name, i, (*got)[i].body)
			}
		}
	}
	// Thoughts that are given back are left out where a server does not know them.
	m, got := answering(t, openai.Options{}, 0, refuses(400, failureOf("invalid_request_error", "messages.1.content.0: unknown block type thinking")), says(good))
	if _, err := localtest.Collect(t.Context(), m, chat.Request{Messages: talk()}); err != nil || len(*got) != 2 || bytes.Contains((*got)[1].body, []byte("thinking")) {
		t.Errorf("%d requests, %v", len(*got), err)
	}
	// What the request cannot do without is not left out: the same words again are the answer.
	m, got = answering(t, openai.Options{}, 0, refuses(400, failureOf("invalid_request_error", "max_tokens: unknown")))
	if _, err := localtest.Collect(t.Context(), m, localtest.Hello()); err == nil || len(*got) != 1 {
		t.Errorf("%d requests, %v", len(*got), err)
	}
}
