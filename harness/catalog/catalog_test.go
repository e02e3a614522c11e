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
	if err == nil || !strings.Contains(err.Error(), "native, qwen-code, minimal") {
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
		{Model{Name: "deepseek-r1:8b"}, "native", "claude-code-bare"},
		{Model{Name: "claude-merge-qwen"}, "native", "claude-code;"},
		{Model{Name: "kimi-k2"}, "native", "kimi-code"},
		{Model{Name: "glm-4.7-flash"}, "native", "zcode"},
		{Model{Name: "zai-org/GLM-4.5"}, "native", "zcode"},
		{Model{Name: "gpt-oss:20b"}, "native", "no rule"},
		{Model{Name: "devstral", Provider: "ollama", Architecture: "llama"}, "native", "no rule"},
		{Model{Name: "my-model", Architecture: "qwen3moe"}, "qwen-code", "architecture is qwen3moe"},
		{Model{Name: "kimi-thing", Architecture: "qwen3"}, "native", "kimi-code"},
		{Model{Name: "x", Wire: "messages"}, "native", "messages"},
		{Model{Name: "x", BaseURL: "https://dashscope.aliyuncs.com/compatible-mode/v1"}, "qwen-code", "base URL"},
		{Model{Name: "x", ProviderName: "Qwen Cloud"}, "qwen-code", "provider name contains qwen"},
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
