package textcall

import "strings"

// pairs reads what GLM writes behind <tool_call>: a name, then keys and values by turns.
//
//	NAME (<arg_key>KEY</arg_key> <arg_value>VALUE</arg_value>)* </tool_call>
//
// Tags that are missing, doubled or wrong are taken for what the turn asks for; a value without its end is not.
func (s *scanner) pairs(at int) (group, bool) {
	start := at
	n := strings.IndexByte(s.text[at:min(len(s.text), at+200)], '<')
	if n < 0 {
		return group{}, false
	}
	head := strings.TrimSpace(s.text[at : at+n])
	at += n
	l, ok := s.lexAt(at)
	if !ok {
		return group{}, false
	}
	name, key := head, ""
	switch l.name {
	case "arg_key", "arg_value":
	case "/arg_key": // the tag before the key is missing
		t, rest := s.box.prefix(head)
		if t == nil {
			return group{}, false
		}
		name, key = t.name, strings.TrimSpace(rest)
		if _, declared := t.form().kinds[key]; !declared {
			return group{}, false
		}
	case "/arg_value":
		at = s.overTags(at, "/arg_value")
	case "/tool_call":
	default:
		return group{}, false
	}
	name = cleanName(name)
	t := s.box.meant(s.box.named(name), "{}")
	if !plausible(name) || strings.ContainsAny(head, "\n") || t == nil && l.name != "arg_key" {
		return group{}, false
	}
	args, at, lv, is := s.keysAndValues(at, key, t)
	if is != yes {
		s.spend(len(s.text) - start)
		return group{cut: true}, true
	}
	mended := lv < high // tags in values were not what they should be
	if l.name == "/arg_key" || l.name == "/arg_value" {
		lv = medium
	}
	if next, ok := s.lexAt(at); !ok || !closers[next.name] {
		lv = medium
		if t != nil {
			for _, required := range t.form().required {
				if pick(args, required) == "" {
					return group{cut: true}, true
				}
			}
		}
	}
	c := s.typedCall(name, args, lv)
	c.mended = mended
	return group{calls: []found{c}, end: s.closed(at, "tool_call")}, true
}

// keysAndValues reads pairs as long as they come. A key that was read already is given.
func (s *scanner) keysAndValues(at int, key string, t *tool) (args []member, end int, l level, is whether) {
	sh, l := &shape{}, high
	if t != nil {
		sh = t.form()
	}
	for {
		at = blanks(s.text, at)
		next, ok := s.lexAt(at)
		if key == "" {
			if !ok || next.name != "arg_key" {
				return args, at, l, yes
			}
			at = blanks(s.text, s.overTags(at, "arg_key"))
			n := strings.IndexByte(s.text[at:min(len(s.text), at+200)], '<')
			if n < 0 {
				return args, at, l, maybe
			}
			key = strings.TrimSpace(s.text[at : at+n])
			at += n
			if next, ok = s.lexAt(at); !ok || key == "" {
				return args, at, l, maybe
			}
		}
		for ok && (next.name == "/arg_key" || next.name == "/arg_value" || next.name == "arg_key") {
			at = blanks(s.text, next.end)
			next, ok = s.lexAt(at)
		}
		if ok && next.name == "arg_value" {
			at = s.overTags(at, "arg_value")
		} else {
			l = medium
		}
		value, after, tidy, ok := s.argValue(at)
		if !ok {
			return args, at, l, maybe
		}
		if !tidy {
			l = medium
		}
		args = append(args, member{key, typed(value, sh.kinds[key], true)})
		at, key = after, ""
	}
}

// overTags steps over a tag, and over the same again.
func (s *scanner) overTags(at int, name string) int {
	for {
		l, ok := s.lexAt(at)
		if !ok || l.name != name {
			return at
		}
		at = l.end
	}
}

// argValue reads a value up to the first closing tag that another pair, the end of the call or nothing follows. Calls
// that stand in the text itself are stepped over with their own ends.
func (s *scanner) argValue(start int) (value string, end int, tidy, ok bool) {
	var calls, values int // that were opened inside
	last, paid := -1, 0   // the first end of an inner value, for a text whose tags do not pair
	for at := start; ; at++ {
		n := strings.IndexByte(s.text[at:], '<')
		if n < 0 || last >= 0 && s.budget <= 0 {
			if last >= 0 && (s.budget <= 0 || calls > 0 || values > 0) {
				return trimEnds(s.text[start:last]), s.overTags(last, "/arg_value"), true, true
			}
			return "", start, false, false
		}
		at += n
		if at+1 < len(s.text) && s.text[at+1] != '/' && s.text[at+1] != 't' && s.text[at+1] != 'a' {
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
			calls++
		case "arg_value":
			if calls > 0 {
				values++
			}
		case "/arg_value", "/arg_key":
			after := s.overTags(l.end, l.name)
			rest := blanks(s.text, after)
			next, more := s.lexAt(rest)
			follows := rest >= len(s.text) || more && (next.name == "arg_key" || next.name == "/tool_call" || next.name == "tool_call" || tokens[next.name])
			switch {
			case values > 0:
				if l.name == "/arg_value" {
					values--
					if follows && last < 0 {
						last, paid = at, after
					}
				}
			case follows:
				return trimEnds(s.text[start:at]), after, l.name == "/arg_value", true
			}
		case "/tool_call":
			if calls > 0 {
				calls--
			} else if s.ends(l.end) {
				return trimEnds(s.text[start:at]), at, false, true
			}
		}
	}
}

// trimEnds takes the line breaks away that stand around a whole value.
func trimEnds(value string) string {
	if strings.HasPrefix(value, "\n") && strings.HasSuffix(value, "\n") && len(value) > 1 {
		return value[1 : len(value)-1]
	}
	return value
}

// readHeadless reads a call of GLM whose <tool_call> is missing: its name stands before the first key.
func readHeadless(s *scanner, at int, l lexeme) (group, bool) {
	head := s.text[max(s.from, at-160):at]
	head = head[strings.LastIndexByte(strings.TrimRight(head, "\n"), '\n')+1:]
	word := strings.TrimLeft(head, " \t")
	if l.name == "arg_key" {
		if t := s.box.meant(s.box.named(cleanName(word)), "{}"); t == nil {
			return group{}, false
		}
	} else if t, _ := s.box.prefix(word); t == nil {
		return group{}, false
	}
	g, ok := s.pairs(at - len(word))
	for i := range g.calls {
		g.calls[i].level = min(g.calls[i].level, medium)
	}
	g.back = len(word)
	return g, ok && (g.cut || g.end > at)
}
