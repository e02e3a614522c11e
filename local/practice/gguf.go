package practice

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"interpreter/local/chat"
)

// GGUFOptions are the variants of a practice GGUF. The zero value is the plain one.
type GGUFOptions struct {
	Echo     bool   // the template repeats the conversation, so that a prompt costs a token a byte
	Leak     bool   // the template hides how calls are written, so that calls leak as text
	Together bool   // prose and calls come in one token, so that a server up to 0.24 loses the calls
	Dialect  string // how calls are written, of Dialects; "": hermes
	Window   int    // trained context; 0: the script's
	Layers   int    // 0: 1
	Heads    int    // query heads; 0: as many as KVHeads
	KVHeads  int    // 0: 1
	HeadDim  int    // 0: 32; even
}

// receipts is how many results of a tool check the weights know: QX-00Z to QX-99Z.
const receipts = 100

// Receipt is the n-th result of a tool check that a practice GGUF can repeat, n from 0 to 99.
func Receipt(n int) string { return fmt.Sprintf("QX-%02dZ", n) }

// WriteGGUF spells a script into practice.gguf in dir, beside the Modelfile for `ollama create`. Scripts that need
// more than a table of next tokens (stalls, cuts, statuses, captured groups) are refused; wants are not checked.
func WriteGGUF(script *Script, dir string, o GGUFOptions) error {
	o = o.complete(script)
	d, err := speaks(o.Dialect)
	if err == nil {
		err = writable(script, d, o)
	}
	if err != nil {
		return fmt.Errorf("practice gguf: %w", err)
	}
	words, err := spell(script, d, o)
	if err != nil {
		return fmt.Errorf("practice gguf: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("practice gguf: %w", err)
	}
	modelfile := "# " + Banner + "\nFROM ./practice.gguf\nTEMPLATE \"\"\"" + template(script, d, o) + "\"\"\"\nPARAMETER temperature 0\n"
	if reader := d.reader(script, o); reader != "" {
		modelfile += "PARSER " + reader + "\n"
	}
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
func writable(s *Script, d dialect, o GGUFOptions) error {
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
		called := false // before this step
		for _, step := range r.Steps {
			switch step.Kind {
			case Pause, Cut, Malformed, Fault:
				why = string(step.Kind)
			case Call:
				switch {
				case step.Call.Raw != "":
					why = "miscall"
				case d.calls == nil:
					return fmt.Errorf("line %d: a call, which dialect %s does not have: write it with say, as the harness reads it", step.Line, d.name)
				case d.alone && called:
					return fmt.Errorf("line %d: a second call: in dialect %s an answer ends with its first", step.Line, d.name)
				}
				called = true
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
func spell(s *Script, d dialect, o GGUFOptions) (*vocabulary, error) {
	v := newVocabulary()
	if !o.Echo {
		v.sizes()
	}
	thinking, opened := s.can("thinking"), d.expects(s, o)
	before := 0
	for i := range s.Replies {
		r := &s.Replies[i]
		thought, rest := d.written(s, r, spot{before: before, prose: r.text() != "", leak: o.Leak}, o.Together)
		before += r.calls()
		spoken := rest
		if thought != "" {
			spoken = append([]string{d.thinks(thought)}, rest...)
		}
		ends := map[string][]string{mark(place(i), ""): spoken}
		switch {
		case opened:
			ends = map[string][]string{mark(place(i), ""): rest, mark(place(i), amid): closed(thought, rest)}
		case thinking: // a marker of its own when thinking is switched off
			ends[mark(place(i), "")+quiet] = rest
		}
		for _, marker := range slices.Sorted(maps.Keys(ends)) {
			if err := v.chain(marker, ends[marker]); err != nil {
				return nil, fmt.Errorf("line %d: %w", r.Line, err)
			}
		}
	}
	for _, answer := range s.checked(d, o) {
		if err := v.chain(mark(answer[0], ""), answer[1:]); err != nil {
			return nil, err
		}
		if opened {
			if err := v.chain(mark(answer[0], amid), closed("", answer[1:])); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}

// expects reports whether the server's reader may take an answer to begin amid thoughts.
func (d dialect) expects(s *Script, o GGUFOptions) bool {
	return d.opened != "" && d.reader(s, o) != ""
}

// closed ends the thoughts that a server expects. What ends them is in one piece with what comes next, so that it can be
// followed by one thing only.
func closed(thought string, rest []string) []string {
	end := thought + "</think>"
	if len(rest) == 0 {
		return []string{end}
	}
	return append([]string{end + rest[0]}, rest[1:]...)
}

// checked lists the answers to a tool check: a marker each, and what follows it.
func (s *Script) checked(d dialect, o GGUFOptions) [][]string {
	var all [][]string
	if s.can("tools") && d.calls != nil {
		at := spot{leak: o.Leak}
		asked := []chat.Call{{Name: probe, Args: json.RawMessage(`{"a": 17, "b": 25}`)}}
		stages := [][]string{
			{checking, d.calls(asked, at)[0]},
			{checkingText, d.calls([]chat.Call{{Name: probeWrite, Args: filed(payload)}}, at)[0]},
			{checkingTalk, d.says(plainAnswer, false)},
		}
		for i := range stages {
			if s.CheckFail != "" {
				stages[i][1] = d.says(s.CheckFail, false)
			}
		}
		all = append(all, stages...)
		for n := range receipts {
			all = append(all, []string{received(Receipt(n)), d.says(receipt(Receipt(n)), false)})
		}
	}
	if s.CheckSpoken != "" {
		all = append(all, []string{received(spokenRun), s.CheckSpoken})
		for n := range receipts {
			all = append(all, []string{received(spokenResult + " " + Receipt(n)), receipt(Receipt(n))})
		}
	}
	return all
}

// written is a reply as a model writes it: the thinking, then prose and calls in tokens of their own.
func (d dialect) written(s *Script, r *Reply, at spot, together bool) (thought string, rest []string) {
	var prose string
	var calls []chat.Call
	for _, step := range r.Steps {
		switch step.Kind {
		case Think:
			thought += step.Text
		case Say, Raw:
			prose += step.Text
		case Call:
			calls = append(calls, step.Call)
		}
	}
	if thought == "" {
		thought = s.Think
	}
	if !s.can("thinking") {
		thought = ""
	}
	if prose != "" {
		rest = append(rest, d.says(prose, len(calls) > 0))
	}
	if len(calls) > 0 {
		rest = append(rest, d.calls(calls, at)...)
	}
	if together && len(rest) > 1 {
		rest = []string{strings.Join(rest, "")}
	}
	return thought, rest
}

// The markers that end a prompt: the place in the script, or in the tool check.
const (
	checking     = "check"
	checkingText = "check:write"
	checkingTalk = "check:talk"
	spokenRun    = "run"
	amid         = ":t" // the server expects the answer to begin amid thoughts
	quiet        = "<|q|>"
)

func mark(what, state string) string { return "<|" + what + state + "|>" }
func place(reply int) string         { return "a:" + strings.Repeat("a", reply) }
func received(result string) string  { return "check:" + result }

// template is the chat template: it counts the replies a conversation already holds, as position does, and ends in
// the marker of the next. Go templates cannot add but can make a string grow. Beside that it fills the prompt with as
// many digits as the conversation has bytes, four to a token, so that a request is as long as one of a real model.
func template(s *Script, d dialect, o GGUFOptions) string {
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
	tools, state := s.can("tools"), ""
	var b strings.Builder
	b.WriteString(`{{- $n := "" }}{{ $on := false }}{{ $r := "" }}{{ $check := false }}{{ $q := "" }}`)
	if d.expects(s, o) {
		state = `{{ $t }}`
		b.WriteString(`{{ $t := "" }}{{ if ` + d.opened + ` }}{{ $t = "` + amid + `" }}{{ end }}`)
	}
	if tools {
		b.WriteString(`{{ range .Tools }}{{ if eq .Function.Name "` + probe + `" }}{{ $check = true }}{{ end }}{{ end }}`)
		if !o.Echo {
			b.WriteString(size(`(print .Tools)`))
		}
	}
	b.WriteString(`{{ range .Messages }}`)
	if o.Echo {
		b.WriteString(`{{ .Content }}`)
	} else {
		b.WriteString(size(`.Content`) + size(`(print .ToolCalls)`))
	}
	b.WriteString(`{{ if eq .Role "user" }}{{ $r = "" }}{{ $q = .Content }}{{ end }}{{ if eq .Role "tool" }}{{ $r = .Content }}{{ end }}`)
	b.WriteString(`{{ if eq .Role "assistant" }}{{ if or $on ` + begun + ` }}{{ $on = true }}{{ $n = print $n "a" }}{{ end }}{{ end }}`)
	if s.can("thinking") {
		b.WriteString(`{{ if false }}{{ if .Thinking }}<think>{{ .Thinking }}</think>{{ end }}{{ end }}`)
	}
	tag := d.tag
	if o.Leak {
		tag = d.foreign
	}
	if tools && tag != "" {
		// A server finds the tag of calls in the first text below this condition.
		b.WriteString(`{{ if .ToolCalls }}{{ range .ToolCalls }}{{ if false }}` + tag + `{{ end }}{{ end }}{{ end }}`)
	}
	marker := func(what string) string { return mark(what, state) }
	b.WriteString(`{{ end }}`)
	if s.CheckSpoken != "" {
		b.WriteString(`{{ $s := "" }}{{ range $i := len $q }}{{ if eq (slice $q $i) "` + spokenCommand + `" }}{{ $s = "` + spokenRun + `" }}{{ end }}{{ end }}` +
			fmt.Sprintf(`{{ if eq (printf "%%.%ds" $q) %q }}{{ $s = printf "%%.%ds" $q }}{{ end }}`, len(spokenResult), spokenResult, len(spokenResult+" "+Receipt(0))))
	}
	b.WriteString(`{{ if $check }}{{ if $r }}` + marker(received(`{{ $r }}`)) +
		asks(writing) + marker(checkingText) + asks(plain) + marker(checkingTalk) + `{{ else }}` + marker(checking) + `{{ end }}`)
	if s.CheckSpoken != "" {
		b.WriteString(`{{ else if $s }}` + marker(received(`{{ $s }}`)))
	}
	b.WriteString(`{{ else }}` + marker(`a:{{ $n }}`))
	if s.can("thinking") && state == "" {
		b.WriteString(`{{ if and .IsThinkSet (not .Think) }}` + quiet + `{{ end }}`)
	}
	b.WriteString(`{{ end }}`)
	return b.String()
}

// size fills a prompt with as many digits as a value of the template has bytes.
func size(of string) string { return `{{ printf "%0*d" (len ` + of + `) 0 }}` }

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
