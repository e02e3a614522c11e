// Package catalog is the one list of harnesses, and the rule that picks one for a model. A new harness is a folder
// and a line in All.
package catalog

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"interpreter/harness"
	"interpreter/harness/minimal"
	"interpreter/harness/native"
	"interpreter/harness/qwencode"
)

// All lists the harnesses in the order they are shown.
func All() []harness.Harness {
	return []harness.Harness{native.Harness, qwencode.Harness, minimal.Harness}
}

// Named finds a harness by its id. "" means native.
func Named(id string) (harness.Harness, error) {
	if id == "" {
		return native.Harness, nil
	}
	var ids []string
	for _, h := range All() {
		if h.Name == id {
			return h, nil
		}
		ids = append(ids, h.Name)
	}
	return harness.Harness{}, fmt.Errorf("harness %q: not known; there are %s", id, strings.Join(ids, ", "))
}

// Model is what is known of a model when its harness is chosen. Unknown is "".
type Model struct {
	Name         string // as asked for: an id, a tag or the path of a file
	Provider     string // id
	ProviderName string
	BaseURL      string
	Architecture string // general.architecture
	Template     string
	Wire         string // "chat", "responses", "messages"
}

// rule chooses a harness. Patterns of models are globs over the lower-cased name; the rest are plain substrings. A
// harness that exists brings its own patterns.
type rule struct {
	id        string
	models    []string
	providers []string // of id or display name
	urls      []string
	archs     []string // beginnings
	wire      string
}

// rules are tried in order, the first hit wins. Names and servers come first, architectures only when all of those
// are silent.
var rules = []rule{
	{id: "claude-code", models: []string{"*anthropic/*", "*claude*"}, providers: []string{"anthropic"}, urls: []string{"api.anthropic.com"}, wire: "messages"},
	{id: "kimi-code", models: []string{"*kimi*", "*moonshot*"}, providers: []string{"kimi", "moonshot"}, urls: []string{"api.kimi.com", "api.moonshot.ai", "api.moonshot.cn"}},
	{id: "qwen-code", providers: []string{"qwen", "dashscope"}, urls: []string{"dashscope.aliyuncs.com/compatible-mode", "dashscope-intl.aliyuncs.com/compatible-mode"}, archs: []string{"qwen"}},
	{id: "claude-code-bare", models: []string{"*deepseek*"}, providers: []string{"deepseek"}, urls: []string{"api.deepseek.com"}, archs: []string{"deepseek"}},
	{id: "zcode", models: []string{"glm*", "*/glm*"}, providers: []string{"zai", "zhipu"}, archs: []string{"glm", "chatglm"}},
}

// For picks the harness for a model and says why. A rule for a harness that is not built yet falls through to native.
func For(m Model) (h harness.Harness, why string) {
	for _, match := range []func(rule, Model) string{rule.named, rule.built} {
		for _, r := range rules {
			why := match(r, m)
			if why == "" {
				continue
			}
			if i := index(r.id); i >= 0 {
				return All()[i], why
			}
			return native.Harness, fmt.Sprintf("%s, which asks for %s; that harness is not built in, so native", why, r.id)
		}
	}
	return native.Harness, "no rule matches this model"
}

func index(id string) int {
	return slices.IndexFunc(All(), func(h harness.Harness) bool { return h.Name == id })
}

// named matches what a model or its server is called.
func (r rule) named(m Model) string {
	if r.wire != "" && m.Wire == r.wire {
		return "the provider speaks the " + r.wire + " wire"
	}
	patterns := r.models
	if i := index(r.id); i >= 0 {
		patterns = All()[i].Models
	}
	name := Normal(m.Name)
	for _, p := range patterns {
		if glob(p, name) || glob(p, name[strings.LastIndexByte(name, '/')+1:]) {
			return says("model name", p)
		}
	}
	for _, p := range r.providers {
		switch {
		case strings.Contains(strings.ToLower(m.Provider), p):
			return "provider contains " + p
		case strings.Contains(strings.ToLower(m.ProviderName), p):
			return "provider name contains " + p
		}
	}
	for _, u := range r.urls {
		if strings.Contains(strings.ToLower(m.BaseURL), u) {
			return "base URL contains " + u
		}
	}
	return ""
}

// built matches how a model is made, for files that were given another name.
func (r rule) built(m Model) string {
	for _, a := range r.archs {
		if strings.HasPrefix(strings.ToLower(m.Architecture), a) {
			return "architecture is " + m.Architecture
		}
	}
	return ""
}

func says(what, pattern string) string {
	word := strings.Trim(pattern, "*/")
	if strings.HasPrefix(pattern, "*") && !strings.HasPrefix(pattern, "*/") {
		return what + " contains " + word
	}
	return what + " starts with " + word
}

// glob matches a pattern whose only special letter is *.
func glob(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	if !strings.HasPrefix(text, parts[0]) {
		return false
	}
	text = text[len(parts[0]):]
	for i, part := range parts[1:] {
		if i == len(parts)-2 && part != "" {
			return strings.HasSuffix(text, part)
		}
		at := strings.Index(text, part)
		if at < 0 {
			return false
		}
		text = text[at+len(part):]
	}
	return len(parts) > 1 || text == ""
}

// Normal is a model's name as rules look at it: lower case; of a file only the base name, without its extension and
// its quantisation.
func Normal(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	slashed := strings.ReplaceAll(name, `\`, "/")
	isFile := slashed != name || strings.HasPrefix(slashed, "/") || strings.HasPrefix(slashed, "./") || strings.HasPrefix(slashed, "~")
	for _, ext := range []string{".gguf", ".safetensors", ".bin"} {
		if base, ok := strings.CutSuffix(slashed, ext); ok {
			slashed, isFile = base, true
		}
	}
	if isFile {
		slashed = path.Base(slashed)
	}
	cut := strings.FieldsFunc(slashed, func(c rune) bool { return c == '-' || c == '.' || c == ':' })
	if n := len(cut); n > 1 && quantised(cut[n-1]) {
		slashed = strings.TrimRight(strings.TrimSuffix(slashed, cut[n-1]), "-.:")
	}
	return slashed
}

// quantised reports words such as q4_k_m, iq3_xs, f16, fp8, mxfp4, int4, awq.
func quantised(word string) bool {
	switch word {
	case "f16", "bf16", "f32", "fp16", "fp8", "mxfp4", "nvfp4", "awq", "gptq", "int4", "int8", "4bit", "8bit":
		return true
	}
	rest := strings.TrimPrefix(strings.TrimPrefix(word, "i"), "q")
	return rest != word && rest != strings.TrimPrefix(word, "i") && rest != "" && rest[0] >= '1' && rest[0] <= '8' && (len(rest) == 1 || rest[1] == '_')
}
