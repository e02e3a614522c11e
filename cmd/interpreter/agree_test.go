package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"testing"
	"time"

	"interpreter/harness/catalog"
	"interpreter/local"
	"interpreter/probes"
)

// library is an Ollama server of a version that has one model of a shape, and notes with how large a window it is asked
// to load it. It calls no tools, so that a run ends after it is loaded.
func library(t *testing.T, version, name string, size int64, info map[string]any, can ...string) (string, func() int) {
	t.Helper()
	var lock sync.Mutex
	window := 0
	routes := http.NewServeMux()
	answer := func(w http.ResponseWriter, v any) { json.NewEncoder(w).Encode(v) }
	details := map[string]any{"format": "gguf", "family": info["general.architecture"], "quantization_level": "Q4_K_M"}
	routes.HandleFunc("GET /api/version", func(w http.ResponseWriter, _ *http.Request) { answer(w, map[string]any{"version": version}) })
	routes.HandleFunc("GET /api/tags", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{"models": []any{map[string]any{"name": name, "model": name, "size": size, "digest": "d1", "details": details}}})
	})
	routes.HandleFunc("POST /api/show", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{"details": details, "model_info": info, "capabilities": can, "template": "{{ .Prompt }}"})
	})
	routes.HandleFunc("GET /api/ps", func(w http.ResponseWriter, _ *http.Request) {
		lock.Lock()
		defer lock.Unlock()
		models := []any{}
		if window > 0 {
			models = append(models, map[string]any{"name": name, "digest": "d1", "size": size, "size_vram": size, "context_length": window})
		}
		answer(w, map[string]any{"models": models})
	})
	routes.HandleFunc("POST /api/chat", func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Options struct {
				Window int `json:"num_ctx"`
			}
		}
		json.NewDecoder(r.Body).Decode(&in)
		lock.Lock()
		defer lock.Unlock()
		if window == 0 {
			window = in.Options.Window
		}
		answer(w, map[string]any{"model": name, "message": map[string]any{"role": "assistant", "content": ""}, "done": true, "done_reason": "load"})
	})
	server := httptest.NewServer(routes)
	t.Cleanup(server.Close)
	return server.URL, func() int {
		lock.Lock()
		defer lock.Unlock()
		return window
	}
}

// neighbour is an LM Studio server that has loaded a model, and does not tell where.
func neighbour(t *testing.T, size int64) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/v1/models" {
			fmt.Fprint(w, `{"error":"Unexpected endpoint or method. (GET `+r.URL.Path+`)"}`)
			return
		}
		fmt.Fprintf(w, `{"models":[{"type":"llm","key":"other","architecture":"llama","size_bytes":%d,"max_context_length":131072,"format":"gguf",`+
			`"capabilities":{"vision":false,"trained_for_tool_use":true},"loaded_instances":[{"id":"other","config":{"context_length":65536,"parallel":1}}]}]}`, size)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// models list, fit, doctor and a run name the same window and number format for a model that a server has: they know
// its engine, leave room for pictures, give back what that server holds and nothing of another's, and correct by what
// was measured.
func TestFitsAgree(t *testing.T) {
	const gib = int64(1) << 30
	card := func(total int64) probes.Machine {
		return probes.Machine{
			OS: "linux", Arch: "amd64", Cores: 16, RAM: probes.Memory{Physical: 64 * gib, Total: 64 * gib, Available: 50 * gib},
			CPU:  probes.CPU{Bandwidth: 60},
			GPUs: []probes.GPU{{Name: "card", Vendor: "nvidia", Total: total, Free: total - gib/2, Bandwidth: 900, Compute: "8.9"}},
		}
	}
	coder := map[string]any{
		"general.architecture": "qwen3moe", "qwen3moe.context_length": 262144, "qwen3moe.block_count": 48, "qwen3moe.embedding_length": 2048,
		"qwen3moe.attention.head_count": 32, "qwen3moe.attention.head_count_kv": 4, "qwen3moe.attention.key_length": 128, "qwen3moe.attention.value_length": 128,
		"qwen3moe.vocab_size": 151936,
	}
	dense := map[string]any{
		"general.architecture": "mistral3", "mistral3.context_length": 262144, "mistral3.block_count": 34, "mistral3.embedding_length": 4096,
		"mistral3.attention.head_count": 32, "mistral3.attention.head_count_kv": 8, "mistral3.attention.key_length": 128, "mistral3.attention.value_length": 128,
		"mistral3.vocab_size": 131072,
	}
	for _, test := range []struct {
		name, version string
		machine       probes.Machine
		model         string
		size          int64
		info          map[string]any
		can           []string
		config, loads string
		kv            string
		window        int
	}{
		{"a new server", "0.31.0", card(32 * gib), "coder:30b", 18 * gib, coder, []string{"completion", "tools"}, "", "", "f16", 65536},
		{"q8_0", "0.31.0", card(32 * gib), "coder:30b", 18 * gib, coder, []string{"completion", "tools"}, "local_kv_cache_type = \"q8_0\"\n", "", "q8_0", 131072},
		{"pictures", "0.31.0", card(24 * gib), "seer:8b", 5 * gib, dense, []string{"completion", "tools", "vision"}, "", "", "f16", 65536},
		{"an old engine without flash attention", "0.13.0", card(24 * gib), "seer:8b", 5 * gib, dense, []string{"completion", "tools"}, "", "", "f16", 65536},
		{"a window that was said", "0.31.0", card(32 * gib), "coder:30b", 18 * gib, coder, []string{"completion", "tools"}, "model_context_window = 73728\n", "", "f16", 73728},
		{"what was measured", "0.31.0", card(40 * gib), "coder:30b", 18 * gib, coder, []string{"completion", "tools"}, "", `{"version":1,"loads":[],"ratios":{"ollama 0.31.0 qwen3moe":1.25}}`, "f16", 98304},
	} {
		t.Run(test.name, func(t *testing.T) {
			address, loaded := library(t, test.version, test.model, test.size, test.info, test.can...)
			lmstudio := neighbour(t, 9*gib)
			machine := test.machine
			machine.GPUs[0].Free -= 3 * gib // of another's
			home := t.TempDir()
			for file, text := range map[string]string{"config.toml": test.config, "loads.json": test.loads} {
				if text == "" {
					continue
				}
				if err := os.WriteFile(filepath.Join(home, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			env := map[string]string{"INTERPRETER_HOME": home, "OLLAMA_HOST": address}
			said := func(args ...string) string {
				t.Helper()
				nothing, err := os.Open(os.DevNull)
				if err != nil {
					t.Fatal(err)
				}
				defer nothing.Close()
				var out, complaints bytes.Buffer
				w := world{stdin: nothing, stdout: &out, stderr: &complaints, argv0: "interpreter", env: func(name string) string { return env[name] }, lmstudio: lmstudio,
					probe: func(context.Context, probes.Ask) probes.Machine { return machine }}
				w.patience.Sleep = func(ctx context.Context, _ time.Duration) error { return context.Cause(ctx) }
				run(t.Context(), w, args)
				return out.String() + complaints.String()
			}
			var list struct{ Models []listed }
			var fit struct{ Models []answer }
			text := said("models", "list", "--json", "--provider", "ollama")
			if err := json.Unmarshal([]byte(text), &list); err != nil || len(list.Models) != 1 {
				t.Fatalf("%v: %s", err, text)
			}
			text = said("fit", test.model, "--json")
			if err := json.Unmarshal([]byte(text), &fit); err != nil || len(fit.Models) != 1 {
				t.Fatalf("%v: %s", err, text)
			}
			found := regexp.MustCompile(`, (a window of \S+) with keys and values in (\S+):`).FindStringSubmatch(said("doctor", "-m", test.model))
			ran := said("exec", "-m", test.model, "--skip-git-repo-check", "hello")
			window := loaded()
			if fit.Models[0].Window != window || list.Models[0].Window != window || window != test.window || fit.Models[0].KV != test.kv {
				t.Errorf("want %d tokens; a run loads %d, the list says %d, fit %d in %s\n%s\n%s", test.window, window, list.Models[0].Window, fit.Models[0].Window, fit.Models[0].KV, text, ran)
			}
			if len(found) != 3 || found[1] != windowOf(window) || found[2] != test.kv {
				t.Errorf("doctor says %q; a run loads %d", found, window)
			}
			if list.Models[0].Verdict != fit.Models[0].Verdict {
				t.Errorf("listed as %s, fit says %s", list.Models[0].Verdict, fit.Models[0].Verdict)
			}
		})
	}
}

// Every harness that the catalogue of models names is one that exists.
func TestCatalogueNamesHarnesses(t *testing.T) {
	named := 0
	for _, e := range local.Catalogue() {
		if e.Harness == "" {
			continue
		}
		named++
		if _, err := catalog.Named(e.Harness); err != nil {
			t.Errorf("%s: %v", e.Name, err)
		}
	}
	if named < 20 {
		t.Errorf("only %d models name a harness", named)
	}
}
