package textcall

import "strings"

// readHarmony reads one message of gpt-oss:
//
//	<|start|>assistant to=RECIPIENT<|channel|>CHANNEL to=RECIPIENT <|constrain|>json<|message|>BODY<|call|>
//
// of which the beginning, one recipient, the constraint and the end may be missing. analysis is thought, final and
// commentary without a recipient are said.
func readHarmony(s *scanner, at int, l lexeme) (group, bool) {
	h, ok := s.harmonyHead(at, l)
	if !ok {
		return group{}, false
	}
	if h.role != "" && h.role != "assistant" { // what another role says, a model made up
		if len(s.found) > 0 {
			return group{end: len(s.text)}, true
		}
		return group{}, false
	}
	if h.recipient != "" {
		return s.harmonyCall(h)
	}
	body, end, ended := s.harmonyBody(h.body)
	if h.channel == "analysis" {
		s.unclosed = !ended && end == len(s.text)
		return group{thought: strings.TrimSpace(body), end: end}, true
	}
	if h.channel == "commentary" {
		if object := strings.TrimSpace(body); isObject(object) {
			if calls := s.guessed(object); len(calls) > 0 {
				return group{calls: calls, end: end}, true
			}
		}
	}
	return group{said: strings.TrimSpace(body), end: end}, true
}

type harmonyHead struct {
	role, channel, recipient string
	body                     int // where it begins
}

func (s *scanner) harmonyHead(at int, l lexeme) (h harmonyHead, ok bool) {
	for range 5 {
		if l.name == "|message|" {
			h.body = l.end
			return h, h.channel != "" || h.recipient != ""
		}
		inside, next, ok := s.head(l.end)
		if !ok && s.jsonAfter(l.end, &h) {
			return h, h.recipient != ""
		}
		if !ok {
			return h, false
		}
		words := strings.Fields(inside)
		switch l.name {
		case "|start|":
			if len(words) == 0 {
				return h, false
			}
			h.role = words[0]
			words = words[1:]
		case "|channel|":
			if len(words) == 0 {
				return h, false
			}
			if h.channel = words[0]; h.channel != "analysis" && h.channel != "commentary" && h.channel != "final" {
				return h, false
			}
		case "|constrain|":
		default:
			return h, false
		}
		for _, w := range words {
			if to, is := strings.CutPrefix(w, "to="); is {
				h.recipient = to
			}
		}
		l = next
	}
	return h, false
}

// jsonAfter reads a head whose <|message|> is missing: the body begins with its brace.
func (s *scanner) jsonAfter(at int, h *harmonyHead) bool {
	n := strings.IndexByte(s.text[at:min(len(s.text), at+200)], '{')
	if n < 0 {
		return false
	}
	for _, w := range strings.Fields(s.text[at : at+n]) {
		if to, is := strings.CutPrefix(w, "to="); is {
			h.recipient = to
		}
	}
	h.body = at + n
	return true
}

// harmonyBody is the text up to the end of the message.
func (s *scanner) harmonyBody(at int) (body string, end int, ended bool) {
	for i := at; ; i++ {
		n := strings.Index(s.text[i:], "<|")
		if n < 0 {
			return s.text[at:], len(s.text), false
		}
		i += n
		l, ok := s.lexAt(i)
		if !ok || quotedAt(s.text, i, at) {
			continue
		}
		switch l.name {
		case "|end|", "|call|", "|return|", "|eom|":
			return s.text[at:i], l.end, true
		case "|start|", "|channel|":
			return s.text[at:i], i, true
		}
	}
}

func (s *scanner) harmonyCall(h harmonyHead) (group, bool) {
	at := blanks(s.text, h.body)
	if at >= len(s.text) {
		return group{cut: true}, true
	}
	if s.text[at] == '<' {
		if next, ok := s.lexAt(at); ok && (next.name == "function_calls" || next.name == "invoke") {
			return s.marks[next.name].read(s, at, next)
		}
	}
	if !plausible(cleanName(h.recipient)) {
		return group{}, false
	}
	if s.text[at] == '{' || s.text[at] == '"' {
		value, end, ok := s.one(at)
		if ok {
			c := s.call(h.recipient, "", value, high)
			if rest := blanks(s.text, end); rest < len(s.text) {
				next, isMark := s.lexAt(rest)
				if s.text[rest] == '}' {
					end = s.surplus(rest)
					next, isMark = s.lexAt(end)
				}
				switch {
				case isMark && (next.name == "|call|" || next.name == "|end|" || next.name == "|return|" || next.name == "|eom|"):
					end = next.end
				case !isMark:
					c.level = medium
				}
			}
			return group{calls: []found{c}, end: end}, true
		}
	}
	body, end, ended := s.harmonyBody(at)
	if !ended {
		return group{cut: true}, true
	}
	t := s.box.meant(s.box.named(h.recipient), "{}")
	if args, _, ok := repair(body, 2); ok {
		return group{calls: []found{s.call(h.recipient, "", args, medium)}, end: end}, true
	}
	if key := t.onlyString(); key != "" && !strings.HasPrefix(body, "{") { // code is all its tool takes
		return group{calls: []found{s.typedCall(h.recipient, []member{{key, quote(body)}}, medium)}, end: end}, true
	}
	return group{calls: []found{s.call(h.recipient, "", body, medium)}, end: end}, true
}

// leaked gives back the tokens to an answer of gpt-oss of which only the words between them are left:
// analysisHm.assistantfinalDone.
func leaked(text string) (string, bool) {
	bare := strings.TrimSpace(text)
	first := ""
	for _, w := range []string{"analysis", "commentary"} {
		if strings.HasPrefix(bare, w) {
			first = w
		}
	}
	if first == "" || len(bare) == len(first) {
		return text, false
	}
	after := bare[len(first):]
	if strings.IndexByte(" \t\n", after[0]) >= 0 && !strings.HasPrefix(after, " to=") {
		return text, false
	}
	if !strings.Contains(after, "assistantfinal") && !strings.Contains(after, "assistantcommentary") && !strings.Contains(after, "assistantanalysis") &&
		!strings.HasPrefix(after, " to=") {
		return text, false
	}
	var b strings.Builder
	rest := bare
	for rest != "" {
		n := len(rest)
		word := first
		rest = rest[len(word):]
		first, n = nextPart(rest)
		body := rest[:n]
		b.WriteString("<|channel|>" + word)
		if to, is := strings.CutPrefix(body, " to="); is {
			end := strings.IndexAny(to, " {\n")
			if end < 0 {
				return text, false
			}
			b.WriteString(" to=" + strings.TrimSuffix(to[:end], "json"))
			body = strings.TrimPrefix(strings.TrimLeft(to[end:], " "), "json")
			body = strings.TrimPrefix(body, "code")
		}
		b.WriteString("<|message|>" + body + "<|end|>")
		rest = strings.TrimPrefix(rest[n:], "assistant")
	}
	return b.String(), true
}

// nextPart finds where the next part begins, and its channel.
func nextPart(rest string) (channel string, at int) {
	for i := 0; ; i++ {
		n := strings.Index(rest[i:], "assistant")
		if n < 0 {
			return "", len(rest)
		}
		i += n
		for _, w := range []string{"final", "commentary", "analysis"} {
			if strings.HasPrefix(rest[i+len("assistant"):], w) {
				return w, i
			}
		}
	}
}
