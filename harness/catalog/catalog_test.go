package catalog

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A folder with a Harness must stand in the list.
func TestEveryHarnessIsListed(t *testing.T) {
	named := regexp.MustCompile(`(?s)var Harness = harness\.Harness\{.*?Name:\s+"([^"]+)"`)
	files, err := filepath.Glob("../*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		m := named.FindSubmatch(text)
		if m == nil {
			continue
		}
		found++
		h, err := Named(string(m[1]))
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if folder := filepath.Base(filepath.Dir(file)); folder != strings.ReplaceAll(h.Name, "-", "") {
			t.Errorf("%s is in folder %s", h.Name, folder)
		}
		if h.About == "" {
			t.Errorf("%s has no About", h.Name)
		}
	}
	seen := map[string]bool{}
	for _, h := range All() {
		if base, variant, ok := strings.Cut(h.Name, "@"); ok {
			if _, err := Named(base); err != nil || variant == "" || len(h.Suits.Models) > 0 {
				t.Errorf("%s is a variant of nothing, or is chosen by itself", h.Name)
			}
			found++
		}
		if seen[h.Name] {
			t.Errorf("%s stands in the list twice", h.Name)
		}
		seen[h.Name] = true
	}
	if found != len(All()) {
		t.Errorf("%d harnesses in folders, %d in the list", found, len(All()))
	}
}

func TestNamed(t *testing.T) {
	for id, want := range map[string]string{"": "native", "native": "native", "qwen-code": "qwen-code", "minimal": "minimal"} {
		if h, err := Named(id); err != nil || h.Name != want {
			t.Errorf("%q is %s, %v", id, h.Name, err)
		}
	}
	_, err := Named("Qwen")
	if err == nil || !strings.Contains(err.Error(), "there are native, ") || !strings.Contains(err.Error(), ", minimal, ") {
		t.Errorf("error %v", err)
	}
}

func TestFor(t *testing.T) {
	for _, tt := range []struct {
		m        Model
		want     string
		whyWords string
	}{
		{Model{Name: "qwen3-coder:30b"}, "qwen-code", "model name contains qwen"},
		{Model{Name: "/models/deepseek/qwen3-coder-30b-a3b-q4_k_m.gguf"}, "qwen-code", "qwen"},
		{Model{Name: `C:\models\Qwen\llama-3.1-8b.Q5_K_M.gguf`}, "native", "no rule"},
		{Model{Name: "hf.co/unsloth/Qwen3-8B-GGUF:Q4_K_M"}, "qwen-code", "qwen"},
		{Model{Name: "QwQ-32B"}, "qwen-code", "starts with qwq"},
		{Model{Name: "library/qwq"}, "qwen-code", "qwq"},
		{Model{Name: "notqwq"}, "native", "no rule"},
		{Model{Name: "deepseek-r1-distill-qwen-32b"}, "qwen-code", "qwen"},
		{Model{Name: "deepseek-r1:8b"}, "claude-code-bare", "contains deepseek"},
		{Model{Name: "deepseek-v3.1:671b", Provider: "ollama", Architecture: "deepseek2"}, "claude-code-bare", "contains deepseek"},
		{Model{Name: "claude-merge-qwen"}, "claude-code", "contains claude"},
		{Model{Name: "openrouter/anthropic/x"}, "claude-code", "contains anthropic"},
		{Model{Name: "kimi-k2"}, "kimi-code", "contains kimi"},
		{Model{Name: "moonshotai/Kimi-K3"}, "kimi-code", "contains kimi"},
		{Model{Name: "glm-4.7-flash"}, "zcode", "starts with glm"},
		{Model{Name: "zai-org/GLM-4.5"}, "zcode", "glm"},
		{Model{Name: "GLM-4.7-Flash-Q4_K_M.gguf", Wire: "chat"}, "zcode", "glm"},
		{Model{Name: "glm-4.6", Wire: "messages"}, "zcode", "glm"},
		{Model{Name: "x", Provider: "zai"}, "zcode", "provider contains zai"},
		{Model{Name: "gpt-oss:20b"}, "native", "no rule"},
		{Model{Name: "devstral", Provider: "ollama", Architecture: "llama"}, "native", "no rule"},
		{Model{Name: "my-model", Architecture: "qwen3moe"}, "qwen-code", "architecture is qwen3moe"},
		{Model{Name: "my-model", Architecture: "deepseek2"}, "claude-code-bare", "architecture is deepseek2"},
		{Model{Name: "my-model", Architecture: "glm4moe"}, "zcode", "architecture is glm4moe"},
		{Model{Name: "my-model", Architecture: "deepseek2", Template: "[gMASK]<sop>{{ .System }}"}, "zcode", "chat template"},
		{Model{Name: "my-model", Architecture: "deepseek2", Template: "<|im_system|>system<|im_middle|><|tool_calls_section_begin|>"}, "kimi-code", "chat template"},
		{Model{Name: "kimi-thing", Architecture: "qwen3"}, "kimi-code", "contains kimi"},
		{Model{Name: "qwen3:8b", Wire: "messages"}, "claude-code", "messages wire"},
		{Model{Name: "x", Wire: "messages"}, "claude-code", "messages wire"},
		{Model{Name: "x", BaseURL: "https://api.moonshot.cn/v1"}, "kimi-code", "base URL"},
		{Model{Name: "x", BaseURL: "https://dashscope.aliyuncs.com/compatible-mode/v1"}, "qwen-code", "base URL"},
		{Model{Name: "x", ProviderName: "Qwen Cloud"}, "qwen-code", "provider name contains qwen"},
		{Model{Name: "gemma4:e4b", Architecture: "gemma4", Listed: "little-coder"}, "little-coder", "catalogue"},
		{Model{Name: "qwen3.5:4b", Listed: "little-coder"}, "qwen-code", "contains qwen"},
		{Model{Name: "x", Listed: "nosuch"}, "native", "no rule"},
		{Model{}, "native", "no rule"},
	} {
		h, why := For(tt.m)
		if h.Name != tt.want || !strings.Contains(why, tt.whyWords) {
			t.Errorf("%+v: %s because %q, want %s because …%s…", tt.m, h.Name, why, tt.want, tt.whyWords)
		}
	}
}

func TestNormal(t *testing.T) {
	for name, want := range map[string]string{
		"/m/Qwen3-Coder-30B-A3B-Q4_K_M.gguf": "qwen3-coder-30b-a3b",
		"llama3.1:8b-instruct-q8_0":          "llama3.1:8b-instruct",
		"gpt-oss:20b":                        "gpt-oss:20b",
		"x-IQ3_XS.gguf":                      "x",
		"org/name-FP8":                       "org/name",
		"qwen2":                              "qwen2",
	} {
		if got := Normal(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
