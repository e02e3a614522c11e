// Package catalog is the one list of harnesses, and the rule that picks one for a model. A new harness is a folder
// and a line in All.
package catalog

import (
	"fmt"
	"path"
	"strings"

	"interpreter/harness"
	"interpreter/harness/claudecode"
	"interpreter/harness/claudecodebare"
	"interpreter/harness/deepseektui"
	"interpreter/harness/kimicli"
	"interpreter/harness/kimicode"
	"interpreter/harness/littlecoder"
	"interpreter/harness/minimal"
	"interpreter/harness/minisweagent"
	"interpreter/harness/native"
	"interpreter/harness/opencode"
	"interpreter/harness/pi"
	"interpreter/harness/qwencode"
	"interpreter/harness/sweagent"
	"interpreter/harness/terminus2"
	"interpreter/harness/zcode"
)

// All lists the harnesses in the order they are shown and tried: a model that several suit gets the first of them.
func All() []harness.Harness {
	return []harness.Harness{
		native.Harness,
		zcode.Harness,
		claudecode.Harness,
		kimicode.Harness,
		qwencode.Harness,
		qwencode.Newer,
		claudecodebare.Harness,
		kimicli.Harness,
		deepseektui.Harness,
		opencode.Harness,
		littlecoder.Harness,
		pi.Harness,
		minimal.Harness,
		minisweagent.Harness,
		minisweagent.Variant,
		sweagent.Harness,
		terminus2.Harness,
	}
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
	Wire         string // "ollama", "chat", "responses", "messages"
	Listed       string // the harness our catalogue of models names; "" when it does not know the model
}

// For picks the harness for a model and says why. Names come first, of the model and of its server; when they are
// silent, what only one family's chat template has; then the architecture; then our catalogue of models. Within each
// the order of All decides, among those that are made for the wire.
func For(m Model) (h harness.Harness, why string) {
	for _, match := range []func(harness.Suits, Model) string{named, marked, built} {
		for _, h := range All() {
			if why := match(h.Suits, m); why != "" && h.Speaks(m.Wire) == nil {
				return h, why
			}
		}
	}
	if h, err := Named(m.Listed); err == nil && m.Listed != "" && h.Speaks(m.Wire) == nil {
		return h, "the catalogue of models says so"
	}
	return native.Harness, "no rule matches this model"
}

// named matches what a model or its server is called.
func named(s harness.Suits, m Model) string {
	if s.Wire != "" && m.Wire == s.Wire {
		return "the provider speaks the " + s.Wire + " wire"
	}
	name := Normal(m.Name)
	for _, p := range s.Models {
		if glob(p, name) || glob(p, name[strings.LastIndexByte(name, '/')+1:]) {
			return says("model name", p)
		}
	}
	for _, p := range s.Vendors {
		switch {
		case strings.Contains(strings.ToLower(m.Provider), p):
			return "provider contains " + p
		case strings.Contains(strings.ToLower(m.ProviderName), p):
			return "provider name contains " + p
		}
	}
	for _, u := range s.Addresses {
		if strings.Contains(strings.ToLower(m.BaseURL), u) {
			return "base URL contains " + u
		}
	}
	return ""
}

// marked matches what a template gives away, for a model that was given another name. It comes before the architecture,
// which families share: GLM and Kimi models are built like DeepSeek's.
func marked(s harness.Suits, m Model) string {
	for _, t := range s.Templates {
		if strings.Contains(m.Template, t) {
			return "its chat template has " + t
		}
	}
	return ""
}

// built matches how a model is made.
func built(s harness.Suits, m Model) string {
	for _, a := range s.Architectures {
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
