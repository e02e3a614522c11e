package harness

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"text/template"

	"interpreter/local/chat"
)

// Begin writes what a session starts with: the system message, the messages before the first prompt, and the tools
// offered. It is called once a session and its result is kept; nothing in it changes afterwards.
func (h Harness) Begin(env Environment) ([]chat.Message, []chat.Spec, error) {
	text, err := h.instructions(env)
	if err != nil {
		return nil, nil, fmt.Errorf("begin with %s: %w", h.Name, err)
	}
	var opening []chat.Message
	if text != "" {
		opening = append(opening, chat.Message{Role: chat.System, Text: text})
	}
	if h.Open != nil {
		opening = append(opening, h.Open(env)...)
	}
	var specs []chat.Spec
	for _, t := range h.Tools {
		if t.Hidden || t.When != nil && !t.When(env) {
			continue
		}
		spec, err := h.spec(t)
		if err != nil {
			return nil, nil, fmt.Errorf("begin with %s: %w", h.Name, err)
		}
		specs = append(specs, spec)
	}
	return opening, specs, nil
}

// instructions are guidance, the instructions proper (ours or the person's), the person's additions and the facts.
func (h Harness) instructions(env Environment) (string, error) {
	var parts []string
	add := func(text string) {
		if text = strings.TrimSpace(text); text != "" {
			parts = append(parts, text)
		}
	}
	if env.Guidance {
		text, err := h.page("guidance.md", env)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		add(text)
	}
	if env.Base != "" {
		add(env.Base)
	} else {
		text, err := h.page("system.md", env)
		if err != nil {
			return "", err
		}
		add(text)
	}
	add(env.Extra)
	text, err := h.page("facts.md", env)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	add(text)
	return strings.Join(parts, "\n\n"), nil
}

// page renders one file of prose as a template over the environment.
func (h Harness) page(name string, env Environment) (string, error) {
	raw, err := fs.ReadFile(h.Prose, name)
	if err != nil {
		return "", err
	}
	if !bytes.Contains(raw, []byte("{{")) {
		return string(raw), nil
	}
	t, err := template.New(name).Funcs(template.FuncMap{"join": strings.Join, "trim": strings.TrimSpace}).Parse(string(raw))
	if err != nil {
		return "", fmt.Errorf("parse: %w", err)
	}
	var b strings.Builder
	if err := t.Execute(&b, env); err != nil {
		return "", fmt.Errorf("render: %w", err)
	}
	return b.String(), nil
}

// CompactPrompt asks for the summary that replaces a transcript which no longer fits; "" when the harness has none.
func (h Harness) CompactPrompt() string {
	raw, err := fs.ReadFile(h.Prose, "compact.md")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(raw))
}

// AboutPage is about.md: for people, what this harness changes, for whom, and what of the original it leaves out, in
// Markdown.
func (h Harness) AboutPage() string {
	raw, err := fs.ReadFile(h.Prose, "about.md")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(raw))
}

// spec completes a row's description and schema from its page.
func (h Harness) spec(t Tool) (chat.Spec, error) {
	if t.form == nil {
		return t.Spec, nil
	}
	file := t.Spec.Name + ".md"
	raw, err := fs.ReadFile(h.Prose, file)
	if err != nil {
		return chat.Spec{}, err
	}
	text, about, err := toolPage(string(raw))
	if err != nil {
		return chat.Spec{}, fmt.Errorf("%s: %w", file, err)
	}
	schema := t.form().schema(about)
	for name := range about {
		return chat.Spec{}, fmt.Errorf("%s: describes @%s, which is no parameter", file, name)
	}
	return chat.Spec{Name: t.Spec.Name, Description: text, Parameters: schema}, nil
}

// Specs lists rows for a decoder: hidden ones included, without descriptions.
func Specs(rows []Tool) []chat.Spec {
	specs := make([]chat.Spec, 0, len(rows))
	for _, t := range rows {
		s := t.Spec
		if t.form != nil {
			s.Parameters = t.form().schema(nil)
		}
		specs = append(specs, s)
	}
	return specs
}

// toolPage splits a tool's page: the description, then lines "@name text" for parameters, "@list.field text" for
// those inside. A line that begins with blanks continues the one before.
func toolPage(page string) (text string, about map[string]string, err error) {
	about = map[string]string{}
	var lines []string
	last := ""
	for line := range strings.Lines(page) {
		line = strings.TrimRight(line, " \r\n")
		switch {
		case strings.HasPrefix(line, "@"):
			name, words, _ := strings.Cut(line[1:], " ")
			if _, twice := about[name]; twice || name == "" || strings.TrimSpace(words) == "" {
				return "", nil, fmt.Errorf("line %q: a parameter needs a name of its own and words", line)
			}
			about[name], last = strings.TrimSpace(words), name
		case last != "" && strings.HasPrefix(line, " "):
			about[last] += " " + strings.TrimSpace(line)
		case last != "" && line != "":
			return "", nil, fmt.Errorf("line %q: the description must come before the parameters", line)
		default:
			lines = append(lines, line)
		}
	}
	return strings.TrimSpace(strings.Join(lines, "\n")), about, nil
}
