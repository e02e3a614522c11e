package config

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// The TOML library tells values but not where they stand, so this scanner finds the places: it walks a text and marks
// each key and table header. It judges nothing, and on a text that is not TOML it marks what it can.

// mark is the place of a key or a header. An element of a list stands in a path as "[0]".
type mark struct {
	path   []string
	header bool
	at     int // offset of the key or the bracket
	from   int // offsets of the value, of a key
	to     int
}

type scanner struct {
	text  string
	i     int
	marks []mark
	lists map[string]int // number of entries of each array of tables so far
	depth int
}

func scan(text string) []mark {
	s := &scanner{text: text, lists: map[string]int{}}
	var table []string
	for {
		s.skip(" \t\r\n", true)
		if s.i >= len(s.text) {
			return s.marks
		}
		start := s.i
		if s.text[s.i] == '[' {
			list := strings.HasPrefix(s.text[s.i:], "[[")
			s.i++
			if list {
				s.i++
			}
			if key, ok := s.key(); ok {
				table = s.enter(key, list)
				s.marks = append(s.marks, mark{path: table, header: true, at: start})
			}
		} else if !s.pair(table) {
			s.line()
			continue
		}
		s.line()
	}
}

// enter resolves a header: below an array of tables it means the array's last entry.
func (s *scanner) enter(key []string, list bool) []string {
	var path []string
	for i, part := range key {
		path = append(path, part)
		name := strings.Join(path, "\x00")
		if list && i == len(key)-1 {
			s.lists[name]++
		}
		if n := s.lists[name]; n > 0 {
			path = append(path, "["+strconv.Itoa(n-1)+"]")
		}
	}
	return path
}

// pair reads "key = value" below a table.
func (s *scanner) pair(table []string) bool {
	start := s.i
	key, ok := s.key()
	s.skip(" \t", false)
	if !ok || s.i >= len(s.text) || s.text[s.i] != '=' {
		return false
	}
	s.i++
	s.skip(" \t", false)
	path := append(append([]string(nil), table...), key...)
	index := len(s.marks)
	s.marks = append(s.marks, mark{path: path, at: start, from: s.i})
	s.value(path)
	s.marks[index].to = s.i
	return true
}

func (s *scanner) value(path []string) {
	if s.i >= len(s.text) {
		return
	}
	switch rest := s.text[s.i:]; {
	case rest[0] == '"' || rest[0] == '\'':
		s.quoted()
	case rest[0] == '[' || rest[0] == '{':
		s.depth++
		if s.depth < 64 { // deeper than anyone writes: only the place of the outer key is lost
			s.nested(path, rest[0])
		} else {
			s.i = len(s.text)
		}
		s.depth--
	default:
		end := strings.IndexAny(rest, ",]}#\n")
		if end < 0 {
			end = len(rest)
		}
		s.i += len(strings.TrimRight(rest[:end], " \t\r"))
	}
}

func (s *scanner) nested(path []string, open byte) {
	s.i++
	for n := 0; ; n++ {
		s.skip(" \t\r\n,", true)
		if s.i >= len(s.text) {
			return
		}
		if c := s.text[s.i]; c == ']' || c == '}' {
			s.i++
			return
		}
		before := s.i
		if open == '{' {
			s.pair(path)
		} else {
			s.value(append(append([]string(nil), path...), "["+strconv.Itoa(n)+"]"))
		}
		if s.i == before {
			s.i++
		}
	}
}

// quoted passes over a string of any of the four kinds and returns what is between its quotes.
func (s *scanner) quoted() string {
	quote := s.text[s.i : s.i+1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(s.text[s.i:], triple) {
		quote = triple
	}
	s.i += len(quote)
	start := s.i
	for s.i < len(s.text) {
		switch {
		case quote[0] == '"' && s.text[s.i] == '\\':
			s.i++
			if s.i < len(s.text) {
				s.i++
			}
			continue
		case strings.HasPrefix(s.text[s.i:], quote):
			end := s.i
			s.i += len(quote)
			for len(quote) == 3 && s.i < len(s.text) && s.text[s.i] == quote[0] { // up to two quotes may end the text itself
				s.i, end = s.i+1, end+1
			}
			return s.text[start:end]
		case len(quote) == 1 && s.text[s.i] == '\n':
			return s.text[start:s.i]
		}
		s.i++
	}
	return s.text[start:]
}

// key reads a dotted key.
func (s *scanner) key() ([]string, bool) {
	var key []string
	for {
		s.skip(" \t", false)
		if s.i >= len(s.text) {
			return nil, false
		}
		start := s.i
		switch c := s.text[s.i]; {
		case c == '\'':
			key = append(key, s.quoted())
		case c == '"':
			key = append(key, unescape(s.quoted()))
		default:
			for s.i < len(s.text) && bare(s.text[s.i]) {
				s.i++
			}
			if s.i == start {
				return nil, false
			}
			key = append(key, s.text[start:s.i])
		}
		s.skip(" \t", false)
		if s.i >= len(s.text) || s.text[s.i] != '.' {
			return key, true
		}
		s.i++
	}
}

func bare(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// skip passes over the given characters and, on request, comments.
func (s *scanner) skip(set string, comments bool) {
	for s.i < len(s.text) {
		c := s.text[s.i]
		if comments && c == '#' {
			s.line()
			continue
		}
		if strings.IndexByte(set, c) < 0 {
			return
		}
		s.i++
	}
}

// line moves to the end of the line.
func (s *scanner) line() {
	if end := strings.IndexByte(s.text[s.i:], '\n'); end >= 0 {
		s.i += end
		return
	}
	s.i = len(s.text)
}

// unescape undoes the escapes of a basic string.
func unescape(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		i++
		digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[text[i]]
		if digits > 0 && i+digits < len(text) {
			if n, err := strconv.ParseUint(text[i+1:i+1+digits], 16, 32); err == nil && n <= utf8.MaxRune {
				b.WriteRune(rune(n))
				i += digits
				continue
			}
		}
		if at := strings.IndexByte(`btnfre`, text[i]); at >= 0 {
			b.WriteByte("\b\t\n\f\r\x1b"[at])
			continue
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// places answers where a key stands in a text.
type places struct {
	text  string
	marks []mark
}

func (p *places) find(path []string) (mark, bool) {
	if p.marks == nil && p.text != "" {
		p.marks = scan(p.text)
	}
	for _, m := range p.marks {
		if same(m.path, path) {
			return m, true
		}
	}
	return mark{}, false
}

// line is the 1-based line of a key, or of the innermost thing around it that has one; 0 when nothing has.
func (p *places) line(path []string) int {
	for n := len(path); n > 0; n-- {
		if m, ok := p.find(path[:n]); ok {
			return lineAt(p.text, m.at)
		}
	}
	for _, m := range p.marks { // a table that only dotted keys made
		if len(m.path) > len(path) && same(m.path[:len(path)], path) {
			return lineAt(p.text, m.at)
		}
	}
	return 0
}

// twice finds the first key that stands in two places.
func (p *places) twice() (path []string, first, second int, found bool) {
	seen := map[string]int{}
	for _, m := range scan(p.text) {
		name := strings.Join(m.path, "\x00")
		if at, ok := seen[name]; ok {
			return m.path, lineAt(p.text, at), lineAt(p.text, m.at), true
		}
		seen[name] = m.at
	}
	return nil, 0, 0, false
}

func lineAt(text string, at int) int { return 1 + strings.Count(text[:at], "\n") }

func same(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// dotted writes a path as a person would.
func dotted(path []string) string {
	var b strings.Builder
	for i, part := range path {
		index := strings.HasPrefix(part, "[")
		if i > 0 && !index {
			b.WriteByte('.')
		}
		if plain := strings.IndexFunc(part, func(r rune) bool { return r > 127 || !bare(byte(r)) }) < 0; index || plain && part != "" {
			b.WriteString(part)
		} else {
			b.WriteString(quote(part))
		}
	}
	return b.String()
}
