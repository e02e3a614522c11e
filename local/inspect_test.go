package local

import (
	"strings"
	"testing"
)

func TestInspect(t *testing.T) {
	const (
		hermes = `{{ if .Tools }}{{ range .Tools }}{{ . }}{{ end }}{{ end }}{{ range .Messages }}{{ if eq .Role "user" }}{{ .Content }}` +
			`{{ else if eq .Role "assistant" }}{{ if .Content }}{{ .Content }}{{ else if .ToolCalls }}<tool_call>
{{ range .ToolCalls }}{"name": "{{ .Function.Name }}"}{{ end }}</tool_call>{{ end }}{{ else if eq .Role "tool" }}{{ .Content }}{{ end }}{{ end }}`
		braces   = `{{ .Tools }}{{ range .Messages }}{{ .Role }}{{ range .ToolCalls }}{"name": "{{ .Function.Name }}"}{{ end }}{{ end }}`
		brackets = `{{ .Tools }}{{ range .Messages }}{{- .Role -}}{{ if .ToolCalls }}[{{ range .ToolCalls }}{"name"}{{ end }}]{{ end }}{{ end }}`
		mistral  = `{{ $.Tools }}{{ range .Messages }}{{ if eq .Role "tool" }}{{ end }}{{ with .ToolCalls }}{{ if true }}[TOOL_CALLS] {{ end }}[{"name"}]{{ end }}{{ end }}`
		deaf     = `{{ .Tools }}{{ range .Messages }}{{ if eq .Role "user" }}{{ .Content }}{{ else if .ToolCalls }}<call>{{ end }}{{ end }}`
		leaking  = `{{ .Tools }}{{ range .Messages }}{{ .Role }}{{ .Content }}{{ end }}`
		toolbox  = `{{ .Toolset }}{{ range .Messages }}{{ if .ToolCalls }}x{{ end }}{{ end }}`
		plain    = `{{ .System }}{{ .Prompt }}`
		broken   = `{{ .Tools }}{{ if .ToolCalls }`
		jinja    = `{% for m in messages %}{{ '<|im_start|>' + m.role }}{% if tools %}{% endif %}{% if m.role == 'tool' %}{% endif %}{% endfor %}`
		bare     = `{% for m in messages %}{{ m.content }}{% endfor %}`
		written  = `{% if tools %}{% endif %}{% for message in messages %}{{ '<|im_start|>' + message['role'] + message.content }}{% endfor %}`
	)
	for _, test := range []struct {
		name, parser, template string
		class                  parserClass
		tag                    string
		risks                  string // "": none
	}{
		{"a named parser", "qwen3-coder", hermes, namedParser, "", ""},
		{"one that passes on", "passthrough", hermes, genericParser, "<tool_call>", ""},
		{"no template", "", " \n", unseen, "", ""},
		{"a tag", "", hermes, genericParser, "<tool_call>", ""},
		{"a brace", "", braces, genericParser, "{", "follows prose"},
		{"a bracket", "", brackets, genericParser, "[", "follows prose"},
		{"a tag in an inner branch", "", mistral, genericParser, "[TOOL_CALLS]", ""},
		{"no place for results", "", deaf, genericParser, "<call>", "what a tool returns"},
		{"no place for calls", "", leaking, noParser, "", "passes them on as text"},
		{"another word that begins alike", "", toolbox, noParser, "", "passes them on as text"},
		{"no tools", "", plain, noParser, "", "passes them on as text"},
		{"no template at all", "", broken, noParser, "", "passes them on as text"},
		{"Jinja", "", jinja, grammarParser, "", ""},
		{"Jinja that writes every role", "", written, grammarParser, "", ""},
		{"Jinja without tools", "", bare, noParser, "", "passes them on as text"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := inspect(ModelInfo{Parser: test.parser, Template: test.template})
			if got.class != test.class || got.tag != test.tag || (test.risks == "") != (len(got.risks) == 0) || !strings.Contains(strings.Join(got.risks, ";"), test.risks) {
				t.Errorf("got %+v", got)
			}
			if got.String() == "" {
				t.Error("nothing is said")
			}
		})
	}
}
