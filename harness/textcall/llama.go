package textcall

import "strings"

// readPythonTag reads what Llama writes behind <|python_tag|>: objects, NAME.call(…), or a list of calls.
func readPythonTag(s *scanner, at int, l lexeme) (group, bool) {
	at = blanks(s.text, l.end)
	if at >= len(s.text) {
		return group{}, false
	}
	var g group
	ok := false
	switch c := s.text[at]; {
	case c == '[' && s.listOfCalls(at):
		g, ok = s.codeList(at, high)
	case c == '{' || c == '[':
		g, ok = s.objects(at, "|python_tag|")
		for i := range g.calls { // nothing closes these
			if s.tail(g.end) == len(s.text) && !g.calls[i].mended && g.calls[i].call.Raw == "" {
				g.calls[i].level = high
			}
		}
	case isLetter(c):
		g, ok = s.codeLines(at, "")
		for i := range g.calls {
			c := &g.calls[i]
			if name, is := strings.CutSuffix(c.call.Name, ".call"); is {
				*c = s.call(name, "", string(c.call.Args), c.level)
			}
		}
	}
	if ok && !g.cut {
		g.end = s.closed(g.end, "")
	}
	return g, ok
}
