package ollama

import (
	"context"
	"errors"
	"strings"
	"testing"

	"interpreter/local"
	"interpreter/local/chat"
	"interpreter/local/localtest"
)

// loads has the server load a model and says how that went.
func (p *Provider) loads(ctx context.Context) error {
	_, err := p.Load(ctx, local.ModelInfo{Name: "m:1b"}, local.Loading{Window: 65536})
	return err
}

// collect reads a recorded answer as one of a loaded model.
func collect(t *testing.T, name string) (localtest.Answer, error) {
	t.Helper()
	m := &model{provider: answering(t, name), info: local.ModelInfo{Name: "m:1b"}, window: 65536, how: local.Loading{Window: 65536}}
	return localtest.Collect(t.Context(), m, localtest.Hello())
}

func TestAnswersEraB(t *testing.T) {
	read := func(args string) chat.Call { return chat.Call{Name: "read", Args: []byte(args)} }
	tests := []struct {
		name, text, thinking string
		calls                []chat.Call
		finish               chat.Finish
		input, cached        int
	}{
		{"native-calls", "I look.", "two calls", []chat.Call{read(`{"path":"a.txt"}`)}, chat.Stopped, 618, 0},
		{"native-cached", "I look.", "two calls", []chat.Call{read(`{"path":"a.txt"}`)}, chat.Stopped, 618, 617},
		{"native-next", "Done.", "", nil, chat.Stopped, 765, 617},
		{"native-two-calls", "I look.", "two calls", []chat.Call{read(`{"path":"ü.txt","n":1}`), {Name: "list", Args: []byte("{}")}}, chat.Stopped, 653, 612},
		{"native-length", "I look.", "two calls", nil, chat.CutShort, 618, 617},
		{"native-no-tools", "I look.<tool_call>\n{\"name\": \"read\", \"arguments\": {\"path\":\"a.txt\"}}\n</tool_call>", "two calls", nil, chat.Stopped, 0, 0},
		{"rendered-calls", "I look.", "two calls", []chat.Call{read(`{"path":"a.txt"}`)}, chat.Stopped, 2, 0},
		{"parser-calls", "two calls</think>\n\nI look.", "", []chat.Call{read(`{"path":"ü.txt","n":1}`), {Name: "list", Args: []byte("{}")}}, chat.Stopped, 653, 612},
		{"rendered-length", "", "two calls", nil, chat.CutShort, 2, 1},
	}
	for _, tt := range tests {
		got, err := collect(t, tt.name)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if got.Text != tt.text || got.Thinking != tt.thinking || got.Finish != tt.finish || len(got.Calls) != len(tt.calls) {
			t.Errorf("%s: got %+v", tt.name, got)
			continue
		}
		ids := map[string]bool{}
		for i, c := range got.Calls {
			if c.Name != tt.calls[i].Name || string(c.Args) != string(tt.calls[i].Args) || c.Raw != "" || c.ID == "" || ids[c.ID] {
				t.Errorf("%s: call %+v, want %+v", tt.name, c, tt.calls[i])
			}
			ids[c.ID] = true
		}
		// The count of a prompt includes what was cached, as chat.Usage wants it.
		if u := got.Usage; tt.input > 0 && (u.Input != tt.input || u.CachedInput != tt.cached) || u.Output == 0 || u.Prefill <= 0 {
			t.Errorf("%s: usage %+v, want %d of which %d cached", tt.name, u, tt.input, tt.cached)
		}
	}
}

// Failures as the server puts them, whether before an answer or in the middle of one.
func TestFailuresEraB(t *testing.T) {
	tests := []struct {
		name           string
		kind           chat.Kind
		prompt, window int
		says, remedy   string // parts of each
		crash          bool
	}{
		{name: "missing", kind: chat.Missing, says: "absent:1b", remedy: "ollama pull m:1b"},
		{name: "show-missing", kind: chat.Missing, remedy: "ollama pull"},
		{name: "delete-missing", kind: chat.Missing},
		{name: "bad-name", kind: chat.Invalid, says: "invalid model name"},
		{name: "no-tools", kind: chat.NoTools, remedy: "-m"},
		{name: "no-thinking", kind: chat.NoThinking, remedy: "model_reasoning_effort"},
		{name: "overflow", kind: chat.Overflow, prompt: 21057, window: 4096, says: "the prompt has 21057 tokens, the window holds 4096", remedy: "21057"},
		{name: "overflow-rendered", kind: chat.Overflow, prompt: 15028, window: 65536, remedy: "15028"},
		{name: "overflow-no-shift", kind: chat.Overflow, window: 65536, says: "the window holds 65536", remedy: "model_context_window"},
		{name: "template-refused", kind: chat.Invalid, says: "No user query found"},
		{name: "bad-arguments", kind: chat.Server, says: `invalid tool call arguments for "read"`},
		{name: "fault", kind: chat.Server, says: "Failed to parse input"},
		{name: "crash-inside", kind: chat.Server, says: "GGML_ASSERT", crash: true},
		{name: "crash-before", kind: chat.Server, says: "unexpectedly stopped", crash: true},
		{name: "memory-running", kind: chat.Memory, says: "Compute error. CUDA error: out of memory", remedy: "free memory"},
		{name: "memory-loading", kind: chat.Memory, says: "failed to allocate", remedy: "smaller window"},
		{name: "memory-real", kind: chat.Memory, says: "bad_alloc", remedy: "smaller window"},
		{name: "memory-health", kind: chat.Memory, remedy: "smaller window"},
		{name: "assertion", kind: chat.Server, says: "ggml_can_mul_mat", crash: true},
		{name: "unknown-architecture", kind: chat.Invalid, says: "'novel'", remedy: "update the server"},
		{name: "stall", kind: chat.Idle, remedy: "OLLAMA_LOAD_TIMEOUT"},
		{name: "queue-full", kind: chat.Busy},
		{name: "no-engine", kind: chat.Invalid, remedy: "install ollama again"},
		{name: "cloud-off", kind: chat.Remote, remedy: "local tag"},
		{name: "cloud-show-off", kind: chat.Remote, remedy: "local tag"},
		{name: "signin", kind: chat.Denied, remedy: "name a local one"},
		{name: "paid", kind: chat.Denied, says: "paid plan", remedy: "name a local one"},
		{name: "host-header", kind: chat.Denied, remedy: "127.0.0.1"},
		{name: "remote", kind: chat.Remote, says: "may have left this machine"},
		{name: "repeat", kind: chat.Broken, says: "ended before the answer did"},
	}
	for _, tt := range tests {
		_, err := collect(t, tt.name)
		var e *chat.Error
		if !errors.As(err, &e) {
			t.Errorf("%s: got %v", tt.name, err)
			continue
		}
		if e.Kind != tt.kind || e.Crash != tt.crash || e.Prompt != tt.prompt || e.Window != tt.window || !strings.Contains(e.Error(), tt.says) || !strings.Contains(e.Remedy, tt.remedy) {
			t.Errorf("%s: got %+v: %v", tt.name, *e, err)
		}
		if strings.ContainsAny(e.Error(), "\n\r") || strings.Contains(e.Error(), `{"error"`) {
			t.Errorf("%s is no line for a person: %q", tt.name, e.Error())
		}
		if status := readAnswer(t, tt.name).status; status != 200 && e.Status != status {
			t.Errorf("%s: status %d", tt.name, e.Status)
		}
	}
}

// What is answered to a call that loads is read like an answer: a load that failed is no loaded model.
func TestLoadFailuresEraB(t *testing.T) {
	for name, kind := range map[string]chat.Kind{
		"memory-loading": chat.Memory, "memory-health": chat.Memory, "stall": chat.Idle, "assertion": chat.Server, "queue-full": chat.Busy,
		"unknown-architecture": chat.Invalid, "no-engine": chat.Invalid, "missing": chat.Missing, "remote": chat.Remote, "cloud-off": chat.Remote,
	} {
		var e *chat.Error
		if err := answering(t, name).loads(t.Context()); !errors.As(err, &e) || e.Kind != kind || e.Model != "m:1b" {
			t.Errorf("%s: got %v, want kind %s", name, err, kind)
		}
	}
}

func TestPullEraB(t *testing.T) {
	tests := []struct {
		name, says, remedy string
		kind               chat.Kind
		total              int64
	}{
		{name: "pull", total: 300049},
		{name: "pull-newer", kind: chat.Invalid, says: "requires a newer version", remedy: "update the server"},
		{name: "pull-missing", kind: chat.Missing, remedy: "check the name"},
		{name: "pull-busy", kind: chat.Server, says: "503"},
		{name: "pull-unreachable", kind: chat.Server, says: "connection refused", remedy: "check the network"},
		{name: "pull-damaged", kind: chat.Broken, says: "digest mismatch", remedy: "again"},
	}
	for _, tt := range tests {
		var last local.Progress
		var failure error
		for at, err := range answering(t, tt.name).Pull(t.Context(), "m:1b") {
			if failure = err; err == nil {
				last = at
			}
		}
		if tt.kind == "" {
			if failure != nil || last.Total != tt.total || last.Done != tt.total || last.Kept != tt.total || last.Stage != "success" {
				t.Errorf("%s: got %+v, %v", tt.name, last, failure)
			}
			continue
		}
		var e *chat.Error
		if !errors.As(failure, &e) || e.Kind != tt.kind || !strings.Contains(e.Error(), tt.says) || !strings.Contains(e.Remedy, tt.remedy) || strings.Contains(e.Error(), "\n") {
			t.Errorf("%s: got %v", tt.name, failure)
		}
	}
}
