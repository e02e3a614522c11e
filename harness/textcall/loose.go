package textcall

import "strings"

// Forms that belong to no family and have no marks.

// wordsAt reads a line that begins with the name of a tool or with a word that announces a call.
func (s *scanner) wordsAt(at int) bool {
	i := at
	for i < len(s.text) && (isWord(s.text[i]) || s.text[i] == '.' || s.text[i] == '-') && i-at < 80 {
		i++
	}
	if i >= len(s.text) {
		return false
	}
	switch s.text[i] {
	case '[', '{', '(', ':', ' ', '=':
	default:
		return false
	}
	name := s.text[at:i]
	switch {
	case name == "functools" && s.text[i] == '[':
		return s.led(i, "functools")
	case name == "tool_calls" && (s.text[i] == ':' || s.text[i] == '='):
		return s.led(i+1, "list")
	case name == "Action" && s.text[i] == ':':
		return s.react(at, i+1)
	case name == "Observation" && s.text[i] == ':' && len(s.found) > 0:
		s.keep(at)
		s.at, s.from = len(s.text), len(s.text)
		return true
	case s.text[i] == ' ' || s.text[i] == ':' || s.text[i] == '=' || s.box.find(cleanName(name)) == nil:
		return false
	case s.text[i] == '(':
		return s.lastLine(at, i)
	}
	return s.lostMark(at)
}

// led reads a list of calls that a word stands before and that runs to the end of the text.
func (s *scanner) led(at int, form string) bool {
	start := s.at
	at = blanks(s.text, at)
	if at >= len(s.text) || s.text[at] != '[' {
		return false
	}
	all, end, _, ok := s.values(at)
	if !ok || s.tail(end) < len(s.text) || s.announced(start) {
		s.at = max(end, start)
		return s.at > start
	}
	g := group{end: len(s.text)}
	for _, one := range all {
		if one == "[]" {
			continue
		}
		calls, ok := s.callsIn(one, medium, true)
		if !ok {
			s.at = end
			return true
		}
		g.calls = append(g.calls, calls...)
	}
	return s.take(g, form)
}

// lostMark reads NAME[ARGS]{…} or NAME{…} whose [TOOL_CALLS] is missing.
func (s *scanner) lostMark(at int) bool {
	if len(s.found) >= most {
		return false
	}
	g, ok := s.bracketed(at, medium)
	if !ok || s.announced(at) {
		return false
	}
	if !g.cut && s.tail(g.end) < len(s.text) {
		if next, isMark := s.lexAt(s.tail(g.end)); !isMark || !invented(next.name) {
			return false
		}
	}
	return s.take(g, "mistral")
}

// lastLine reads NAME({…}) or NAME(k="v") that runs to the end of the text.
func (s *scanner) lastLine(at, paren int) bool {
	start := s.at
	p := &python{in: s.text, at: at}
	name, args, ok := p.call()
	end := p.at
	if !ok {
		s.spend(p.at - at)
		value, stop, fine := "", 0, false
		if next := blanks(s.text, paren+1); next < len(s.text) && s.text[next] == '{' {
			value, stop, fine = s.one(next)
		}
		stop = blanks(s.text, stop)
		if !fine || stop >= len(s.text) || s.text[stop] != ')' {
			return false
		}
		name, args, end = s.text[at:paren], value, stop+1
	}
	if s.tail(end) < len(s.text) || s.announced(start) {
		s.at = end
		return true
	}
	c := s.call(name, "", args, low)
	if c.call.Raw != "" {
		s.at = end
		return true
	}
	return s.take(group{calls: []found{c}, end: len(s.text)}, "code")
}

// react reads the last lines of a text: Action: NAME and Action Input: ARGUMENTS. What comes behind as observation the
// model made up.
func (s *scanner) react(start, at int) bool {
	end, next := lineEnd(s.text, at)
	name := cleanName(strings.Trim(strings.TrimSpace(s.text[at:end]), "`*[]"))
	next = blanks(s.text, next)
	const label = "Action Input:"
	if s.box.find(name) == nil || !strings.HasPrefix(s.text[next:], label) || s.announced(start) {
		return false
	}
	at = blanks(s.text, next+len(label))
	if at >= len(s.text) {
		return s.take(group{cut: true}, "react")
	}
	var c found
	if s.text[at] == '{' {
		value, stop, ok := s.one(at)
		if !ok {
			return s.take(group{cut: true}, "react")
		}
		c, end = s.call(name, "", value, medium), stop
	} else {
		if end, _ = lineEnd(s.text, at); s.box.find(name).onlyString() == "" {
			return false
		}
		c = s.call(name, "", quote(strings.TrimSpace(s.text[at:end])), medium)
	}
	if rest := s.tail(end); rest < len(s.text) {
		if !strings.HasPrefix(s.text[rest:], "Observation:") {
			s.at = end
			return true
		}
	}
	return s.take(group{calls: []found{c}, end: len(s.text)}, "react")
}

// readImitation reads [tool_call: NAME {…}], which models copy from examples.
func readImitation(s *scanner, at int, l lexeme) (group, bool) {
	at = blanks(s.text, l.end)
	i := at
	for i < len(s.text) && (isWord(s.text[i]) || s.text[i] == '.' || s.text[i] == '-') && i-at < 80 {
		i++
	}
	name := s.text[at:i]
	if s.box.find(cleanName(name)) == nil {
		return group{}, false
	}
	if at = blanks(s.text, i); at >= len(s.text) {
		return group{cut: true}, true
	}
	value, end := "{}", at
	if s.text[at] == '(' {
		p := &python{in: s.text, at: i - len(name)}
		_, args, ok := p.call()
		if !ok {
			s.spend(p.at - at)
			return group{}, false
		}
		value, end = args, p.at
	} else if s.text[at] == '{' {
		var ok bool
		if value, end, ok = s.one(at); !ok {
			return group{cut: true}, true
		}
	}
	if end = blanks(s.text, end); end >= len(s.text) || s.text[end] != ']' {
		return group{}, false
	}
	return group{calls: []found{s.call(name, "", value, medium)}, end: end + 1}, true
}
