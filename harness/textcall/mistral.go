package textcall

// readMistral reads [TOOL_CALLS]NAME[CALL_ID]ID[ARGS]JSON, as often as it comes, or [TOOL_CALLS] and a list of calls.
func readMistral(s *scanner, at int, l lexeme) (group, bool) {
	at = blanks(s.text, l.end)
	if at >= len(s.text) {
		return group{}, false
	}
	if s.text[at] == '[' || s.text[at] == '{' {
		return s.objects(at, "TOOL_CALLS")
	}
	return s.bracketed(at, high)
}

// bracketed reads NAME[ARGS]JSON, with or without [TOOL_CALLS] between several.
func (s *scanner) bracketed(at int, lv level) (group, bool) {
	var g group
	for len(g.calls) < most {
		if l, ok := s.lexAt(at); ok && l.name == "[TOOL_CALLS" {
			at = blanks(s.text, l.end)
		} else if len(g.calls) > 0 {
			lv = min(lv, medium)
		}
		i := at
		for i < len(s.text) && (isWord(s.text[i]) || s.text[i] == '.' || s.text[i] == '-' || s.text[i] == ':') && i-at < 80 {
			i++
		}
		name, id, marked := s.text[at:i], "", false
		if l, ok := s.lexAt(i); ok && l.name == "[CALL_ID" {
			i = l.end
			for i < len(s.text) && isWord(s.text[i]) {
				i++
			}
			id = s.text[l.end:i]
		}
		if l, ok := s.lexAt(i); ok && l.name == "[ARGS" {
			i, marked = blanks(s.text, l.end), true
		}
		if !plausible(cleanName(name)) || i >= len(s.text) || s.text[i] != '{' || !marked && s.box.find(cleanName(name)) == nil {
			if marked && i >= len(s.text) {
				return group{cut: true}, true
			}
			break
		}
		value, end, ok := s.one(i)
		if !ok {
			if len(g.calls) > 0 || marked {
				return group{cut: true}, true
			}
			return group{}, false
		}
		g.calls = append(g.calls, s.call(name, id, value, lv))
		g.end = end
		at = blanks(s.text, end)
	}
	return g, len(g.calls) > 0
}
