package textcall

import "strings"

// readElements reads the elements of Kimi K3: <|open|>NAME attributes<|sep|> … <|close|>NAME<|sep|>. Thoughts and the
// response are elements as calls are.
func readElements(s *scanner, at int, l lexeme) (group, bool) {
	if l.name == "|close|" { // the end of a response or of the message
		_, sep, ok := s.head(l.end)
		return group{end: sep.end}, ok && sep.name == "|sep|"
	}
	name, attrs, at, ok := s.opening(at)
	if !ok {
		return group{}, false
	}
	switch name {
	case "think":
		value, end, ok := s.content(at, "think")
		if !ok {
			s.unclosed = true
			value, end = s.text[at:], len(s.text)
		}
		return group{thought: strings.TrimSpace(value), end: end}, true
	case "response", "message":
		return group{end: at}, true // its end is a mark that is taken away
	case "call":
		c, end, is := s.xtmlCall(attrs, at)
		if is == no {
			return group{}, false
		} else if is == maybe {
			return group{cut: true}, true
		}
		return group{calls: []found{c}, end: end}, true
	case "tools":
	default:
		return group{}, false
	}
	g := group{end: at}
	for len(g.calls) < most {
		next, attrs, after, ok := s.opening(blanks(s.text, g.end))
		if !ok || next != "call" {
			break
		}
		c, end, is := s.xtmlCall(attrs, after)
		if is == no {
			return group{}, false
		} else if is == maybe {
			return group{cut: true}, true
		}
		g.calls = append(g.calls, c)
		g.end = end
	}
	if end, ok := s.closing(g.end, "tools"); ok {
		g.end = end
	} else if len(g.calls) == 0 {
		return group{}, false
	}
	return g, true
}

// opening reads <|open|>NAME attributes<|sep|>.
func (s *scanner) opening(at int) (name, attrs string, end int, ok bool) {
	l, ok := s.lexAt(at)
	if !ok || l.name != "|open|" {
		return "", "", at, false
	}
	inside, sep, ok := s.head(l.end)
	if !ok || sep.name != "|sep|" {
		return "", "", at, false
	}
	name, attrs, _ = strings.Cut(inside, " ")
	return name, attrs, sep.end, true
}

// closing reads <|close|>NAME<|sep|>.
func (s *scanner) closing(at int, name string) (end int, ok bool) {
	l, ok := s.lexAt(blanks(s.text, at))
	if !ok || l.name != "|close|" {
		return at, false
	}
	inside, sep, ok := s.head(l.end)
	return sep.end, ok && sep.name == "|sep|" && inside == name
}

// content is the text up to the end of an element.
func (s *scanner) content(at int, name string) (value string, end int, ok bool) {
	mark := "<|close|>" + name + "<|sep|>"
	n := strings.Index(s.text[at:], mark)
	if n < 0 {
		s.spend(len(s.text) - at)
		return "", at, false
	}
	return s.text[at : at+n], at + n + len(mark), true
}

func (s *scanner) xtmlCall(attrs string, at int) (c found, end int, is whether) {
	name, _ := attribute(attrs, "tool")
	if name = entities.Replace(name); !plausible(cleanName(name)) {
		return c, at, no
	}
	var args []member
	for {
		if end, ok := s.closing(at, "call"); ok {
			return s.typedCall(name, args, high), end, yes
		}
		kind, attrs, after, ok := s.opening(blanks(s.text, at))
		if !ok || kind != "argument" && kind != "json" {
			return c, at, maybe
		}
		value, end, ok := s.content(after, kind)
		if !ok {
			return c, at, maybe
		}
		at = end
		if kind == "json" {
			if end, ok = s.closing(at, "call"); !ok {
				return c, at, maybe
			}
			return s.call(name, "", value, high), end, yes
		}
		key, _ := attribute(attrs, "key")
		k := kinds{is: text}
		if how, _ := attribute(attrs, "type"); how != "string" {
			k = kinds{}
		}
		args = append(args, member{entities.Replace(key), typed(value, k, true)})
	}
}

var entities = strings.NewReplacer("&quot;", `"`, "&amp;", "&", "&lt;", "<", "&gt;", ">")
