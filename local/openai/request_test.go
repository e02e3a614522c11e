package openai

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"interpreter/local"
	"interpreter/local/chat"
)

func newModel(t testing.TB, info local.ModelInfo) *model {
	t.Helper()
	return newProvider(t, "http://127.0.0.1:1", Options{}).Chat(info, "served-id", 65536).(*model)
}

var tools = []chat.Spec{
	{Name: "read_file", Description: "Reads <a> & b", Parameters: json.RawMessage(`{"type":"object","properties":{"z":{},"a":{}}}`)},
	{Name: "ls"},
}

// session is a conversation that grows: what a request holds is the beginning of what the next one holds.
var session = []chat.Message{
	{Role: chat.System, Text: "You are <careful> & terse."},
	{Role: chat.System, Text: "Answer in English."},
	{Role: chat.User, Text: "look", Images: []chat.Image{{MIME: "image/png", Data: []byte{1, 2, 3}}}},
	{Role: chat.Assistant, Thinking: "two at once", Text: "on it", Calls: []chat.Call{
		{ID: "x", Name: "read_file", Args: json.RawMessage(`{"z": 1.0,  "a":"<b>"}`)}, {ID: "x", Name: "ls", Args: json.RawMessage(`{}`)},
	}},
	{Role: chat.Tool, Images: []chat.Image{{MIME: "image/jpeg", Data: []byte{9}}}, Result: &chat.Result{CallID: "x", Name: "read_file", Text: "a picture"}},
	{Role: chat.Tool, Result: &chat.Result{CallID: "x", Name: "ls", Text: "b"}},
	{Role: chat.Assistant, Calls: []chat.Call{{ID: "x", Name: "ls", Args: json.RawMessage(`[]`), Raw: "[]"}}},
	{Role: chat.Tool, Result: &chat.Result{CallID: "x", Name: "ls", Text: "c", Failed: true}},
	{Role: chat.Assistant, Text: "done"},
	{Role: chat.User, Text: "more"},
	{Role: chat.System, Text: "a word in passing"},
	{Role: chat.User, Text: "and more"},
}

// complete reports whether a conversation so far could be sent: one that only opens is not.
func complete(messages []chat.Message) bool {
	last := messages[len(messages)-1]
	return last.Role != chat.System || len(messages) > 2
}

// Each request is the last one plus a tail, byte for byte, in every form.
func TestPrefix(t *testing.T) {
	m := newModel(t, local.ModelInfo{Name: "m"})
	for name, f := range map[string]form{
		"plain": {thinking: "reasoning_content"}, "silent": {thinking: "-"}, "folded": {fold: true}, "alternating": {alternate: true},
		"short ids": {short: true}, "plain arguments": {plain: true}, "all": {fold: true, alternate: true, short: true, thinking: "reasoning"},
	} {
		t.Run(name, func(t *testing.T) {
			var before []byte
			for n := 3; n <= len(session); n++ {
				if n == 5 {
					continue // one of two results is missing: never sent
				}
				if !complete(session[:n]) {
					continue
				}
				body := m.encode(chat.Request{Messages: session[:n], Tools: tools}, f)
				if !json.Valid(body) {
					t.Fatalf("no JSON: %s", body)
				}
				end := bytes.Index(body, []byte(`],"tools":[`))
				messages := body[:end]
				if !bytes.HasPrefix(messages, before) {
					t.Fatalf("with %d messages:\n%s\ndoes not begin with\n%s", n, messages, before)
				}
				if again := m.encode(chat.Request{Messages: session[:n], Tools: tools}, f); !bytes.Equal(again, body) {
					t.Fatal("the same request has other bytes")
				}
				before = bytes.Clone(messages)
			}
		})
	}
}

const plainSession = `{"model":"served-id","messages":[` +
	`{"role":"system","content":"You are <careful> & terse.\n\nAnswer in English."},` +
	`{"role":"user","content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AQID"}}]},` +
	`{"role":"assistant","content":"on it","reasoning_content":"two at once","tool_calls":[` +
	`{"id":"x","type":"function","function":{"name":"read_file","arguments":"{\"z\": 1.0,  \"a\":\"<b>\"}"}},` +
	`{"id":"x_2","type":"function","function":{"name":"ls","arguments":"{}"}}]},` +
	`{"role":"tool","content":"a picture","tool_call_id":"x","name":"read_file"},` +
	`{"role":"tool","content":"b","tool_call_id":"x_2","name":"ls"},` +
	`{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,CQ=="}}]},` +
	`{"role":"assistant","content":"","tool_calls":[{"id":"x_3","type":"function","function":{"name":"ls","arguments":"{}"}}]},` +
	`{"role":"tool","content":"c","tool_call_id":"x_3","name":"ls"},` +
	`{"role":"assistant","content":"done"},` +
	`{"role":"user","content":"more"},` +
	`{"role":"user","content":"a word in passing"},` +
	`{"role":"user","content":"and more"}],"tools":[` +
	`{"type":"function","function":{"name":"read_file","description":"Reads <a> & b","parameters":{"type":"object","properties":{"z":{},"a":{}}}}},` +
	`{"type":"function","function":{"name":"ls","description":"","parameters":{"type":"object","properties":{}}}}],` +
	`"parallel_tool_calls":true,"temperature":0,"top_p":0.9,"top_k":20,"min_p":0.05,"repeat_penalty":1.1,"seed":7,"stop":["</s>"],"max_tokens":512,` +
	`"response_format":{"type":"json_schema","json_schema":{"name":"answer","strict":true,"schema":{"type":"object"}}},` +
	`"cache_prompt":true,"stream":true,"stream_options":{"include_usage":true}}`

func TestEncode(t *testing.T) {
	m := newModel(t, local.ModelInfo{Name: "m"})
	got := string(m.encode(chat.Request{
		Messages: session, Tools: tools, Output: 512, Format: json.RawMessage(`{"type":"object"}`), Window: 65536,
		Options: map[string]any{
			"temperature": 0, "top_p": 0.9, "top_k": 20, "min_p": 0.05, "repeat_penalty": 1.1, "seed": 7, "stop": []string{"</s>"},
			"num_ctx": 4096, "num_keep": 4, "mirostat": 1, "num_predict": 9,
		},
		Extra: map[string]any{"cache_prompt": true, "stream": false, "messages": 1, "temperature": 2},
	}, m.shape()))
	if got != plainSession {
		t.Errorf("got  %s\nwant %s", got, plainSession)
	}
}

func TestEffort(t *testing.T) {
	thinks := local.ModelInfo{Name: "m", Capabilities: []string{"completion", "tools", "thinking"}}
	never := local.ModelInfo{Name: "m", Capabilities: []string{"completion", "tools"}}
	for _, test := range []struct {
		info   local.ModelInfo
		effort string
		extra  map[string]any
		want   string
	}{
		{thinks, "", nil, ""},
		{thinks, "low", nil, `"reasoning_effort":"low",`},
		{thinks, "minimal", nil, `"reasoning_effort":"low",`},
		{local.ModelInfo{}, "xhigh", nil, `"reasoning_effort":"high",`},
		{thinks, "none", nil, `"reasoning_effort":"none","chat_template_kwargs":{"enable_thinking":false},`},
		{thinks, "none", map[string]any{"chat_template_kwargs": map[string]any{"preserve_thinking": true}},
			`"reasoning_effort":"none","chat_template_kwargs":{"enable_thinking":false,"preserve_thinking":true},`},
		{thinks, "high", map[string]any{"chat_template_kwargs": map[string]any{"preserve_thinking": true}},
			`"reasoning_effort":"high","chat_template_kwargs":{"preserve_thinking":true},`},
		{never, "high", nil, ""},
		{never, "none", nil, ""},
	} {
		m := newModel(t, test.info)
		got := string(m.encode(chat.Request{Effort: test.effort, Extra: test.extra}, m.shape()))
		want := `{"model":"served-id","messages":[],` + test.want + `"stream":true,"stream_options":{"include_usage":true}}`
		if got != want {
			t.Errorf("%q: got  %s\nwant %s", test.effort, got, want)
		}
		if kwargs, ok := test.extra["chat_template_kwargs"].(map[string]any); ok && len(kwargs) != 1 {
			t.Errorf("the request was changed: %v", test.extra)
		}
	}
}

// vLLM has its own name for one of the options.
func TestKindOfServer(t *testing.T) {
	m := newModel(t, local.ModelInfo{})
	m.provider.kind.Store("vllm")
	if got := string(m.encode(chat.Request{Options: map[string]any{"repeat_penalty": 1.1}}, m.shape())); !strings.Contains(got, `"repetition_penalty":1.1`) {
		t.Errorf("got %s", got)
	}
}

// Strict templates: roles take turns, no system role, ids of nine letters.
func TestForms(t *testing.T) {
	messages := encoded(t, session, form{alternate: true, fold: true, short: true})
	spoke := ""
	ids := map[string]string{}
	for _, m := range messages {
		if m.Role == "system" {
			t.Errorf("a system message: %+v", m)
		}
		if m.Role == "user" || m.Role == "assistant" && len(m.Calls) == 0 {
			if m.Role == spoke {
				t.Errorf("two of %s in a row: %+v", m.Role, m)
			}
			spoke = m.Role
		}
		for _, c := range m.Calls {
			if len(c.ID) != 9 || ids[c.ID] != "" {
				t.Errorf("id %q", c.ID)
			}
			ids[c.ID] = c.Function.Name
		}
		if m.Role == "tool" && ids[m.CallID] == "" {
			t.Errorf("a result for nobody: %+v", m)
		}
	}
	if first := string(messages[0].Content); !strings.Contains(first, "careful") || !strings.Contains(first, "look") {
		t.Errorf("the instructions are lost: %s", first)
	}
	// A conversation that does not begin with a user keeps its instructions, too.
	for _, rest := range [][]chat.Message{nil, {{Role: chat.Assistant, Text: "hi"}}} {
		got := encoded(t, append([]chat.Message{{Role: chat.System, Text: "S"}}, rest...), form{fold: true})
		if len(got) != 1+len(rest) || got[0].Role != "user" || got[0].text() != "S" {
			t.Errorf("got %+v", got)
		}
	}
}

// Ids that a rewriting could run into stay apart, and a result without a call keeps its own.
func TestIDsOfHistory(t *testing.T) {
	call := func(ids ...string) chat.Message {
		m := chat.Message{Role: chat.Assistant}
		for _, id := range ids {
			m.Calls = append(m.Calls, chat.Call{ID: id, Name: "ls", Args: json.RawMessage("{}")})
		}
		return m
	}
	result := func(id string) chat.Message {
		return chat.Message{Role: chat.Tool, Result: &chat.Result{CallID: id, Name: "ls", Text: "r"}}
	}
	got := encoded(t, []chat.Message{
		call("a"), result("a"), call("a_2"), result("a_2"), call("a"), result("a"), call("", ""), result(""), result(""), call("a"), call("a"), result("a"), result("stray"),
	}, form{})
	var said []string
	for _, m := range got {
		for _, c := range m.Calls {
			said = append(said, c.ID)
		}
		if m.Role == "tool" {
			said = append(said, "="+m.CallID)
		}
	}
	want := []string{"a", "=a", "a_2", "=a_2", "a_3", "=a_3", "call", "call_2", "=call", "=call_2", "a_4", "a_5", "=a_5", "=stray"}
	if !reflect.DeepEqual(said, want) {
		t.Errorf("got  %v\nwant %v", said, want)
	}
}
