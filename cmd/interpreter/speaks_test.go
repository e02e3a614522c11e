package main

import (
	"slices"
	"strings"
	"testing"

	"interpreter/cmd/config"
	"interpreter/harness"
	"interpreter/harness/catalog"
	"interpreter/local"
)

// Every harness goes with every wire, but for messages: there only those that are made for it do.
func TestSpeaks(t *testing.T) {
	made := []string{"claude-code", "claude-code-bare", "zcode"}
	base := map[string]config.ModelProvider{
		"c": {BaseURL: "http://localhost:1", WireAPI: "chat"}, "r": {BaseURL: "http://localhost:1", WireAPI: "responses"},
		"m": {BaseURL: "http://localhost:1", WireAPI: "messages"}, "far": {BaseURL: "https://models.example.com"},
	}
	wires := map[string]string{"ollama": "ollama", "lmstudio": "chat", "c": "chat", "r": "responses", "m": "messages", "far": "responses", "nobody": ""}
	for _, forced := range []bool{false, true} {
		s := settings{Config: config.Config{ModelProviders: base}, chatWire: forced}
		for provider, wire := range wires {
			if forced && wire != "ollama" && wire != "" {
				wire = "chat"
			}
			if got := s.wireOf(provider); got != wire {
				t.Errorf("%s speaks %q, want %q", provider, got, wire)
			}
			for _, h := range catalog.All() {
				id, _, _ := strings.Cut(h.Name, "@")
				err := s.speaks(h, provider)
				if want := wire == "messages" && !slices.Contains(made, id); (err != nil) != want {
					t.Errorf("%s on %s: %v", h.Name, wire, err)
				}
				if err == nil {
					continue
				}
				if text := err.Error(); !strings.Contains(text, "harness "+h.Name+" ") || !strings.Contains(text, "messages wire") || !strings.Contains(text, provider) {
					t.Errorf("%s: %v", h.Name, err)
				}
				for _, other := range catalog.All() {
					if other.Messages && !strings.Contains(remedyOf(err), other.Name) {
						t.Errorf("%s: the remedy %q does not name %s", h.Name, remedyOf(err), other.Name)
					}
				}
			}
		}
	}
}

// Without a word about the harness, one is picked that goes with the wire.
func TestPickedForWire(t *testing.T) {
	if !slices.ContainsFunc(catalog.All(), func(h harness.Harness) bool { return h.Suits.Wire == "messages" }) {
		t.Skip("no harness is picked by the messages wire")
	}
	s := settings{Config: config.Config{ModelProviders: map[string]config.ModelProvider{"m": {BaseURL: "http://localhost:1", WireAPI: "messages"}}}}
	for _, model := range []string{"", "qwen3-coder:30b", "kimi-k2", "glm-4.7", "gpt-oss:20b", "deepseek-v3"} {
		h, why, err := s.harness(local.ModelInfo{Name: model, Provider: "m"}, "http://localhost:1", earlier{})
		if err != nil || !h.Messages {
			t.Errorf("%s: %s (%s), %v", model, h.Name, why, err)
		}
	}
}

// The key of the environment is where the messages wire has it; what a person wrote as a header stays.
func TestKeyed(t *testing.T) {
	w := world{env: func(name string) string { return map[string]string{"KEY": "k3y"}[name] }}
	for name, test := range map[string]struct {
		entry                 config.ModelProvider
		apiKey, authorization string
	}{
		"nothing":               {config.ModelProvider{BaseURL: "http://localhost:1"}, "", ""},
		"a server of one's own": {config.ModelProvider{BaseURL: "http://localhost:1", EnvKey: "KEY"}, "k3y", "Bearer k3y"},
		"a hosted one":          {config.ModelProvider{BaseURL: "https://models.example.com", EnvKey: "KEY"}, "k3y", ""},
		"a token":               {config.ModelProvider{BaseURL: "https://models.example.com", ExperimentalBearerToken: "t"}, "", "Bearer t"},
		"a header":              {config.ModelProvider{BaseURL: "https://models.example.com", EnvKey: "KEY", HTTPHeaders: map[string]string{"x-api-key": "mine"}}, "mine", "Bearer k3y"},
	} {
		header, err := gate(w, "m", test.entry)
		if err != nil {
			t.Fatal(err)
		}
		got := keyed(header, test.entry)
		if got.Get("X-Api-Key") != test.apiKey || got.Get("Authorization") != test.authorization {
			t.Errorf("%s: %v", name, got)
		}
	}
}
