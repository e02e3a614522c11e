package textcall

import "strings"

// ends reports whether the quote here ends its string.
func (m *mender) ends(q byte, key bool) bool {
	if !m.inner && q == '"' {
		return true
	}
	at := blanks(m.in, m.at+1)
	if at >= len(m.in) {
		return true
	}
	switch c := m.in[at]; {
	case key:
		return c == ':' || c == '='
	case c == ',':
		next := blanks(m.in, at+1)
		return next >= len(m.in) || m.in[next] == '}' || m.in[next] == ']' || m.memberAt(next) || m.elementAt(next, q)
	case c == '}' || c == ']':
		next := at
		for next < len(m.in) && (m.in[next] == '}' || m.in[next] == ']' || m.in[next] == ' ' || m.in[next] == '\n' || m.in[next] == '\t' || m.in[next] == '\r') && next-at < 400 {
			next++
		}
		return next >= len(m.in) || m.in[next] == ',' || m.in[next] == '<' || m.in[next] == '`' || m.in[next] == ';' || m.in[next] == '{' || m.memberAt(next)
	}
	return m.memberAt(at) && m.in[at] == '"'
}

// elementAt reports whether another element of a list of strings, and the end of it or a comma, follow within reach.
func (m *mender) elementAt(at int, q byte) bool {
	rest := m.in[at:min(len(m.in), at+400)]
	if rest == "" {
		return false
	}
	if rest[0] == '{' || rest[0] == '[' {
		return true
	}
	if rest[0] != q {
		end, ok := spanNumber(rest, 0)
		return ok && end < len(rest) && (rest[end] == ',' || rest[end] == ']')
	}
	end := strings.IndexByte(rest[1:], q)
	if end < 0 {
		return false
	}
	after := strings.TrimLeft(rest[end+2:], " \t\r\n")
	return strings.HasPrefix(after, ",") || strings.HasPrefix(after, "]")
}

// memberAt reports whether a key and a colon stand at a place.
func (m *mender) memberAt(at int) bool {
	rest := m.in[at:min(len(m.in), at+160)]
	if rest == "" {
		return false
	}
	if q := rest[0]; q == '"' || q == '\'' {
		end := strings.IndexByte(rest[1:], q)
		if end <= 0 || strings.ContainsAny(rest[1:end+1], "\n{}") {
			return false
		}
		rest = strings.TrimLeft(rest[end+2:], " \t\r\n")
		return strings.HasPrefix(rest, ":") || strings.HasPrefix(rest, "=>")
	}
	n := 0
	for n < len(rest) && (isWord(rest[n]) || rest[n] == '-') {
		n++
	}
	after := strings.TrimLeft(rest[n:], " \t\r\n")
	return n > 0 && (strings.HasPrefix(after, ":") && !strings.HasPrefix(after, "://") || strings.HasPrefix(after, "=>"))
}
