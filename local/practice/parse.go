package practice

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"interpreter/local/chat"
)

const (
	mostTimes = 10_000         // repetitions of one failing reply
	mostText  = 16 << 20       // bytes of a script
	mostStep  = 24 * time.Hour // of a stall or a pause

	// standardWindow is the trained context of a model whose script names none. No run chooses more by itself, so it is
	// the same whether a wire can ask for a window or only take what there is.
	standardWindow = 131072
)

// Parse reads a script: the `-- model --` section of a txtar archive, or a whole plain file. Errors name the line
// of the text it was given.
func Parse(text string) (*Script, error) {
	if len(text) > mostText {
		return nil, fmt.Errorf("practice script: %d bytes, at most %d are read", len(text), mostText)
	}
	lines, first := section(strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n"))
	p := parser{lines: lines, first: first, script: &Script{
		Name: "practice", Window: standardWindow, Architecture: "llama", Size: 2 << 20,
	}}
	for p.at < len(p.lines) {
		if err := p.line(); err != nil {
			return nil, fmt.Errorf("practice script: line %d: %w", p.first+p.from, err)
		}
	}
	if err := p.end(); err != nil {
		return nil, fmt.Errorf("practice script: line %d: %w", p.reply.Line, err)
	}
	s := p.script
	if s.Capabilities == nil {
		s.Capabilities = []string{"completion", "tools"}
		if s.thinks() {
			s.Capabilities = append(s.Capabilities, "thinking")
		}
	}
	return s, nil
}

var marker = regexp.MustCompile(`^-- (.+) --\s*$`)

// section finds the model's part of a txtar archive and the number of its first line.
func section(lines []string) ([]string, int) {
	for i, line := range lines {
		if m := marker.FindStringSubmatch(line); m == nil || strings.TrimSpace(m[1]) != "model" {
			continue
		}
		rest := lines[i+1:]
		for j, line := range rest {
			if marker.MatchString(line) {
				return rest[:j], i + 2
			}
		}
		return rest, i + 2
	}
	return lines, 1
}

// parser walks the lines of a script. reply is the one being read, nil in the header.
type parser struct {
	lines  []string
	first  int // number of lines[0]
	at     int // next line
	from   int // the line an error belongs to
	script *Script
	reply  *Reply
}

func (p *parser) line() error {
	p.from = p.at
	text := p.lines[p.at]
	p.at++
	trimmed := strings.TrimSpace(text)
	if trimmed == "" || strings.HasPrefix(trimmed, "#") {
		return nil
	}
	word, rest, _ := strings.Cut(trimmed, " ")
	if w, r, tab := strings.Cut(trimmed, "\t"); tab && len(w) < len(word) {
		word, rest = w, r
	}
	if word == "reply" {
		if strings.TrimSpace(rest) != "" {
			return fmt.Errorf("reply takes nothing beside it, got %q", rest)
		}
		if err := p.end(); err != nil {
			p.from = p.reply.Line - p.first
			return err
		}
		p.script.Replies = append(p.script.Replies, Reply{Line: p.first + p.from})
		p.reply = &p.script.Replies[len(p.script.Replies)-1]
		return nil
	}
	if p.reply == nil {
		return p.header(word, strings.TrimSpace(rest))
	}
	return p.item(word, strings.TrimLeft(rest, " \t"))
}

// header reads a directive that stands before the first reply.
func (p *parser) header(word, rest string) (err error) {
	s := p.script
	switch word {
	case "model":
		if s.Name = rest; rest == "" || strings.ContainsAny(rest, " \t\"") {
			return fmt.Errorf("model wants one name, got %q", rest)
		}
	case "window":
		s.Window, err = count(word, rest)
	case "loaded":
		s.Loaded, err = count(word, rest)
	case "size":
		var n int
		n, err = count(word, rest)
		s.Size = int64(n)
	case "architecture":
		if s.Architecture = rest; rest == "" || strings.ContainsAny(rest, " \t.") {
			return fmt.Errorf("architecture wants one word, got %q", rest)
		}
	case "capabilities":
		s.Capabilities = append([]string{}, strings.Fields(rest)...)
	case "absent":
		s.Absent = true
	case "token":
		if s.Token = rest; rest == "" || strings.ContainsAny(rest, " \t") {
			return fmt.Errorf("token wants one word, got %q", rest)
		}
	case "era":
		if s.Era = rest; rest != eraV0 && rest != eraV1 {
			return fmt.Errorf("era wants v0 or v1, got %q", rest)
		}
	case "follow":
		switch rest {
		case "requests":
			s.ByRequest = true
		case "conversation":
			s.ByRequest = false
		default:
			return fmt.Errorf("follow wants conversation or requests, got %q", rest)
		}
	case "check":
		verdict, text, _ := strings.Cut(rest, " ")
		text = strings.TrimSpace(text)
		switch {
		case verdict == "leak" && text == "":
			s.CheckLeak = true
		case verdict == "fail" && text != "":
			s.CheckFail = text
		case verdict == "spoken" && text != "":
			s.CheckSpoken, err = p.value(text)
		default:
			return fmt.Errorf("check wants leak, or fail or spoken and a text, got %q", rest)
		}
	case "think":
		s.Think, err = p.value(rest)
	default:
		return unknown(word, "the header", headerWords)
	}
	return err
}

var (
	headerWords = "model, window, capabilities, loaded, check, architecture, size, think, absent, token, era, follow, reply"
	itemWords   = "say, raw, think, call, miscall, want, want-not, stall, pause, cut, status, retry-after, times, malformed, error, finish, tokens"
)

func unknown(word, where, known string) error {
	return fmt.Errorf("%q means nothing in %s; known: %s", word, where, known)
}

// item reads a line of a reply.
func (p *parser) item(word, rest string) (err error) {
	r := p.reply
	if n := len(r.Steps); n > 0 && (r.Steps[n-1].Kind == Cut || r.Steps[n-1].Kind == Fault) && acts(word) {
		return fmt.Errorf("%s comes after %s, which ends the reply", word, r.Steps[n-1].Kind)
	}
	switch word {
	case "say", "raw", "think", "malformed", "error":
		return p.text(Kind(word), rest)
	case "call", "miscall":
		return p.call(word, rest)
	case "want", "want-not":
		pattern, err := regexp.Compile("(?m)" + rest)
		if err != nil {
			return fmt.Errorf("%s %s: %w", word, rest, err)
		}
		r.Wants = append(r.Wants, Want{Line: p.first + p.from, Not: word == "want-not", Pattern: pattern})
	case "stall":
		r.Stall, err = duration(word, rest)
	case "pause":
		var d time.Duration
		if d, err = duration(word, rest); err == nil {
			p.step(Step{Kind: Pause, For: d})
		}
	case "cut":
		p.step(Step{Kind: Cut})
	case "status":
		code, text, _ := strings.Cut(rest, " ")
		if r.Status, err = strconv.Atoi(code); err != nil || r.Status < 400 || r.Status > 599 {
			return fmt.Errorf("status wants a code from 400 to 599, got %q", code)
		}
		r.StatusText = strings.TrimSpace(text)
	case "retry-after":
		var n int
		n, err = count(word, rest)
		r.RetryAfter = time.Duration(n) * time.Second
	case "times":
		if r.Times, err = count(word, rest); err == nil && r.Times > mostTimes {
			return fmt.Errorf("times wants at most %d, got %d", mostTimes, r.Times)
		}
	case "finish":
		switch f := chat.Finish(rest); f {
		case chat.Stopped, chat.CutShort:
			r.Finish = f
		default:
			return fmt.Errorf("finish wants stop or length, got %q", rest)
		}
	case "tokens":
		in, out, _ := strings.Cut(rest, " ")
		if r.Input, err = count(word, in); err == nil {
			r.Output, err = count(word, strings.TrimSpace(out))
		}
	default:
		return unknown(word, "a reply", itemWords)
	}
	return err
}

// acts reports whether a line adds a step.
func acts(word string) bool {
	switch word {
	case "say", "raw", "think", "malformed", "error", "call", "miscall", "pause", "cut":
		return true
	}
	return false
}

func (p *parser) step(s Step) {
	s.Line = p.first + p.from
	p.reply.Steps = append(p.reply.Steps, s)
}

// text adds a step that carries text. A say right after another is its next line.
func (p *parser) text(kind Kind, rest string) error {
	text, err := p.value(rest)
	if err != nil {
		return err
	}
	if n := len(p.reply.Steps); n > 0 && p.reply.Steps[n-1].Kind == kind && (kind == Say || kind == Think) {
		p.reply.Steps[n-1].Text += "\n" + text
		return nil
	}
	p.step(Step{Kind: kind, Text: text})
	return nil
}

func (p *parser) call(word, rest string) error {
	name, args, _ := strings.Cut(rest, " ")
	if name == "" {
		return fmt.Errorf("%s wants a tool name", word)
	}
	args, err := p.value(strings.TrimSpace(args))
	if err != nil {
		return err
	}
	call := chat.Call{Name: name, Args: json.RawMessage("{}")}
	switch {
	case word == "miscall":
		call.Raw = args
	case strings.TrimSpace(args) != "":
		var object map[string]json.RawMessage
		if err := json.Unmarshal([]byte(group.ReplaceAllString(args, "1")), &object); err != nil || object == nil {
			return fmt.Errorf("call %s wants a JSON object, got %s (miscall sends what is none)", name, brief(args))
		}
		call.Args = json.RawMessage(strings.TrimSpace(args))
	}
	p.step(Step{Kind: Call, Call: call})
	return nil
}

var heredoc = regexp.MustCompile(`^<<([A-Za-z_]\w*)$`)

// value is the rest of a line, or the lines of a heredoc. The white space before the closing word is taken off
// each of its lines.
func (p *parser) value(rest string) (string, error) {
	m := heredoc.FindStringSubmatch(rest)
	if m == nil {
		return rest, nil
	}
	for i := p.at; i < len(p.lines); i++ {
		if strings.TrimSpace(p.lines[i]) != m[1] {
			continue
		}
		indent, _, _ := strings.Cut(p.lines[i], m[1])
		body := make([]string, 0, i-p.at)
		for _, line := range p.lines[p.at:i] {
			body = append(body, strings.TrimPrefix(line, indent))
		}
		p.at = i + 1
		return strings.Join(body, "\n"), nil
	}
	return "", fmt.Errorf("the text of <<%s has no end: a line that holds %s alone is missing", m[1], m[1])
}

// end checks the reply that was just read.
func (p *parser) end() error {
	r := p.reply
	if r == nil {
		return nil
	}
	switch {
	case r.Status != 0 && len(r.Steps) > 0:
		return fmt.Errorf("this reply has a status and a text: a refused request gets no answer")
	case r.RetryAfter != 0 && r.Status == 0:
		return fmt.Errorf("this reply has retry-after without a status")
	case r.Times != 0 && !r.failing():
		return fmt.Errorf("this reply has times without status, cut or error: an answer is given whenever it is asked for")
	}
	return nil
}

func count(word, text string) (int, error) {
	n, err := strconv.Atoi(strings.ReplaceAll(text, "_", ""))
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%s wants a whole number above 0, got %q", word, text)
	}
	return n, nil
}

func duration(word, text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 || d > mostStep {
		return 0, fmt.Errorf("%s wants a duration like 3s or 200ms, got %q", word, text)
	}
	return d, nil
}

// brief shortens a text for a message.
func brief(text string) string {
	const most = 300
	if len(text) <= most {
		return strconv.Quote(text)
	}
	return strconv.Quote(strings.ToValidUTF8(text[:most], "")) + fmt.Sprintf(" and %d bytes more", len(text)-most)
}
