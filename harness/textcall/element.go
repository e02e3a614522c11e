package textcall

import "strings"

// readElement reads a call whose tag is the name of a tool and whose parts are its parameters:
// <read_file><path>a.go</path></read_file>. The two of OpenHands hold a script instead.
func readElement(s *scanner, at int, l lexeme) (group, bool) {
	key := map[string]string{"execute_bash": "command", "execute_ipython": "code"}[l.name]
	if key != "" && strings.TrimSpace(l.attrs) == "" {
		value, end, ok := s.part(at, l.name)
		if ok {
			c := s.typedCall(l.name, []member{{key, quote(trimLines(value))}}, medium)
			return group{calls: []found{c}, end: end}, strings.TrimSpace(value) != ""
		}
	}
	if s.nested {
		return group{}, false
	}
	return s.element(at, l, medium)
}

// element reads one tool as an element.
func (s *scanner) element(at int, l lexeme, lv level) (group, bool) {
	t := s.box.find(l.name)
	if t == nil || strings.TrimSpace(l.attrs) != "" {
		return group{}, false
	}
	sh := t.form()
	var args []member
	for at = blanks(s.text, l.end); ; {
		next, ok := s.lexAt(at)
		if !ok || len(args) > 100 {
			return group{}, false
		}
		if next.name == "/"+l.name {
			if len(args) == 0 && len(sh.required) > 0 {
				return group{}, false
			}
			return group{calls: []found{s.typedCall(l.name, args, lv)}, end: next.end}, true
		}
		k, declared := s.box.parameter(t, next.name)
		if !declared || strings.TrimSpace(next.attrs) != "" {
			return group{}, false
		}
		value, end, ok := s.childValue(next.end, next.name, l.name, t)
		if !ok {
			return group{cut: len(args) > 0}, len(args) > 0
		}
		args = append(args, member{next.name, typed(trimLines(value), k, false)})
		at = blanks(s.text, end)
	}
}

// childValue reads up to the closing tag that another part or the end of the element follows.
func (s *scanner) childValue(start int, child, parent string, t *tool) (value string, end int, ok bool) {
	close := "</" + child + ">"
	for at := start; ; at++ {
		n := strings.Index(s.text[at:], close)
		if n < 0 {
			s.spend(len(s.text) - start)
			return "", start, false
		}
		at += n
		next, isMark := s.lexAt(blanks(s.text, at+len(close)))
		if !isMark {
			continue
		}
		if _, declared := s.box.parameter(t, next.name); declared || next.name == "/"+parent {
			return s.text[start:at], at + len(close), true
		}
	}
}
