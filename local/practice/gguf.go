package practice

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"strings"
)

// GGUFOptions are the variants of a practice GGUF. The zero value is the plain one.
type GGUFOptions struct {
	Echo     bool // the template repeats the conversation, so that a prompt costs a token a byte
	Leak     bool // the template hides how calls are written, so that calls leak as text
	Together bool // prose and calls come in one token, so that a server up to 0.24 loses the calls
	Window   int  // trained context; 0: the script's
	Layers   int  // 0: 1
	Heads    int  // query heads; 0: as many as KVHeads
	KVHeads  int  // 0: 1
	HeadDim  int  // 0: 32; even
}

// receipts is how many results of a tool check the weights know: QX-00Z to QX-99Z.
const receipts = 100

// Receipt is the n-th result of a tool check that a practice GGUF can repeat, n from 0 to 99.
func Receipt(n int) string { return fmt.Sprintf("QX-%02dZ", n) }

// WriteGGUF spells a script into practice.gguf in dir, beside the Modelfile for `ollama create`. Scripts that need
// more than a table of next tokens (stalls, cuts, statuses, captured groups) are refused; wants are not checked.
func WriteGGUF(script *Script, dir string, o GGUFOptions) error {
	o = o.complete(script)
	if err := writable(script, o); err != nil {
		return fmt.Errorf("practice gguf: %w", err)
	}
	words, err := spell(script, o)
	if err != nil {
		return fmt.Errorf("practice gguf: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("practice gguf: %w", err)
	}
	modelfile := "# " + Banner + "\nFROM ./practice.gguf\nTEMPLATE \"\"\"" + template(script, o) + "\"\"\"\nPARAMETER temperature 0\n"
	if err := os.WriteFile(filepath.Join(dir, "Modelfile"), []byte(modelfile), 0o644); err != nil {
		return fmt.Errorf("practice gguf: %w", err)
	}
	file, err := os.Create(filepath.Join(dir, "practice.gguf"))
	if err != nil {
		return fmt.Errorf("practice gguf: %w", err)
	}
	if err := errors.Join(words.write(file, script.Name, o), file.Close()); err != nil {
		return fmt.Errorf("practice gguf: write %s: %w", file.Name(), err)
	}
	return nil
}

func (o GGUFOptions) complete(s *Script) GGUFOptions {
	if o.Window == 0 {
		o.Window = s.Window
	}
	if o.Layers == 0 {
		o.Layers = 1
	}
	if o.KVHeads == 0 {
		o.KVHeads = 1
	}
	if o.Heads == 0 {
		o.Heads = o.KVHeads
	}
	if o.HeadDim == 0 {
		o.HeadDim = 32
	}
	return o
}

// writable tells why a script cannot become weights.
func writable(s *Script, o GGUFOptions) error {
	switch {
	case s.Architecture != "llama":
		return fmt.Errorf("architecture %s: only llama can be written", s.Architecture)
	case s.ByRequest:
		return fmt.Errorf("follow requests: weights see the conversation and count no requests")
	case o.Layers < 0 || o.KVHeads < 0 || o.HeadDim < 0 || o.Window < 0 || o.HeadDim%2 != 0 || o.Heads%o.KVHeads != 0:
		return fmt.Errorf("geometry: %d layers, %d heads, %d KV heads, head size %d: heads must be a multiple of KV heads, the size even",
			o.Layers, o.Heads, o.KVHeads, o.HeadDim)
	}
	for _, r := range s.Replies {
		why := ""
		switch {
		case r.Status != 0:
			why = "status"
		case r.Stall != 0:
			why = "stall"
		case r.Finish != "":
			why = "finish"
		case r.Input != 0:
			why = "tokens"
		}
		groups := 0
		for _, w := range r.Wants {
			if !w.Not {
				groups = w.Pattern.NumSubexp()
			}
		}
		called := false
		for _, step := range r.Steps {
			switch step.Kind {
			case Pause, Cut, Malformed, Fault:
				why = string(step.Kind)
			case Call:
				called = true
				if step.Call.Raw != "" {
					why = "miscall"
				}
			default:
				if called {
					return fmt.Errorf("line %d: %s after a call: a model says its piece before it calls", step.Line, step.Kind)
				}
			}
			for _, ref := range group.FindAllString(step.Text+string(step.Call.Args), -1) {
				if int(ref[1]-'0') <= groups {
					return fmt.Errorf("line %d: %s stands for what a want captures, and weights cannot know that", step.Line, ref)
				}
			}
		}
		if why != "" {
			return fmt.Errorf("line %d: this reply has %s, which weights cannot play; the practice server can", r.Line, why)
		}
	}
	return nil
}

// spell turns a script into tokens that follow each other.
func spell(s *Script, o GGUFOptions) (*vocabulary, error) {
	v := newVocabulary()
	thinking := s.can("thinking")
	for i := range s.Replies {
		r := &s.Replies[i]
		thought, rest := written(s, r, o)
		line := func(err error) error { return fmt.Errorf("line %d: %w", r.Line, err) }
		if thinking { // a marker of its own when thinking is switched off
			if err := v.chain(place(i)+quiet, rest); err != nil {
				return nil, line(err)
			}
		}
		if err := v.chain(place(i), append(thought, rest...)); err != nil {
			return nil, line(err)
		}
	}
	if s.can("tools") {
		stages := [][2]string{
			{checking, hermes(probe, `{"a": 17, "b": 25}`)}, {checkingText, hermes(probeWrite, string(filed(payload)))}, {checkingTalk, plainAnswer},
		}
		for _, stage := range stages {
			if s.CheckFail != "" {
				stage[1] = s.CheckFail
			}
			if err := v.chain(stage[0], []string{stage[1]}); err != nil {
				return nil, err
			}
		}
		for n := range receipts {
			if err := v.chain(received(Receipt(n)), []string{receipt(Receipt(n))}); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}

// written is a reply as a model writes it: the thinking, then prose and calls in tokens of their own.
func written(s *Script, r *Reply, o GGUFOptions) (thought, rest []string) {
	var thinking, prose string
	var calls []string
	for _, step := range r.Steps {
		switch step.Kind {
		case Think:
			thinking += step.Text
		case Say, Raw:
			prose += step.Text
		case Call:
			calls = append(calls, hermes(step.Call.Name, string(step.Call.Args)))
		}
	}
	if thinking == "" {
		thinking = s.Think
	}
	if thinking != "" && s.can("thinking") {
		thought = []string{"<think>" + thinking + "</think>"}
	}
	if o.Together {
		prose, calls = prose+strings.Join(calls, ""), nil
	}
	if prose != "" {
		rest = append(rest, prose)
	}
	return thought, append(rest, calls...)
}

// hermes is the call format of the Hermes family, the one most templates know.
func hermes(name, args string) string {
	return "<tool_call>\n{\"name\": \"" + name + "\", \"arguments\": " + args + "}\n</tool_call>"
}

// The markers that end a prompt: the place in the script, or in the tool check.
const (
	checking     = "<|check|>"
	checkingText = "<|check:write|>"
	checkingTalk = "<|check:talk|>"
	quiet        = "<|q|>"
)

func place(reply int) string        { return "<|a:" + strings.Repeat("a", reply) + "|>" }
func received(result string) string { return "<|check:" + result + "|>" }

// template is the chat template: it counts the replies a conversation already holds, as position does, and ends in
// the marker of the next. Go templates cannot add but can make a string grow.
func template(s *Script, o GGUFOptions) string {
	first := Reply{}
	if len(s.Replies) > 0 {
		first = s.Replies[0]
	}
	begun := fmt.Sprintf(`(eq (printf "%%.%ds" .Content) %s)`, shown, quoted(first.text()))
	if first.calls() > 0 {
		begun = `(gt (len .ToolCalls) 0)`
		if first.text() != "" {
			begun = fmt.Sprintf(`(or (gt (len .ToolCalls) 0) (eq (printf "%%.%ds" .Content) %s))`, shown, quoted(first.text()))
		}
	}
	tools := s.can("tools")
	var b strings.Builder
	b.WriteString(`{{- $n := "" }}{{ $on := false }}{{ $r := "" }}{{ $check := false }}{{ $q := "" }}`)
	if tools {
		b.WriteString(`{{ range .Tools }}{{ if eq .Function.Name "` + probe + `" }}{{ $check = true }}{{ end }}{{ end }}`)
	}
	b.WriteString(`{{ range .Messages }}`)
	if o.Echo {
		b.WriteString(`{{ .Content }}`)
	}
	b.WriteString(`{{ if eq .Role "user" }}{{ $r = "" }}{{ $q = .Content }}{{ end }}{{ if eq .Role "tool" }}{{ $r = .Content }}{{ end }}`)
	b.WriteString(`{{ if eq .Role "assistant" }}{{ if or $on ` + begun + ` }}{{ $on = true }}{{ $n = print $n "a" }}{{ end }}{{ end }}`)
	if s.can("thinking") {
		b.WriteString(`{{ if false }}{{ if .Thinking }}<think>{{ .Thinking }}</think>{{ end }}{{ end }}`)
	}
	if tools && !o.Leak {
		// A server finds the tag of calls in the first text below this condition.
		b.WriteString(`{{ if .ToolCalls }}{{ range .ToolCalls }}{{ if false }}<tool_call>
{"name": "{{ .Function.Name }}", "arguments": {{ .Function.Arguments }}}
</tool_call>{{ end }}{{ end }}{{ end }}`)
	}
	b.WriteString(`{{ end }}{{ if $check }}{{ if $r }}<|check:{{ $r }}|>` +
		asks(writing) + checkingText + asks(plain) + checkingTalk + `{{ else }}` + checking + `{{ end }}{{ else }}<|a:{{ $n }}|>`)
	if s.can("thinking") {
		b.WriteString(`{{ if and .IsThinkSet (not .Think) }}` + quiet + `{{ end }}`)
	}
	b.WriteString(`{{ end }}`)
	return b.String()
}

// asks is the branch of a template for a question that begins in some way.
func asks(words string) string {
	return fmt.Sprintf(`{{ else if eq (printf "%%.%ds" $q) %q }}`, len(words), words)
}

// shown is how many characters of the first reply the template compares.
const shown = 24

func quoted(text string) string {
	if runes := []rune(text); len(runes) > shown {
		text = string(runes[:shown])
	}
	return fmt.Sprintf("%q", text)
}
