package messages

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"interpreter/local"
	"interpreter/local/chat"
	"interpreter/local/localtest"
	"interpreter/local/openai"
)

func quote(text string) string { return string(local.AppendJSON(nil, text)) }

func newProvider(t testing.TB, base string, o openai.Options) *Provider {
	t.Helper()
	p, err := New(base, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func reply(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(value)
}

type object = map[string]any

// serve is a llama.cpp server in a state: it lists and tells as on its other wires.
func serve(s localtest.State, answer http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, r *http.Request) {
		reply(w, object{"object": "list", "data": []any{object{
			"id": s.Model.Name, "object": "model", "owned_by": "llamacpp", "meta": object{"n_ctx_train": s.Model.Trained, "size": s.Model.Size},
		}}})
	})
	mux.HandleFunc("GET /props", func(w http.ResponseWriter, r *http.Request) {
		reply(w, object{
			"default_generation_settings": object{"n_ctx": s.Window}, "total_slots": 1, "build_info": s.Version,
			"chat_template": "{{ messages }}{% if tools %}{{ tools }}{% endif %}{{ reasoning_content }}",
		})
	})
	mux.Handle("POST /v1/messages", answer)
	return mux
}

func event1(kind, members string) string {
	if members != "" {
		members = "," + members
	}
	return fmt.Sprintf("event: %s\ndata: {\"type\":%q%s}\n\n", kind, kind, members)
}

// numbers are those of the blocks that the tests make, each greater than the one before it.
var numbers atomic.Int64

// blockOf is a block as servers send it: its head, its pieces, its end.
func blockOf(head string, pieces ...string) string {
	n := numbers.Add(1)
	text := event1("content_block_start", fmt.Sprintf(`"index":%d,"content_block":%s`, n, head))
	for _, p := range pieces {
		text += event1("content_block_delta", fmt.Sprintf(`"index":%d,"delta":%s`, n, p))
	}
	return text + event1("content_block_stop", fmt.Sprintf(`"index":%d`, n))
}

func calls(all ...chat.Call) string {
	var text strings.Builder
	for _, c := range all {
		args := []rune(string(c.Args))
		half := len(args) / 2
		piece := func(s string) string { return `{"type":"input_json_delta","partial_json":` + quote(s) + `}` }
		text.WriteString(blockOf(fmt.Sprintf(`{"type":"tool_use","id":%s,"name":%s,"input":{}}`, quote(c.ID), quote(c.Name)),
			piece(""), piece(string(args[:half])), piece(string(args[half:]))))
	}
	return text.String()
}

func end(f chat.Finish, input, output int) string {
	reason := "end_turn"
	if f == chat.CutShort {
		reason = "max_tokens"
	}
	return event1("message_delta", fmt.Sprintf(`"delta":{"stop_reason":%q,"stop_sequence":null},"usage":{"input_tokens":%d,"output_tokens":%d}`, reason, input, output)) +
		event1("message_stop", "")
}

func failureOf(kind, text string) string {
	return `{"type":"error","error":{"type":"` + kind + `","message":` + quote(text) + `}}`
}

var wire = localtest.Wire{
	New: func(base string, first, idle time.Duration) local.Provider {
		p, err := New(base, openai.Options{First: first, Idle: idle})
		if err != nil {
			panic(err)
		}
		return p
	},
	Serve: serve,
	Type:  "text/event-stream",
	Text: func(s string) string {
		return blockOf(`{"type":"text","text":""}`, `{"type":"text_delta","text":`+quote(s)+`}`)
	},
	Thinking: func(s string) string {
		return blockOf(`{"type":"thinking","thinking":""}`, `{"type":"thinking_delta","thinking":`+quote(s)+`}`)
	},
	Calls:   calls,
	End:     end,
	Fault:   func(text string) string { return "event: error\ndata: " + failureOf("api_error", text) + "\n\n" },
	Refusal: func(text string) string { return failureOf("refused", text) },
	Overflow: func(prompt, window int) string {
		return failureOf("invalid_request_error", fmt.Sprintf("prompt is too long: %d tokens > %d maximum", prompt, window))
	},
	Missing: func(model string) string { return failureOf("not_found_error", "model: "+model) },
}

func TestProvider(t *testing.T) { localtest.TestProvider(t, wire) }

// answering is a model at a server that gives each request its answer in turn, and keeps what it was sent.
func answering(t *testing.T, o openai.Options, window int, answers ...func(http.ResponseWriter)) (chat.Model, *[]received) {
	t.Helper()
	var got []received
	p := newProvider(t, localtest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = append(got, received{r.URL.Path, r.Header, body})
		answers[min(len(got), len(answers))-1](w)
	})), o)
	return p.Chat(local.ModelInfo{Name: "m"}, "m", window), &got
}

type received struct {
	path   string
	header http.Header
	body   []byte
}

func says(text string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) { io.WriteString(w, text) }
}

func refuses(status int, text string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.WriteHeader(status)
		io.WriteString(w, text)
	}
}
