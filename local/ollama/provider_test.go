package ollama

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
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

// serve is an Ollama server in a state; chat calls with messages go to answer.
func serve(s localtest.State, answer http.Handler) http.Handler {
	window := s.Window
	mux := http.NewServeMux()
	reply := func(w http.ResponseWriter, value any) { json.NewEncoder(w).Encode(value) }
	mux.HandleFunc("GET /api/version", func(w http.ResponseWriter, r *http.Request) {
		reply(w, map[string]any{"version": s.Version})
	})
	mux.HandleFunc("GET /api/tags", func(w http.ResponseWriter, r *http.Request) {
		reply(w, map[string]any{"models": []any{map[string]any{
			"name": s.Model.Name, "model": s.Model.Name, "size": s.Model.Size, "digest": s.Model.Digest,
			"modified_at": "2026-08-01T10:00:00.5+02:00", "details": map[string]any{"family": "llama", "parameter_size": "1M"},
		}}})
	})
	mux.HandleFunc("POST /api/show", func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Model string }
		json.NewDecoder(r.Body).Decode(&in)
		if !local.SameModel(in.Model, s.Model.Name) {
			w.WriteHeader(404)
			reply(w, map[string]any{"error": fmt.Sprintf("model '%s' not found", in.Model)})
			return
		}
		reply(w, map[string]any{
			"template": "{{ .Prompt }}", "capabilities": s.Model.Capabilities, "details": map[string]any{"family": "llama"},
			"model_info": map[string]any{"general.architecture": s.Model.Architecture, s.Model.Architecture + ".context_length": s.Model.Trained},
		})
	})
	mux.HandleFunc("GET /api/ps", func(w http.ResponseWriter, r *http.Request) {
		models := []any{}
		if window > 0 {
			models = append(models, map[string]any{"name": s.Model.Name, "digest": s.Model.Digest, "size": 3 << 20, "context_length": window})
		}
		reply(w, map[string]any{"models": models})
	})
	mux.HandleFunc("POST /api/chat", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var in struct {
			Messages []json.RawMessage
			Options  struct {
				NumCtx int `json:"num_ctx"`
			}
		}
		if err := json.Unmarshal(body, &in); err != nil {
			w.WriteHeader(400)
			reply(w, map[string]any{"error": err.Error()})
			return
		}
		if len(in.Messages) == 0 {
			window = in.Options.NumCtx
			io.WriteString(w, `{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"load"}`)
			return
		}
		answer.ServeHTTP(w, r)
	})
	return mux
}

var wire = localtest.Wire{
	New: func(base string, first, idle time.Duration) local.Provider {
		p, err := New(base, Options{First: first, Idle: idle})
		if err != nil {
			panic(err)
		}
		return p
	},
	Serve: serve,
	Type:  "application/x-ndjson",
	Text: func(s string) string {
		return `{"model":"m","created_at":"2026-08-01T10:00:00Z","message":{"role":"assistant","content":` + quote(s) + `},"done":false}` + "\n"
	},
	Thinking: func(s string) string {
		return `{"model":"m","message":{"role":"assistant","content":"","thinking":` + quote(s) + `},"done":false}` + "\n"
	},
	Calls: func(calls ...chat.Call) string {
		text := `{"model":"m","message":{"role":"assistant","content":"","tool_calls":[`
		for i, c := range calls {
			if i > 0 {
				text += ","
			}
			id := ""
			if c.ID != "" {
				id = `"id":` + quote(c.ID) + ","
			}
			text += fmt.Sprintf(`{%s"function":{"index":%d,"name":%s,"arguments":%s}}`, id, i, quote(c.Name), c.Args)
		}
		return text + `]},"done":false}` + "\n"
	},
	End: func(f chat.Finish, input, output int) string {
		return fmt.Sprintf(`{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":%q,"total_duration":9,"prompt_eval_count":%d,"eval_count":%d,"eval_duration":5}`+"\n", string(f), input, output)
	},
	Fault:   func(text string) string { return `{"error":` + quote(text) + `}` + "\n" },
	Refusal: func(text string) string { return `{"error":` + quote(text) + `}` },
	Overflow: func(prompt, window int) string {
		return fmt.Sprintf(`{"error":"Cannot truncate prompt with n_keep (%d) >= n_ctx (%d)"}`, prompt, window)
	},
	Missing: func(model string) string {
		return `{"error":` + quote(`model "`+model+`" not found, try pulling it first`) + `}`
	},
}

func TestProvider(t *testing.T) { localtest.TestProvider(t, wire) }
