package textcall

import "strings"

// readFunctions reads <function=NAME><parameter=KEY>VALUE</parameter>…</function>, one or more, of Qwen3-Coder and its
// like, or <function=NAME>{json}</function> of Llama.
func readFunctions(s *scanner, at int, l lexeme) (group, bool) {
	var g group
	for {
		c, end, is := s.function(at, l)
		switch is {
		case no:
			return g, len(g.calls) > 0
		case maybe:
			return group{cut: true}, true
		}
		g.calls = append(g.calls, c)
		g.end = s.closed(end, "tool_call")
		at = blanks(s.text, g.end)
		next, ok := s.lexAt(at)
		if !ok || next.name != "function" || len(g.calls) >= most {
			return g, true
		}
		l = next
	}
}

// function reads one. maybe: it was begun and is not complete.
func (s *scanner) function(at int, l lexeme) (c found, end int, is whether) {
	start := at
	name, ok := attribute(l.attrs, "name")
	if !ok || !plausible(cleanName(name)) {
		return c, at, no
	}
	if at = blanks(s.text, l.end); at >= len(s.text) {
		return c, at, maybe
	}
	if s.text[at] == '{' {
		value, end, ok := s.one(at)
		if !ok {
			g, ok := s.unread(name, at, "function")
			if !ok {
				return c, at, no
			} else if g.cut {
				return c, at, maybe
			}
			return g.calls[0], s.closed(g.end, ""), yes
		}
		return s.call(name, "", value, high), s.functionEnd(end), yes
	}
	t := s.box.meant(s.box.named(name), "{}")
	args, at, l2, is := s.parameters(at, t)
	if is != yes {
		s.spend(len(s.text) - start)
		return c, at, is
	}
	if next, ok := s.lexAt(at); ok && next.name == "/function" {
		c = s.typedCall(name, args, l2)
		c.mended = l2 < high // a value without its end
		return c, next.end, yes
	}
	// Without its end a function counts only when it is complete in every other way.
	next, isMark := s.lexAt(at)
	complete := len(args) > 0 && (at >= len(s.text) || s.ending(at) || isMark && (closers[next.name] || next.name == "tool_call" || next.name == "function"))
	if t != nil {
		for _, key := range t.form().required {
			complete = complete && pick(args, key) != ""
		}
	}
	switch {
	case complete:
		c = s.typedCall(name, args, medium)
		c.mended = l2 < high
		return c, at, yes
	case len(args) == 0 && at < len(s.text):
		s.spend(at - start)
		return c, at, no
	}
	return c, at, maybe
}

func (s *scanner) functionEnd(at int) int {
	if next, ok := s.lexAt(blanks(s.text, at)); ok && next.name == "/function" {
		return next.end
	}
	return at
}

// parameters reads <parameter=KEY>VALUE</parameter> as often as it comes.
func (s *scanner) parameters(at int, t *tool) (args []member, end int, l level, is whether) {
	l = high
	sh := &shape{}
	if t != nil {
		sh = t.form()
	}
	for {
		next, ok := s.lexAt(at)
		if !ok || next.name != "parameter" && next.name != "param" {
			return args, at, l, yes
		}
		key, ok := attribute(next.attrs, "name")
		if !ok || key == "" {
			return args, at, l, no
		}
		value, after, tidy, ok := s.value(next.end, sh, func(k string) bool { return k == key || pick(args, k) != "" })
		if !ok {
			return args, at, l, maybe
		}
		if !tidy {
			l = medium
		}
		k := sh.kinds[key]
		if how, given := attribute(next.attrs, "string"); given {
			if how == "true" {
				k = kinds{is: text}
			} else if k.is == 0 || k.is == text {
				k = kinds{}
			}
			args = append(args, member{key, typed(value, k, how != "true")})
		} else {
			args = append(args, member{key, typed(value, k, false)})
		}
		at = blanks(s.text, after)
	}
}

// value reads a parameter's text. Its end is the first closing tag that something fitting follows; where that tag is
// missing, the next parameter the tool declares, or the end of the function. tidy: the closing tag was there. Calls that
// stand in the text itself, as in a file about calls, are stepped over with their own ends; when no other end comes, the
// text was cut off.
func (s *scanner) value(start int, sh *shape, given func(string) bool) (value string, next int, tidy, ok bool) {
	var inside struct{ call, function, parameter int } // that are open
	last := -1                                         // the first end of an inner parameter, for a text whose tags do not pair
	var lastEnd, paid int
	for at := start; ; at++ {
		n := strings.IndexByte(s.text[at:], '<')
		if n < 0 || at+n+1 >= len(s.text) || last >= 0 && s.budget <= 0 {
			if last >= 0 && (s.budget <= 0 || inside.function > 0 || inside.parameter > 0) {
				return trimLines(s.text[start:last]), lastEnd, true, true
			}
			return "", start, false, false
		}
		at += n
		if c := s.text[at+1]; c != '/' && c != 'p' && c != 'f' && c != 'i' && c != 't' && c != '|' && c < 0x80 {
			continue // no tag that matters begins like this
		}
		l, isMark := s.lexAt(at)
		if !isMark {
			continue
		}
		if last >= 0 {
			s.spend(l.end - paid)
			paid = l.end
		}
		switch l.name {
		case "tool_call":
			inside.call++
		case "function", "invoke":
			if _, named := attribute(l.attrs, "name"); named {
				inside.function++
			}
		case "/parameter", "/param":
			switch {
			case inside.parameter > 0:
				if inside.parameter--; last < 0 && s.fits(l.end) {
					last, lastEnd, paid = at, l.end, l.end
				}
			case s.fits(l.end):
				return trimLines(s.text[start:at]), l.end, true, true
			}
		case "/function", "/invoke":
			if inside.function > 0 {
				inside.function--
			} else if s.ends(l.end) {
				return untidy(s.text[start:at]), at, false, true
			}
		case "/tool_call":
			if inside.call > 0 {
				inside.call--
			} else if s.ends(l.end) {
				return untidy(s.text[start:at]), at, false, true
			}
		case "parameter", "param":
			key, ok := attribute(l.attrs, "name")
			if inside.function > 0 {
				inside.parameter++
			} else if _, declared := sh.kinds[key]; ok && declared && !given(key) && startsLine(s.text, at) {
				return untidy(strings.TrimRight(s.text[start:at], " \t")), at, false, true
			}
		}
	}
}

// untidy is a value whose closing tag is missing: one that stands behind its opening tag has a blank before it.
func untidy(text string) string {
	if value, ok := strings.CutPrefix(text, " "); ok {
		text = value
	}
	return trimLines(text)
}

// fits reports whether what follows can follow a parameter.
func (s *scanner) fits(at int) bool {
	if at = blanks(s.text, at); at >= len(s.text) {
		return true
	}
	l, ok := s.lexAt(at)
	return s.ending(at) || ok && (l.name == "parameter" || l.name == "param" || closers[l.name] && l.name != "/parameter" || l.name == "function" || l.name == "tool_call" || l.name == "invoke")
}

// ends reports whether the end of a function here can be the function's own: nothing, another end, or another call
// follows.
func (s *scanner) ends(at int) bool {
	if at = blanks(s.text, at); at >= len(s.text) {
		return true
	}
	l, ok := s.lexAt(at)
	return ok && (closers[l.name] && l.name != "/parameter" || tokens[l.name] || invented(l.name) || s.marks[l.name].read != nil)
}

func startsLine(text string, at int) bool {
	for at > 0 && (text[at-1] == ' ' || text[at-1] == '\t') {
		at--
	}
	return at > 0 && text[at-1] == '\n'
}

// trimLines takes away exactly one line break at each side.
func trimLines(text string) string {
	text = strings.TrimPrefix(strings.TrimPrefix(text, "\r"), "\n")
	return strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
}
