package textcall

import "strings"

// head is how long the beginning of a call may be that is looked at for being unfinished.
const head = 2000

// unfinished reports whether a text ends within the head of a call that begins with the mark at a place: before its
// arguments. maybe: nothing but the mark itself is there, or a word, as prose has it as well.
func (s *scanner) unfinished(at int, l lexeme) whether {
	if len(s.text)-at > head {
		return no
	}
	sure := maybe
	switch {
	case l.name == "|start|" || l.name == "|channel|": // of any message of Harmony
		if rest := s.text[at:]; strings.Contains(rest, "<|message|>") || strings.IndexByte(rest, '\n') >= 0 || !strings.Contains(rest, " to=") {
			return no
		}
		return yes
	case l.name[0] == '|' || l.name[0] == '[': // no prose has these
		sure = yes
	}
	last := l.name
	for at = blanks(s.text, l.end); at < len(s.text); {
		switch c := s.text[at]; {
		case c == '<' || c == '[' && s.text[at-1] != ' ' && sure == yes:
			next, is := lex(s.text, at)
			if is == maybe {
				return yes
			}
			if is != yes || !s.inHead(next.name) {
				return no
			}
			if next.name != l.name { // the opening one may come twice
				sure = yes
			}
			at, last = blanks(s.text, next.end), next.name
		case c == '{' || c == '[':
			if _, whole := span(s.text, at, 0); whole {
				return no
			}
			next := blanks(s.text, at+1)
			if next >= len(s.text) || strings.IndexByte(`"'{`, s.text[next]) >= 0 {
				return yes
			}
			return no
		case (isLetter(c) || c == '"') && last != "function" && last != "invoke" && last != "parameter" && last != "param" && last != "arg_value":
			word := at
			for at < len(s.text) && (isWord(s.text[at]) || strings.IndexByte(`.-:"=`, s.text[at]) >= 0) {
				at++
			}
			if at >= len(s.text) && sure == maybe && !s.box.begins(s.text[word:]) {
				return no
			}
			if next := blanks(s.text, at); next < len(s.text) && (s.text[next] != '<' && s.text[next] != '[' || s.text[at] == ' ') {
				return no
			} else {
				at = next
			}
		default:
			return no
		}
	}
	return sure
}

// inHead reports whether a mark can stand before the arguments of a call.
func (s *scanner) inHead(name string) bool {
	switch name {
	case "parameter", "param", "arg_key", "/arg_key", "arg_value", "name", "|constrain|", "|message|", "|sep|", "|tool_call_argument_begin|", "|plugin|",
		"[ARGS", "[CALL_ID", "[TOOL_CALLS":
		return true
	}
	return s.marks[name].read != nil
}

// broken deals with a mark that the text ends within: the beginning of a call, or what would be no part of the answer
// if it were whole.
func (s *scanner) broken() bool {
	rest := s.text[s.at:]
	opens, closes := s.began(rest)
	switch {
	case len(s.found) > 0 && strings.TrimSpace(s.text[s.from:s.at]) == "" && len(rest) < 64:
		opens = opens && len(rest) > 6 // what follows a call right away is no prose
	case !opens && !closes || s.quoted():
		return false
	case len(s.found) == 0:
		if opens {
			s.tear(s.at)
		}
		return false
	}
	s.keep(s.at)
	s.bare = true
	s.cut = s.cut || opens && !closes
	s.at, s.from = len(s.text), len(s.text)
	return true
}

// began reports whether the beginning of a mark is long enough to tell that it is one that opens a call, or one that
// ends one.
func (s *scanner) began(rest string) (opens, closes bool) {
	plain := strings.NewReplacer("｜", "|", "‖", "|", "▁", "_").Replace(strings.ToValidUTF8(rest, ""))
	for _, prefix := range []string{"<|DSML|", "</|DSML|"} {
		if len(plain) > 3 && strings.HasPrefix(prefix, plain) {
			return prefix[1] != '/', prefix[1] == '/'
		}
		if strings.HasPrefix(plain, prefix) {
			return prefix[1] != '/', prefix[1] == '/'
		}
	}
	if at := strings.IndexByte(plain, ':'); at > 0 {
		plain = plain[:1] + plain[at+1:]
	}
	for name, f := range s.marks {
		if f.name != "tag per tool" && starts(name, plain) {
			opens = true
		}
	}
	for name := range closers {
		closes = closes || starts(name, plain)
	}
	for name := range tokens {
		closes = closes || starts(name, plain) && s.marks[name].read == nil
	}
	return opens, closes
}

// starts reports whether a text is the beginning of a mark, and of no shorter word.
func starts(mark, text string) bool {
	least := 6
	if mark[0] == '|' || mark[0] == '/' {
		least = 4
	}
	if mark[0] != '[' {
		mark = "<" + mark
	}
	if name, _, spaced := strings.Cut(text, " "); spaced || strings.ContainsRune(text, '=') {
		name, _, _ = strings.Cut(name, "=")
		return len(name) >= least && name == mark
	}
	return len(text) >= least && strings.HasPrefix(mark+">", text)
}

// tear notes where what may be a call has no end.
func (s *scanner) tear(at int) {
	if !s.torn {
		s.torn, s.tornAt = true, at
	}
}

// ending reports whether the text ends within a mark that ends a call.
func (s *scanner) ending(at int) bool {
	rest := s.text[at:]
	if len(rest) < 2 || len(rest) > 64 || rest[0] != '<' {
		return false
	}
	if rest == "</" {
		return true
	}
	_, is := lex(s.text, at)
	if is != maybe {
		return false
	}
	_, closes := s.began(rest)
	return closes
}
