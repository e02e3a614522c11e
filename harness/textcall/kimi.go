package textcall

import "strings"

// readTokens reads the calls of Kimi K2 and of DeepSeek V3, R1 and V3.1, whose tokens differ in what stands between:
//
//	<|tool_call_begin|>ID<|tool_call_argument_begin|>JSON<|tool_call_end|>
//	<｜tool▁call▁begin｜>NAME<｜tool▁sep｜>JSON<｜tool▁call▁end｜>
//	<｜tool▁call▁begin｜>function<｜tool▁sep｜>NAME\n```json\nJSON\n```<｜tool▁call▁end｜>
func readTokens(s *scanner, at int, l lexeme) (group, bool) {
	g := group{end: l.end}
	if l.name == "|tool_sep|" {
		return s.withoutBegin(at, l)
	}
	if l.name != "|tool_call_begin|" { // of a section
		next, ok := s.lexAt(blanks(s.text, l.end))
		if !ok || next.name != "|tool_call_begin|" {
			return g, false
		}
		l = next
	}
	for {
		c, end, is := s.tokenCall(l.end)
		if is == maybe {
			return group{cut: true}, true
		}
		if is == no {
			break
		}
		g.calls = append(g.calls, c)
		g.end = end
		next, ok := s.lexAt(blanks(s.text, end))
		if !ok || next.name != "|tool_call_begin|" || len(g.calls) >= most {
			break
		}
		l = next
	}
	if len(g.calls) == 0 {
		return group{}, false
	}
	g.end = s.closed(g.end, "")
	return g, true
}

// tokenCall reads one call from behind its beginning.
func (s *scanner) tokenCall(at int) (c found, end int, is whether) {
	head, l, ok := s.head(at)
	if !ok {
		if len(s.text)-at < 200 && strings.IndexByte(s.text[at:], '\n') < 0 {
			return c, at, maybe
		}
		return c, at, no
	}
	switch l.name {
	case "|tool_call_argument_begin|":
		value, end, is := s.tokenArgs(l.end)
		if is != yes {
			return c, at, is
		}
		c, ok := s.byID(head, value)
		if !ok {
			return c, at, no
		}
		return c, end, yes
	case "|tool_sep|":
		return s.separated(head, l.end)
	}
	return c, at, no
}

// head reads the text up to the next mark.
func (s *scanner) head(at int) (string, lexeme, bool) {
	n := strings.IndexByte(s.text[at:min(len(s.text), at+200)], '<')
	if n < 0 {
		return "", lexeme{}, false
	}
	l, ok := s.lexAt(at + n)
	return strings.TrimSpace(s.text[at : at+n]), l, ok
}

// separated reads what DeepSeek writes behind the separator: arguments, or a name and arguments in a fence.
func (s *scanner) separated(head string, at int) (c found, end int, is whether) {
	name := head
	at = blanks(s.text, at)
	fenced := false
	if at < len(s.text) && s.text[at] != '{' {
		stop, next := lineEnd(s.text, at)
		name = strings.TrimSpace(s.text[at:stop])
		if at = blanks(s.text, next); strings.HasPrefix(s.text[at:], "```") {
			_, at = lineEnd(s.text, at)
			at, fenced = blanks(s.text, at), true
		}
	}
	if at >= len(s.text) {
		return c, at, maybe
	}
	switch {
	case !plausible(cleanName(name)):
		return c, at, no
	case s.text[at] != '{':
		return c, at, s.ticks(at)
	}
	value, end, ok := s.one(at)
	if !ok {
		return c, at, maybe
	}
	if rest := blanks(s.text, end); fenced && strings.HasPrefix(s.text[rest:], "```") {
		end = rest + 3
	} else if s.ticks(rest) == maybe {
		return c, at, maybe
	}
	if end, is = s.tokenEnd(end); is != yes {
		return c, at, is
	}
	return s.call(name, "", value, high), end, yes
}

// ticks tells maybe where the text ends within the mark of a fence, and no elsewhere.
func (s *scanner) ticks(at int) whether {
	if rest := s.text[at:]; rest == "`" || rest == "``" {
		return maybe
	}
	return no
}

// tokenArgs reads arguments and their end.
func (s *scanner) tokenArgs(at int) (value string, end int, is whether) {
	at = blanks(s.text, at)
	if at >= len(s.text) {
		return "", at, maybe
	}
	if next, ok := s.lexAt(at); ok && next.name == "|tool_call_end|" {
		return "{}", next.end, yes
	}
	if s.text[at] != '{' && s.text[at] != '[' && s.text[at] != '"' {
		return "", at, no
	}
	if value, end, ok := s.one(at); ok {
		end, is = s.tokenEnd(end)
		return value, end, is
	}
	if n := strings.Index(s.text[at:], "<|tool_call_end|>"); n >= 0 {
		return s.text[at : at+n], at + n + len("<|tool_call_end|>"), yes
	}
	return "", at, maybe
}

// tokenEnd steps over the end of a call. It may be missing only before another call or the end of the section.
func (s *scanner) tokenEnd(at int) (int, whether) {
	next := blanks(s.text, at)
	if next >= len(s.text) {
		return at, maybe
	}
	l, ok := s.lexAt(next)
	if !ok && s.text[next] == '<' {
		if _, is := lex(s.text, next); is == maybe {
			return at, maybe
		}
	}
	switch {
	case !ok:
		return at, no
	case l.name == "|tool_call_end|":
		return l.end, yes
	case l.name == "|tool_call_begin|", strings.HasSuffix(l.name, "_section_end|"), l.name == "|tool_calls_end|", l.name == "|end_of_sentence|", l.name == "|im_end|":
		return at, yes
	}
	return at, no
}

// withoutBegin reads a call of DeepSeek whose beginning is missing: NAME<｜tool▁sep｜>JSON.
func (s *scanner) withoutBegin(at int, l lexeme) (group, bool) {
	head := s.text[max(s.from, at-80):at]
	name := strings.TrimLeft(head[strings.LastIndexAny(head, "\n>")+1:], " \t")
	if name != "function" && s.box.find(cleanName(name)) == nil {
		return group{}, false
	}
	c, end, is := s.separated(name, l.end)
	if is == maybe {
		return group{cut: true, back: len(name)}, true
	}
	c.level = min(c.level, medium)
	return group{calls: []found{c}, back: len(name), end: s.closed(end, "")}, is == yes && c.known
}

// byID makes the call that an id of Kimi names: functions.NAME:INDEX, which stays its id; with punctuation lost; or a
// number, which leaves only the arguments to tell the tool.
func (s *scanner) byID(id, args string) (found, bool) {
	name := cleanName(strings.TrimSpace(id))
	whole := ""
	if body, ok := strings.CutPrefix(id, "functions."); ok {
		if at := strings.LastIndexByte(body, ':'); at > 0 && strings.Trim(body[at+1:], "0123456789") == "" && at+1 < len(body) {
			whole = id
		}
	}
	if at := strings.LastIndexByte(name, ':'); at >= 0 {
		name = name[:at]
	}
	if s.box.find(name) == nil {
		bare := strings.TrimPrefix(name, "functions")
		if t, rest := s.box.prefix(bare); t != nil && strings.Trim(rest, "0123456789_") == "" {
			c := s.call(t.name, "", args, medium)
			return c, true
		}
	}
	if digits := strings.TrimPrefix(name, "call"); strings.Trim(digits, "0123456789_") == "" {
		object, _, ok := (*tool)(nil).argumentsOf(args)
		if !ok {
			return found{}, false
		}
		t := s.box.fitting(object, false)
		if t == nil {
			return found{}, false
		}
		c := s.call(t.name, "", object, low)
		c.guess = true
		return c, true
	}
	if !plausible(name) {
		return found{}, false
	}
	return s.call(name, whole, args, high), true
}
