package textcall

import "strings"

// readInvokes reads <invoke name="NAME"><parameter name="KEY">VALUE</parameter></invoke>, one or more, with the prefixes
// of any product and of DSML; an object may stand in the place of parameters. Outside DSML values are JSON unless a
// string is declared.
func readInvokes(s *scanner, at int, l lexeme) (group, bool) {
	if l.name == "tool_invoke" {
		return readInvokeParts(s, l.end, "tool_invoke")
	}
	var g group
	for {
		c, end, is := s.invoke(at, l)
		if is == maybe {
			return group{cut: true}, true
		}
		if is == no {
			return g, len(g.calls) > 0
		}
		g.calls = append(g.calls, c)
		g.end = s.closed(end, "")
		at = blanks(s.text, g.end)
		next, ok := s.lexAt(at)
		if !ok || next.name != "invoke" || len(g.calls) >= most {
			return g, true
		}
		l = next
	}
}

func (s *scanner) invoke(at int, l lexeme) (c found, end int, is whether) {
	name, ok := attribute(l.attrs, "name")
	if !ok || !plausible(cleanName(name)) {
		return c, at, no
	}
	if strings.HasSuffix(strings.TrimSpace(l.attrs), "/") {
		return s.call(name, "", "{}", medium), l.end, yes
	}
	at = blanks(s.text, l.end)
	if at < len(s.text) && s.text[at] == '{' {
		value, end, ok := s.one(at)
		if !ok {
			return c, at, maybe
		}
		c = s.call(name, "", value, high)
		if next, ok := s.lexAt(blanks(s.text, end)); ok && next.name == "/invoke" {
			return c, next.end, yes
		}
		c.level = medium
		return c, end, yes
	}
	t := s.box.meant(s.box.named(name), "{}")
	args, at, level, is := s.parameters(at, t)
	if is != yes {
		s.spend(len(s.text) - at)
		return c, at, is
	}
	next, isMark := s.lexAt(at)
	switch {
	case isMark && next.name == "/invoke":
		c = s.typedCall(name, args, level)
		c.mended = level < high // a value without its end
		return c, next.end, yes
	case len(args) > 0 && (at >= len(s.text) || s.ending(at)), isMark && closers[next.name], isMark && next.name == "invoke" && len(args) > 0:
		return s.typedCall(name, args, medium), at, yes // the last one was left open
	case at >= len(s.text):
		return c, at, maybe
	}
	s.spend(at - l.end)
	return c, at, no
}

// readInvokeParts reads <name>…</name><code>…</code>, or <arguments>, of which the second is JSON or the text of the
// only string a tool requires.
func readInvokeParts(s *scanner, at int, open string) (group, bool) {
	name, at, ok := s.part(at, "name")
	if !ok || !plausible(cleanName(name)) {
		return group{}, false
	}
	next, ok := s.lexAt(blanks(s.text, at))
	if !ok || !contains(argsKeys, next.name) && next.name != "code" {
		return group{}, false
	}
	value, end, ok := s.part(at, next.name)
	if !ok {
		return group{cut: true}, true
	}
	if t := s.box.find(s.box.named(name)); !strings.HasPrefix(strings.TrimSpace(value), "{") && t.onlyString() != "" {
		value = objectOf([]member{{t.onlyString(), quote(trimLines(value))}})
	}
	c := s.call(name, "", value, high)
	if c.call.Raw != "" {
		return group{}, false
	}
	return group{calls: []found{c}, end: s.closed(end, open)}, true
}

// part reads <name>…</name>.
func (s *scanner) part(at int, name string) (value string, end int, ok bool) {
	l, ok := s.lexAt(blanks(s.text, at))
	if !ok || l.name != name {
		return "", at, false
	}
	n := strings.Index(s.text[l.end:], "</"+name+">")
	if n < 0 {
		s.spend(len(s.text) - l.end)
		return "", at, false
	}
	return s.text[l.end : l.end+n], l.end + n + len(name) + 3, true
}
