package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"

	"interpreter/harness"
	"interpreter/local"
	"interpreter/local/chat"
	"interpreter/local/messages"
	"interpreter/local/ollama"
	"interpreter/local/openai"
	"interpreter/local/responses"
)

// wire is a way to write requests, by the provider that does it.
type wire struct {
	name  string
	list  string // member that holds the conversation
	model chat.Model
}

// wires are the ways that a harness can be presented on, and the body that was sent last.
func wires(t *testing.T, h harness.Harness, window int) (all []wire, last func() []byte) {
	t.Helper()
	bodies := make(chan []byte, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		bodies <- body
		io.WriteString(w, map[string]string{
			"/api/chat":            `{"message":{"role":"assistant","content":"x"},"done":true,"done_reason":"stop"}` + "\n",
			"/v1/chat/completions": `data: {"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n",
			"/v1/messages":         "event: content_block_delta\ndata: " + `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}}` + "\n\n",
			"/v1/responses":        "event: response.output_text.delta\ndata: " + `{"type":"response.output_text.delta","item_id":"1","output_index":0,"content_index":0,"delta":"x"}` + "\n\n",
		}[r.URL.Path])
	}))
	t.Cleanup(server.Close)
	info := local.ModelInfo{Name: "m", Capabilities: []string{"completion", "tools", "vision", "thinking"}}
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	native, err := ollama.New(server.URL, ollama.Options{})
	must(err)
	loaded, err := native.Load(context.Background(), info, local.Loading{Window: window, Remote: true})
	must(err)
	completions, err := openai.New(server.URL, openai.Options{})
	must(err)
	items, err := responses.New(server.URL, openai.Options{})
	must(err)
	blocks, err := messages.New(server.URL, openai.Options{})
	must(err)
	for _, w := range []wire{
		{"ollama", "messages", loaded}, {"chat", "messages", completions.Chat(info, "m", window)},
		{"responses", "input", items.Chat(info, "m", window)}, {"messages", "messages", blocks.Chat(info, "m", window)},
	} {
		if h.Speaks(w.name) == nil {
			all = append(all, w)
		}
	}
	return all, func() []byte { return <-bodies }
}

// body is a request as a wire writes it.
type body struct {
	begin []byte         // all until the end of the conversation, but what closes its last part
	tools []byte         // as they are
	rest  map[string]any // what else there is and must not change
}

// written has a wire write a request.
func (w wire) written(t *testing.T, req chat.Request, last func() []byte) body {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for _, err := range w.model.Stream(ctx, req) {
		if err != nil {
			t.Fatalf("%s: %v", w.name, err)
		}
		break
	}
	raw := last()
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		t.Fatalf("%s: %v in %s", w.name, err, raw)
	}
	list := append([]byte(`"`+w.list+`":`), members[w.list]...)
	at := bytes.Index(raw, list)
	if at < 0 || len(members[w.list]) < 2 {
		t.Fatalf("%s: no %s in %s", w.name, w.list, raw)
	}
	end := at + len(list) - len("]")
	if w.name == "messages" && bytes.HasSuffix(raw[:end], []byte("]}")) { // the user may go on speaking
		end -= len("]}")
	}
	out := body{begin: raw[:end], tools: members["tools"], rest: map[string]any{}}
	delete(members, w.list)
	delete(members, "tools")
	for name, value := range members {
		var v any
		if err := json.Unmarshal(value, &v); err != nil {
			t.Fatal(err)
		}
		if options, ok := v.(map[string]any); ok && name == "options" {
			delete(options, "num_predict")
		}
		if name != "max_tokens" && name != "max_output_tokens" { // how long an answer may be is no part of the prompt
			out.rest[name] = v
		}
	}
	return out
}

// checkBodies holds the requests to the prefix law as the bytes that each wire makes of them, and counts the bodies.
// opening is what must stay when the conversation is replaced.
func checkBodies(t *testing.T, h harness.Harness, opening []chat.Message, tools []chat.Spec, asked []asking) int {
	t.Helper()
	n := 0
	all, last := wires(t, h, asked[0].Window)
	for _, w := range all {
		opened := asked[0].Request
		opened.Messages, opened.Tools = opening, tools
		begin := w.written(t, opened, last)
		prefix := begin
		for i, r := range asked {
			now := w.written(t, r.Request, last)
			n++
			switch {
			case !bytes.HasPrefix(now.begin, prefix.begin):
				t.Errorf("%s: body %d rewrites what was sent: %s", w.name, i, apart(prefix.begin, now.begin))
			case !bytes.HasPrefix(now.begin, begin.begin):
				t.Errorf("%s: body %d has another opening", w.name, i)
			case !bytes.Equal(now.tools, begin.tools):
				t.Errorf("%s: body %d has other tools", w.name, i)
			case !reflect.DeepEqual(now.rest, begin.rest):
				t.Errorf("%s: body %d asks with other settings: %v, before %v", w.name, i, now.rest, begin.rest)
			}
			if prefix = now; r.summary {
				prefix = begin
			}
		}
	}
	return n
}
