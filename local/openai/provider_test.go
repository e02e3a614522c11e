package openai

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"interpreter/local"
	"interpreter/local/chat"
	"interpreter/local/localtest"
)

func quote(text string) string { return string(local.AppendJSON(nil, text)) }

func newProvider(t testing.TB, base string, o Options) *Provider {
	t.Helper()
	p, err := New(base, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func reply(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(value)
}

type object = map[string]any

// serve is a llama.cpp server in a state.
func serve(s localtest.State, answer http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, r *http.Request) {
		reply(w, 200, object{"object": "list", "data": []any{object{
			"id": s.Model.Name, "object": "model", "owned_by": "llamacpp",
			"meta": object{"n_ctx_train": s.Model.Trained, "n_params": 30.5e9, "size": s.Model.Size},
		}}})
	})
	mux.HandleFunc("GET /props", func(w http.ResponseWriter, r *http.Request) {
		template := "{{ messages }}"
		if s.Model.Can("tools") {
			template += "{% if tools %}{{ tools }}{% endif %}{{ reasoning_content }}"
		}
		reply(w, 200, object{
			"default_generation_settings": object{"n_ctx": s.Window}, "total_slots": 1, "chat_template": template,
			"build_info": s.Version, "modalities": object{"vision": false},
		})
	})
	mux.Handle("POST /v1/chat/completions", answer)
	return mux
}

// event is one event that carries a choice.
func chunkOf(delta, finish string) string {
	return `data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":` + delta + `,"finish_reason":` + finish + "}]}\n\n"
}

// fragments is calls as servers send them: the head with the first half of the arguments, then the rest.
func fragments(calls ...chat.Call) string {
	var text strings.Builder
	for i, c := range calls {
		id := ""
		if c.ID != "" {
			id = `"id":` + quote(c.ID) + ","
		}
		args := []rune(string(c.Args))
		half := len(args) / 2
		text.WriteString(chunkOf(fmt.Sprintf(`{"tool_calls":[{"index":%d,%s"type":"function","function":{"name":%s,"arguments":%s}}]}`,
			i, id, quote(c.Name), quote(string(args[:half]))), "null"))
		text.WriteString(chunkOf(fmt.Sprintf(`{"tool_calls":[{"index":%d,"function":{"arguments":%s}}]}`, i, quote(string(args[half:]))), "null"))
	}
	return text.String()
}

var wire = localtest.Wire{
	New: func(base string, first, idle time.Duration) local.Provider {
		p, err := New(base, Options{First: first, Idle: idle})
		if err != nil {
			panic(err)
		}
		return p
	},
	Serve:    serve,
	Type:     "text/event-stream",
	Text:     func(s string) string { return chunkOf(`{"content":`+quote(s)+`}`, "null") },
	Thinking: func(s string) string { return chunkOf(`{"reasoning_content":`+quote(s)+`}`, "null") },
	Calls:    fragments,
	End: func(f chat.Finish, input, output int) string {
		return chunkOf("{}", quote(string(f))) + fmt.Sprintf("data: {\"choices\":[],\"usage\":{\"prompt_tokens\":%d,\"completion_tokens\":%d}}\n\ndata: [DONE]\n\n", input, output)
	},
	Fault: func(text string) string {
		return `data: {"error":{"message":` + quote(text) + `,"type":"api_error"}}` + "\n\n"
	},
	Refusal: func(text string) string { return `{"error":{"message":` + quote(text) + `}}` },
	Overflow: func(prompt, window int) string {
		return fmt.Sprintf(`{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_prompt_tokens":%d,"n_ctx":%d}}`, prompt, window)
	},
	Missing: func(model string) string {
		return `{"object":"error","message":` + quote("The model `"+model+"` does not exist.") + `,"type":"NotFoundError","param":null,"code":404}`
	},
}

func TestProvider(t *testing.T) { localtest.TestProvider(t, wire) }
