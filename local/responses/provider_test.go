package responses

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
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
	mux.Handle("POST /v1/responses", answer)
	return mux
}

func event1(kind, members string) string {
	if members != "" {
		members = "," + members
	}
	return fmt.Sprintf("event: %s\ndata: {\"type\":%q%s}\n\n", kind, kind, members)
}

func delta(kind, where, text string) string {
	return event1("response."+kind+".delta", where+`"delta":`+quote(text))
}

func callItem(c chat.Call, args string) string {
	return fmt.Sprintf(`"item":{"type":"function_call","id":"fc_%s","call_id":%s,"name":%s,"arguments":%s}`, c.Name, quote(c.ID), quote(c.Name), quote(args))
}

func calls(all ...chat.Call) string {
	var text strings.Builder
	for i, c := range all {
		at := fmt.Sprintf(`"output_index":%d,`, i+2)
		args := []rune(string(c.Args))
		half := len(args) / 2
		text.WriteString(event1("response.output_item.added", at+callItem(c, "")))
		text.WriteString(delta("function_call_arguments", at, string(args[:half])))
		text.WriteString(delta("function_call_arguments", at, string(args[half:])))
		text.WriteString(event1("response.output_item.done", at+callItem(c, string(args))))
	}
	return text.String()
}

func end(f chat.Finish, input, output int) string {
	kind, details := "completed", "null"
	if f == chat.CutShort {
		kind, details = "incomplete", `{"reason":"max_output_tokens"}`
	}
	return event1("response."+kind, fmt.Sprintf(`"response":{"status":%q,"incomplete_details":%s,"error":null,"output":[],"usage":{"input_tokens":%d,"output_tokens":%d}}`, kind, details, input, output))
}

func failureOf(code, text string) string {
	return `{"error":{"message":` + quote(text) + `,"type":"` + code + `","param":null,"code":null}}`
}

var wire = localtest.Wire{
	New: func(base string, first, idle time.Duration) local.Provider {
		p, err := New(base, openai.Options{First: first, Idle: idle})
		if err != nil {
			panic(err)
		}
		return p
	},
	Serve:    serve,
	Type:     "text/event-stream",
	Text:     func(s string) string { return delta("output_text", `"output_index":1,`, s) },
	Thinking: func(s string) string { return delta("reasoning_summary_text", `"output_index":0,`, s) },
	Calls:    calls,
	End:      end,
	Fault: func(text string) string {
		return event1("response.failed", `"response":{"status":"failed","error":{"code":"server_error","message":`+quote(text)+`}}`)
	},
	Refusal: func(text string) string { return failureOf("refused", text) },
	Overflow: func(prompt, window int) string {
		return failureOf("invalid_request_error", fmt.Sprintf("This model's maximum context length is %d tokens. However, your messages resulted in %d tokens.", window, prompt))
	},
	Missing: func(model string) string {
		return failureOf("not_found_error", fmt.Sprintf("model '%s' not found", model))
	},
}

func TestProvider(t *testing.T) { localtest.TestProvider(t, wire) }

// answering is a model at a server that gives each request its answer in turn, and keeps what it was sent.
func answering(t *testing.T, answers ...func(http.ResponseWriter)) (chat.Model, *[][]byte) {
	t.Helper()
	var got [][]byte
	p := newProvider(t, localtest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = append(got, body)
		answers[min(len(got), len(answers))-1](w)
	})), openai.Options{})
	return p.Chat(local.ModelInfo{Name: "m"}, "m", 0), &got
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
