package textcall

import "strings"

// What a Screen looks at: the beginnings of lines, marks, objects and fences.

// line looks at the beginning of a line: a fence, or a word that may announce a call.
func (s *Screen) line() bool {
	at := s.at
	for at < len(s.text) && s.text[at] == ' ' && at-s.at < 8 {
		at++
	}
	if at >= len(s.text) {
		return s.final && s.plain()
	}
	switch c := s.text[at]; {
	case c == '`' || c == '~':
		return s.openFence(at)
	case isLetter(c):
		if head, clear := s.head(at); !clear && !s.final {
			return false
		} else if head {
			s.hold(s.at)
			return false
		}
		i := at
		for i < len(s.text) && (isWord(s.text[i]) || s.text[i] == '.' || s.text[i] == '-') && i-at < 80 {
			i++
		}
		if i >= len(s.text) {
			return s.final && s.plain()
		}
		name := s.text[at:i]
		switch s.text[i] {
		case '[', '{', '(':
			if name == "functools" || s.scan.box.find(cleanName(name)) != nil {
				s.hold(s.at)
				return false
			}
		case ':', '=':
			if name == "Action" && s.text[i] == ':' || name == "tool_calls" {
				s.hold(s.at)
				return false
			}
		}
	}
	return s.plain()
}

// head reports whether a line begins with the name of a tool that a mark in the middle of its call follows; clear: enough
// has come to tell.
func (s *Screen) head(at int) (head, clear bool) {
	i := at
	for i < len(s.text) && isWord(s.text[i]) && i-at < 80 {
		i++
	}
	if i >= len(s.text) {
		return false, false
	}
	word := s.text[at:i]
	if t, _ := s.scan.box.prefix(word); t == nil && word != "function" {
		return false, true
	}
	n := strings.IndexAny(s.text[i:min(len(s.text), i+60)], "<.,;(){}[]")
	if n < 0 {
		return false, len(s.text) >= i+60
	}
	if s.text[i+n] != '<' {
		return false, true
	}
	l, is := lex(s.text, i+n)
	return is == yes && (l.name == "arg_key" || l.name == "/arg_key" || l.name == "|tool_sep|"), is != maybe
}

func (s *Screen) plain() bool {
	s.begin = false
	return s.at < len(s.text)
}

// mark looks at a mark of a family, of thinking or of a template.
func (s *Screen) mark() bool {
	rest := s.text[s.at:]
	if strings.HasPrefix(rest, "<!--") || !s.final && strings.HasPrefix("<!--", rest) {
		return s.comment(rest)
	}
	l, is := lex(s.text, s.at)
	if is == maybe && !s.final {
		return false
	}
	s.scan.at = s.at
	if is != yes || s.scan.quoted() {
		s.at++
		return true
	}
	if isThink(l.name) {
		return s.thinkMark(l)
	}
	if f := s.scan.marks[l.name]; f.read != nil {
		switch calls, clear := s.calls(f, l); {
		case !clear && !s.final:
			return false
		case calls:
			s.hold(s.at)
			return false
		}
	}
	if tokens[l.name] || closers[l.name] {
		rest := s.text[l.end:]
		if !tokens[l.name] && !s.final && strings.TrimLeft(rest, " \t\r\n") == "" {
			return false
		}
		if s.scan.orphan(l) {
			s.drop(s.scan.at)
			return true
		}
	}
	s.at++
	return true
}

// comment steps over an HTML comment.
func (s *Screen) comment(rest string) bool {
	if s.uncommented || !s.final && len(s.text) < s.retry {
		s.at += map[bool]int{true: 1}[s.uncommented]
		return s.uncommented
	}
	end := strings.Index(rest, "-->")
	switch {
	case end >= 0:
		s.at += end + len("-->")
	case !s.final:
		s.retry = len(s.text) + len(s.text)/4 + 64
		return false
	default:
		s.uncommented = true
		s.at++
	}
	s.retry = 0
	return true
}

// calls reports whether a mark can begin a call, as far as that shows in what follows; clear: enough has come.
func (s *Screen) calls(f family, l lexeme) (calls, clear bool) {
	switch f.name {
	case "function", "invoke":
		_, ok := attribute(l.attrs, "name")
		return ok || l.name == "tool_invoke", true
	case "tag per tool":
		next := blanks(s.text, l.end)
		return next < len(s.text) && s.text[next] == '<' && strings.TrimSpace(l.attrs) == "", next < len(s.text)
	case "tagged":
		next := blanks(s.text, l.end)
		if next >= len(s.text) {
			return true, false
		}
		return strings.IndexByte("{[<`", s.text[next]) >= 0 || isLetter(s.text[next]), true
	}
	return true, true
}

// object looks at an object or list that may be a call when it runs to the end of the text.
func (s *Screen) object() bool {
	if !s.final && len(s.text)-s.at < 80 {
		return false
	}
	if s.scan.from = min(s.scan.from, s.at); !s.scan.likely(s.at) {
		s.at++
		return true
	}
	if !s.final && len(s.text) < s.retry {
		return false
	}
	s.retry = 0
	for at := s.at; ; {
		end, ok := span(s.text, at, 0)
		if !ok {
			if end < len(s.text) || s.final { // damaged, or cut: Read tells
				s.hold(s.at)
			} else {
				s.retry = len(s.text) + len(s.text)/4 + 64
			}
			return false
		}
		at = end
		for at < len(s.text) && strings.IndexByte(" \t\r\n;,", s.text[at]) >= 0 {
			at++
		}
		switch {
		case at >= len(s.text):
			if s.final {
				s.hold(s.at)
			}
			return false
		case s.text[at] == '{' || s.text[at] == '[':
		case s.text[at] == '<' || s.text[at] == '}' || s.text[at] == ']':
			s.hold(s.at) // tokens of a template may follow, or closers too many
			return false
		default:
			s.at = end
			return true
		}
	}
}

// openFence looks at the line that opens a fence and the beginning of what is in it.
func (s *Screen) openFence(at int) bool {
	if !s.final && strings.IndexByte(s.text[at:], '\n') < 0 {
		return len(s.text)-at > 400 && s.plain()
	}
	mark, info, next, ok := fenceAt(s.text, at)
	if !ok {
		return s.plain()
	}
	if !promising(info, "{") {
		s.fence, s.at, s.begin = mark, next, true
		return true
	}
	if !s.final && blanks(s.text, next) >= len(s.text) {
		return false
	}
	if !promising(info, s.text[next:]) || s.scan.announced(s.at) {
		s.fence, s.at, s.begin = mark, next, true
		return true
	}
	end, ok := s.fenceEnd(mark, next)
	if !ok {
		if s.final {
			s.hold(s.at)
		}
		return false
	}
	switch after := blanks(s.text, end); {
	case after >= len(s.text):
		if s.final {
			s.hold(s.at)
		}
		return false
	case s.text[after] == '`' || s.text[after] == '~' || s.text[after] == '<':
		s.hold(s.at) // another block may follow
		return false
	}
	s.at, s.begin = end, true
	return true
}

// fenceEnd finds the end of a fenced block. Lines that were looked at are not looked at again.
func (s *Screen) fenceEnd(mark string, next int) (end int, ok bool) {
	for line := max(next, s.retry); line < len(s.text); {
		stop, after := lineEnd(s.text, line)
		if after == len(s.text) && stop == after && !s.final {
			return 0, false // the line is not complete
		}
		if closes(s.text[line:stop], mark) {
			s.retry = 0
			return after, true
		}
		line = after
		s.retry = line
	}
	return 0, false
}

// inFence shows a fenced block that holds no call.
func (s *Screen) inFence() bool {
	end, next := lineEnd(s.text, s.at)
	if s.begin {
		if end == next && !s.final && strings.Trim(s.text[s.at:end], s.fence[:1]+" \t\r") == "" {
			return false // it may become the line that closes
		}
		s.begin = false
		if closes(s.text[s.at:end], s.fence) {
			s.fence = ""
		}
	}
	s.at, s.begin = next, end < next
	return s.at < len(s.text)
}
