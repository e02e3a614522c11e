package textcall

import "strings"

// mender reads nearly JSON and writes JSON. It looks ahead a bounded way only.
type mender struct {
	in    string
	at    int
	out   []byte
	step  int  // the last step of the ladder that was needed
	inner bool // quotes inside strings are unescaped: a quote ends one only when something fitting follows
	cut   bool // the text ends inside a string
	arrow bool // keys may look like options of a command: --key "value"
}

// mend reads the value at the beginning of a text, as strictly as it can: with quotes as they stand first. end is how
// far the value goes.
func mend(text string) (value string, end, step int, ok bool) {
	if end, ok := span(text, 0, 0); ok {
		return text[blanks(text, 0):end], end, asIs, true
	}
	if len(text) > longest {
		return "", 0, 0, false
	}
	if strings.HasPrefix(text, `{"{"`) && !strings.HasPrefix(text[2:], `{"{"`) { // the beginning came twice
		if value, end, _, ok := mend(text[2:]); ok {
			return value, end + 2, doubled, true
		}
	}
	for _, inner := range []bool{false, true} {
		m := mender{in: text, inner: inner, arrow: true, out: make([]byte, 0, len(text)+16)}
		if m.value(0) && !m.cut && isJSON(string(m.out)) && !(inner && m.step == missingCloser) && !m.stray() {
			return string(m.out), m.at, max(m.step, map[bool]int{true: innerQuotes}[inner]), true
		}
	}
	return "", 0, 0, false
}

// stray reports whether a value that was read with plain quotes is followed by what can only be more of a string.
func (m *mender) stray() bool {
	if m.inner {
		return false
	}
	rest := strings.TrimLeft(m.in[m.at:], " \t\r\n}])")
	return rest != "" && m.step == missingComma && rest[0] == '"'
}

func (m *mender) used(step int) { m.step = max(m.step, step) }

// space steps over blanks and comments.
func (m *mender) space() {
	for m.at < len(m.in) {
		switch c := m.in[m.at]; {
		case c == ' ' || c == '\n' || c == '\t' || c == '\r':
			m.at++
		case c < 0x20 || strings.HasPrefix(m.in[m.at:], "\u00a0"):
			m.used(controls)
			m.at += 1 + int(c>>7) // a no-break space has two bytes
		case strings.HasPrefix(m.in[m.at:], "\u202f"):
			m.used(controls)
			m.at += 3
		case strings.HasPrefix(m.in[m.at:], "//") || c == '#':
			m.used(literals)
			end := strings.IndexByte(m.in[m.at:], '\n')
			if end < 0 {
				m.at = len(m.in)
				return
			}
			m.at += end
		case strings.HasPrefix(m.in[m.at:], "/*"):
			m.used(literals)
			end := strings.Index(m.in[m.at:], "*/")
			if end < 0 {
				m.at = len(m.in)
				return
			}
			m.at += end + 2
		default:
			return
		}
	}
}

func (m *mender) value(depth int) bool {
	m.space()
	if m.at >= len(m.in) || depth > deepest {
		return false
	}
	switch c := m.in[m.at]; c {
	case '{':
		return m.object(depth)
	case '[':
		return m.list(depth)
	case '"', '\'', '`':
		return m.text(c, false)
	}
	if strings.HasPrefix(m.in[m.at:], "“") {
		return m.curly()
	}
	return m.literal()
}

func (m *mender) literal() bool {
	from := m.at
	for m.at < len(m.in) && !strings.ContainsRune(",}]: \t\r\n;)", rune(m.in[m.at])) {
		m.at++
	}
	switch w := m.in[from:m.at]; w {
	case "true", "false", "null":
		m.out = append(m.out, w...)
	case "True", "TRUE":
		m.out = append(m.out, "true"...)
		m.used(literals)
	case "False", "FALSE":
		m.out = append(m.out, "false"...)
		m.used(literals)
	case "None", "undefined", "NaN", "Infinity", "-Infinity", "nil", "NULL":
		m.out = append(m.out, "null"...)
		m.used(literals)
	default:
		w = strings.TrimPrefix(w, "+")
		if end, ok := spanNumber(w, 0); !ok || end != len(w) {
			return false
		}
		m.out = append(m.out, w...)
	}
	return true
}

func (m *mender) object(depth int) bool {
	return m.group("{}", ']', depth, func() bool { return m.key() && m.value(depth+1) })
}

// group reads the members between two brackets, stray or missing commas and closers mended. other is the closer of the
// other kind of group: inside one, it ends this one as well.
func (m *mender) group(brackets string, other byte, depth int, member func() bool) bool {
	m.at++
	m.out = append(m.out, brackets[0])
	for first := true; ; {
		m.space()
		for m.at < len(m.in) && m.in[m.at] == ',' {
			m.used(trailingComma)
			m.at++
			m.space()
		}
		switch {
		case m.at >= len(m.in), m.in[m.at] == other && depth > 0:
			m.used(missingCloser)
			m.out = append(m.out, brackets[1])
			return true
		case m.in[m.at] == brackets[1]:
			m.at++
			m.out = append(m.out, brackets[1])
			return true
		}
		if !first {
			m.out = append(m.out, ',')
		}
		first = false
		if !member() || !m.next(brackets[1]) {
			return false
		}
	}
}

// key reads a key and what stands between it and its value.
func (m *mender) key() bool {
	option := false
	switch c := m.in[m.at]; {
	case c == '"' || c == '\'' || c == '`':
		if !m.text(c, true) {
			return false
		}
	case strings.HasPrefix(m.in[m.at:], "“"):
		if !m.curly() {
			return false
		}
	default:
		from := m.at
		if m.arrow && strings.HasPrefix(m.in[m.at:], "--") {
			from, option = m.at+2, true
			m.at = from
		}
		for m.at < len(m.in) && (isWord(m.in[m.at]) || m.in[m.at] == '-' || m.in[m.at] == '$' || m.in[m.at] == '.') {
			m.at++
		}
		if m.at == from {
			return false
		}
		m.used(bareKeys)
		m.out = appendQuoted(m.out, m.in[from:m.at])
	}
	m.space()
	m.out = append(m.out, ':')
	rest := m.in[m.at:]
	switch {
	case strings.HasPrefix(rest, ":"):
		m.at++
		if strings.HasPrefix(rest, ":=") {
			m.used(bareKeys)
			m.at++
		}
	case strings.HasPrefix(rest, "=>"):
		m.used(bareKeys)
		m.at += 2
	case strings.HasPrefix(rest, "="):
		m.used(bareKeys)
		m.at++
	case rest != "" && (option || strings.IndexByte(`"{[`, rest[0]) >= 0):
		m.used(bareKeys) // the colon is missing
	default:
		return false
	}
	return true
}

func (m *mender) list(depth int) bool {
	return m.group("[]", '}', depth, func() bool { return m.value(depth + 1) })
}

// next steps over the comma behind a member; a missing one is no matter when another member begins.
func (m *mender) next(closer byte) bool {
	m.space()
	if m.at >= len(m.in) {
		return true
	}
	switch c := m.in[m.at]; {
	case c == ',' || c == ';':
		m.at++
		m.space()
		if m.at < len(m.in) && (m.in[m.at] == '}' || m.in[m.at] == ']') {
			m.used(trailingComma)
		}
		return true
	case c == '}' || c == ']':
		return true
	case closer == '}' && m.memberAt(m.at), closer == ']' && strings.IndexByte(`"'{[`, c) >= 0, m.arrow && c == '-':
		m.used(missingComma)
		return true
	}
	return false
}

// text reads a string in quotes of any kind.
func (m *mender) text(q byte, key bool) bool {
	triple := strings.Repeat(string(q), 3)
	if q != '"' || strings.HasPrefix(m.in[m.at:], triple) && m.triple(triple) {
		m.used(singleQuotes)
	}
	if strings.HasPrefix(m.in[m.at:], triple) && m.triple(triple) {
		end := strings.Index(m.in[m.at+3:], triple)
		m.out = appendQuoted(m.out, m.in[m.at+3:m.at+3+end])
		m.at += end + 6
		return true
	}
	m.out = append(m.out, '"')
	for m.at++; m.at < len(m.in); m.at++ {
		switch c := m.in[m.at]; {
		case c == q && m.ends(q, key):
			m.at++
			m.out = append(m.out, '"')
			return true
		case c == q:
			m.used(innerQuotes)
			m.out = appendEscaped(m.out, c)
		case c == '\\':
			m.escape(q)
		case c == '"':
			m.out = append(m.out, '\\', '"')
		case c == '\n' || c == '\r' || c == '\t':
			m.used(controls)
			m.out = appendEscaped(m.out, c)
		case c < 0x20:
			m.used(controls)
		default:
			m.out = append(m.out, c)
		}
	}
	m.cut = true
	return false
}

// triple reports whether three quotes here begin a string that three quotes end.
func (m *mender) triple(quotes string) bool {
	at := strings.Index(m.in[m.at+3:], quotes)
	return at >= 0
}

// curly reads a string in typographic quotes.
func (m *mender) curly() bool {
	const open, end = "“", "”"
	n := strings.Index(m.in[m.at:], end)
	if n < 0 {
		m.cut = true
		return false
	}
	m.used(singleQuotes)
	m.out = appendQuoted(m.out, m.in[m.at+len(open):m.at+n])
	m.at += n + len(end)
	return true
}

// escape copies an escape sequence; one that JSON does not know is a backslash that was meant.
func (m *mender) escape(q byte) {
	if m.at+1 >= len(m.in) {
		return
	}
	switch c := m.in[m.at+1]; {
	case strings.IndexByte(`"\/bfnrt`, c) >= 0:
		m.out = append(m.out, '\\', c)
	case c == 'u' && m.at+5 < len(m.in) && isHex(m.in[m.at+2:m.at+6]):
		m.out = append(m.out, '\\', 'u')
	case c == '\'' || c == q:
		m.used(escapes)
		m.out = append(m.out, c)
	default:
		m.used(escapes)
		m.out = append(m.out, '\\', '\\')
		return
	}
	m.at++
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}
