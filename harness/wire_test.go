package harness

import (
	"encoding/json"
	"testing"

	"interpreter/local/chat"
)

func TestWireJSON(t *testing.T) {
	req := chat.Request{
		Messages: []chat.Message{
			{Role: chat.System, Text: "S"},
			{Role: chat.User, Text: "look", Images: []chat.Image{{MIME: "image/png", Data: []byte("x")}}},
			{Role: chat.Assistant, Thinking: "hm", Calls: []chat.Call{{ID: "1", Name: "t", Args: json.RawMessage(`{"a" : "<"}`)}}},
			{Role: chat.Tool, Result: &chat.Result{CallID: "1", Name: "t", Text: "a & b"}},
		},
		Tools: []chat.Spec{{Name: "t", Description: "D", Parameters: json.RawMessage(`{"type":"object"}`)}},
	}
	want := `{"messages":[{"role":"system","content":"S"},` +
		`{"role":"user","content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"data:image/png;base64,eA=="}}]},` +
		`{"role":"assistant","reasoning_content":"hm","content":"","tool_calls":[{"id":"1","type":"function","function":{"name":"t","arguments":"{\"a\" : \"<\"}"}}]},` +
		`{"role":"tool","content":"a & b","tool_call_id":"1"}],` +
		`"tools":[{"type":"function","function":{"name":"t","description":"D","parameters":{"type":"object"}}}]}`
	got, err := WireJSON(req)
	if err != nil || string(got) != want {
		t.Errorf("got\n%s\nwant\n%s\n%v", got, want, err)
	}
	s := Stats(req.Messages, req.Tools)
	if s.Total.Bytes != len(want) || s.Total.Tokens != (len(want)+3)/4 {
		t.Errorf("total %+v, the request has %d bytes", s.Total, len(want))
	}
	if s.Instructions.Bytes != len(`{"role":"system","content":"S"}`) {
		t.Errorf("instructions %+v", s.Instructions)
	}
	if parts := s.Instructions.Bytes + s.Context.Bytes + s.Tools.Bytes; parts >= s.Total.Bytes || parts < s.Total.Bytes-40 {
		t.Errorf("the parts have %d bytes, the whole %d", parts, s.Total.Bytes)
	}
	image := chat.Image{MIME: "image/png", Data: []byte("x")}
	looked := chat.Request{Messages: []chat.Message{
		{Role: chat.Tool, Result: &chat.Result{CallID: "1", Name: "view_image", Text: "image attached below: a.png"}, Images: []chat.Image{image}},
		{Role: chat.Tool, Result: &chat.Result{CallID: "2", Name: "t", Text: "b"}},
		{Role: chat.Assistant, Text: "seen"},
	}}
	want = `{"messages":[{"role":"tool","content":"image attached below: a.png","tool_call_id":"1"},{"role":"tool","content":"b","tool_call_id":"2"},` +
		`{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,eA=="}}]},{"role":"assistant","content":"seen"}]}`
	if got, err := WireJSON(looked); err != nil || string(got) != want {
		t.Errorf("a picture in a result: got\n%s\nwant\n%s\n%v", got, want, err)
	}
	if empty, err := WireJSON(chat.Request{}); err != nil || string(empty) != `{"messages":[]}` {
		t.Errorf("an empty request is %s, %v", empty, err)
	}
}
