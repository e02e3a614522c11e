package textcall

import (
	"strings"
)

// readTagged reads calls between the tags or tokens of any family that has a pair of them: Hermes, Qwen, Granite, Phi,
// Nemotron, Hunyuan, Seed, MiniMax, DSML, OLMo, LFM2, GLM. What stands between tells what it is.
func readTagged(s *scanner, at int, l lexeme) (group, bool) {
	start, open := at, l.name
	for range 4 { // an opening tag may come twice
		at = blanks(s.text, l.end)
		next, ok := s.lexAt(at)
		if !ok || next.name != open && next.name != "|plugin|" {
			break
		}
		l = next
	}
	if at >= len(s.text) {
		return group{}, false
	}
	g, ok := s.between(at, open)
	if !ok || g.cut {
		return g, ok
	}
	g.end = s.closed(g.end, open)
	if len(g.calls) == 0 && !g.plain {
		return group{end: g.end}, g.end > start // an empty list
	}
	return g, true
}

// between reads what stands behind an opening tag.
func (s *scanner) between(at int, open string) (group, bool) {
	switch c := s.text[at]; {
	case c == '{' || c == '[' && !s.listOfCalls(at):
		return s.objects(at, open)
	case c == '[':
		return s.codeList(at, high)
	case c == '<':
		next, ok := s.lexAt(at)
		if !ok {
			return group{}, false
		}
		switch next.name {
		case "function":
			return readFunctions(s, at, next)
		case "invoke", "tool_invoke":
			return readInvokes(s, at, next)
		case "tool_call", "function_call":
			return readTagged(s, at, next)
		case "name":
			return readInvokeParts(s, at, open)
		}
		return s.element(at, next, high)
	case strings.HasPrefix(s.text[at:], "```"):
		return s.fenced(at, open)
	case isLetter(c):
		return s.named(at, open)
	}
	return group{}, false
}

// fenced reads objects that stand in a fence between tags.
func (s *scanner) fenced(at int, open string) (group, bool) {
	mark, _, next, ok := fenceAt(s.text, at)
	if next = blanks(s.text, next); !ok || next >= len(s.text) || s.text[next] != '{' && s.text[next] != '[' {
		return group{}, false
	}
	g, ok := s.objects(next, open)
	if !ok || g.cut {
		return g, ok
	}
	if end, found := strings.CutPrefix(s.text[blanks(s.text, g.end):], mark); found {
		g.end = len(s.text) - len(end)
	}
	return g, true
}

// listOfCalls reports whether a list holds calls in the way of Python: [name(…)].
func (s *scanner) listOfCalls(at int) bool {
	next := blanks(s.text, at+1)
	return next < len(s.text) && isLetter(s.text[next])
}

// named reads what begins with a bare name: the keys and values of GLM, an object behind the name, or code.
func (s *scanner) named(at int, open string) (group, bool) {
	i := at
	for i < len(s.text) && (isWord(s.text[i]) || s.text[i] == '.' || s.text[i] == '-' || s.text[i] == ':') && i-at < 80 {
		i++
	}
	name := s.text[at:i]
	next := blanks(s.text, i)
	switch {
	case next >= len(s.text):
		return group{}, false
	case s.text[next] == '(':
		return s.codeLines(at, open)
	case s.text[next] == '{' && plausible(name):
		value, end, ok := s.one(next)
		if !ok {
			return s.unread(name, next, open)
		}
		c := s.made(name, "", value, high)
		return group{calls: []found{c}, end: end}, true
	}
	return s.pairs(at)
}

// one reads one object, mending it when that is needed.
func (s *scanner) one(at int) (value string, end int, ok bool) {
	if end, ok = span(s.text, at, 0); ok {
		return s.text[at:end], end, true
	}
	s.spend(end - at)
	if s.budget <= 0 {
		return "", end, false
	}
	value, n, _, ok := mend(s.text[at:])
	if !ok {
		s.spend(min(len(s.text)-at, 2*longest))
	}
	return value, at + n, ok
}

// objects reads the objects between tags. Where one cannot be read as it stands, the closing tag says how far it goes.
func (s *scanner) objects(at int, open string) (group, bool) {
	all, end, mended, ok := s.values(at)
	l := high
	if ok {
		if rest := blanks(s.text, end); rest < len(s.text) {
			next, isMark := s.lexAt(rest)
			if !isMark || !closers[next.name] && !tokens[next.name] && next.name != open && s.marks[next.name].read == nil && !invented(next.name) {
				l = medium // the closing tag is missing, or something stands before it
				if s.text[rest] == '}' || s.text[rest] == ']' {
					end = s.surplus(rest)
				}
			}
		} else {
			l = medium
		}
	}
	if !ok || mended {
		if value, stop, fine := s.upToCloser(at, open); fine {
			all, end, ok, l = value, stop, true, medium
		} else if !ok {
			return s.unread("", at, open)
		}
	}
	g := group{end: end}
	for _, one := range all {
		calls, fine := s.callsIn(one, l, false)
		if !fine {
			calls = s.guessed(one)
			if len(calls) == 0 {
				s.spend(end - at)
				return group{}, false
			}
		}
		g.calls = append(g.calls, calls...)
	}
	for i := range g.calls {
		g.calls[i].mended = g.calls[i].mended || mended
	}
	return g, true
}

// surplus steps over closers too many.
func (s *scanner) surplus(at int) int {
	for at < len(s.text) && (s.text[at] == '}' || s.text[at] == ']' || s.text[at] == '\n' || s.text[at] == ' ') {
		at++
	}
	return at
}

// upToCloser mends the text between a place and one of the next few closing tags.
func (s *scanner) upToCloser(at int, open string) (all []string, end int, ok bool) {
	close := closerOf(open)
	from := at
	for range 4 {
		n := strings.Index(s.text[from:], close)
		if n < 0 || from+n-at > longest || s.budget <= 0 {
			return nil, at, false
		}
		stop := from + n
		part := &scanner{text: strings.TrimSpace(s.text[at:stop]), box: s.box, budget: s.budget}
		values, used, _, fine := part.values(0)
		if fine && part.surplus(used) == len(part.text) {
			return values, stop, true
		}
		s.spend(2 * (stop - at))
		from = stop + len(close)
	}
	return nil, at, false
}

// unread is the group of a call whose arguments cannot be read: without a closing tag it was cut off, with one it is
// answered with an error, when its name can be told.
func (s *scanner) unread(name string, at int, open string) (group, bool) {
	close := closerOf(open)
	n := strings.Index(s.text[at:], close)
	if n < 0 {
		s.spend(len(s.text) - at)
		if name == "" {
			name = nameIn(s.text[at:])
		}
		if name == "" && !strings.Contains(s.text[at:min(len(s.text), at+400)], `"name"`) {
			return group{}, false
		}
		return group{cut: true}, true
	}
	raw := strings.TrimSpace(s.text[at : at+n])
	if name == "" {
		name = nameIn(raw)
	}
	if !plausible(cleanName(name)) || len(raw) > longest {
		s.spend(n)
		return group{}, false
	}
	if i := strings.Index(raw[:min(len(raw), 4096)], `"arguments"`); i >= 0 {
		raw = strings.TrimLeft(raw[i+len(`"arguments"`):], " \t\r\n:")
		raw = strings.TrimSuffix(raw, "}")
	}
	c := s.call(name, "", raw, medium)
	return group{calls: []found{c}, end: at + n}, true
}

// nameIn finds the name in the text of an object that cannot be read.
func nameIn(raw string) string {
	raw = raw[:min(len(raw), 4096)]
	for _, key := range nameKeys {
		at := strings.Index(raw, `"`+key+`"`)
		if at < 0 {
			continue
		}
		value := strings.TrimLeft(raw[at+len(key)+2:], " \t\r\n:")
		if !strings.HasPrefix(value, `"`) {
			continue
		}
		if end := strings.IndexByte(value[1:], '"'); end > 0 && plausible(cleanName(value[1:end+1])) {
			return value[1 : end+1]
		}
	}
	return ""
}

// closerOf is the tag that closes an opening one, as it is usually written.
func closerOf(open string) string {
	switch open {
	case "|tool_call|":
		return "<|/tool_call|>"
	case "|tool_call_start|":
		return "<|tool_call_end|>"
	case "|action_start|":
		return "<|action_end|>"
	case "|START_ACTION|":
		return "<|END_ACTION|>"
	case "[TOOL_CALL":
		return "[/TOOL_CALL]"
	}
	return "</" + open + ">"
}

// closed steps over the closing tags behind calls, whatever their spelling. An opening tag that nothing follows was
// meant as a closing one.
func (s *scanner) closed(at int, open string) int {
	for {
		next := blanks(s.text, at)
		l, ok := s.lexAt(next)
		if !ok && s.ending(next) {
			return len(s.text)
		}
		if !ok || !closers[l.name] && (l.name != open || blanks(s.text, l.end) < len(s.text)) {
			return at
		}
		at = l.end
	}
}
