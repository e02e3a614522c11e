package textcall

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// python reads calls in the way of that language with literals for arguments. It knows no expressions.
type python struct {
	in  string
	at  int
	cut bool // the text ends in the middle
}

func (p *python) space() {
	for p.at < len(p.in) && strings.IndexByte(" \t\r\n", p.in[p.at]) >= 0 {
		p.at++
	}
}

func (p *python) peek() byte {
	if p.space(); p.at >= len(p.in) {
		p.cut = true
		return 0
	}
	return p.in[p.at]
}

func (p *python) name(dots bool) string {
	from := p.at
	for p.at < len(p.in) && (isWord(p.in[p.at]) || dots && (p.in[p.at] == '.' || p.in[p.at] == '-')) {
		p.at++
	}
	return p.in[from:p.at]
}

// call reads NAME(k=literal, …). The arguments of the only object given, or values in order, stay a list for the tool to
// take.
func (p *python) call() (name, args string, ok bool) {
	p.space()
	if name = p.name(true); name == "" || !isLetter(name[0]) || p.peek() != '(' {
		return "", "", false
	}
	p.at++
	var named []member
	var bare []string
	for {
		if p.peek() == ')' {
			p.at++
			break
		}
		key, from := "", p.at
		if isLetter(p.in[min(p.at, len(p.in)-1)]) {
			key = p.name(false)
			if p.peek() != '=' || strings.HasPrefix(p.in[p.at:], "==") {
				key, p.at = "", from
			} else {
				p.at++
			}
		}
		value, ok := p.value(0)
		if !ok {
			return "", "", false
		}
		if key == "" {
			bare = append(bare, value)
		} else {
			named = append(named, member{key, value})
		}
		switch p.peek() {
		case ',':
			p.at++
		case ')':
		default:
			return "", "", false
		}
	}
	switch {
	case len(bare) == 1 && len(named) == 0 && bare[0][0] != '[':
		return name, bare[0], true
	case len(bare) > 0 && len(named) == 0:
		return name, "[" + strings.Join(bare, ",") + "]", true
	case len(bare) > 0:
		return "", "", false
	}
	return name, objectOf(named), true
}

func (p *python) value(depth int) (string, bool) {
	c := p.peek()
	if depth > deepest {
		return "", false
	}
	switch {
	case c == 0:
		return "", false
	case c == '[' || c == '(':
		end := map[byte]byte{'[': ']', '(': ')'}[c]
		p.at++
		var all []string
		for p.peek() != end {
			v, ok := p.value(depth + 1)
			if !ok {
				return "", false
			}
			all = append(all, v)
			if c := p.peek(); c == ',' {
				p.at++
			} else if c != end {
				return "", false
			}
		}
		p.at++
		return "[" + strings.Join(all, ",") + "]", true
	case c == '{':
		return p.dict(depth)
	case c == '"' || c == '\'':
		s, ok := p.text()
		return quote(s), ok
	}
	w := p.word()
	switch w {
	case "True", "true":
		return "true", true
	case "False", "false":
		return "false", true
	case "None", "null":
		return "null", true
	}
	if strings.EqualFold(w, "r") || strings.EqualFold(w, "f") || strings.EqualFold(w, "b") || strings.EqualFold(w, "u") {
		if p.at < len(p.in) && (p.in[p.at] == '"' || p.in[p.at] == '\'') && w != "f" && w != "F" {
			s, ok := p.raw(strings.EqualFold(w, "r"))
			return quote(s), ok
		}
	}
	end, ok := spanNumber(w, 0)
	return w, ok && end == len(w)
}

func (p *python) word() string {
	from := p.at
	for p.at < len(p.in) && (isWord(p.in[p.at]) || strings.IndexByte("+-.", p.in[p.at]) >= 0) {
		p.at++
	}
	return p.in[from:p.at]
}

func (p *python) dict(depth int) (string, bool) {
	p.at++
	var all []member
	for p.peek() != '}' {
		if c := p.peek(); c != '"' && c != '\'' {
			return "", false
		}
		key, ok := p.text()
		if !ok || p.peek() != ':' {
			return "", false
		}
		p.at++
		v, ok := p.value(depth + 1)
		if !ok {
			return "", false
		}
		all = append(all, member{key, v})
		if c := p.peek(); c == ',' {
			p.at++
		} else if c != '}' {
			return "", false
		}
	}
	p.at++
	return objectOf(all), true
}

func (p *python) text() (string, bool) { return p.raw(false) }

// raw reads a string in quotes of one or three; verbatim leaves backslashes alone.
func (p *python) raw(verbatim bool) (string, bool) {
	q := p.in[p.at : p.at+1]
	if triple := strings.Repeat(q, 3); strings.HasPrefix(p.in[p.at:], triple) {
		q = triple
	}
	p.at += len(q)
	var b strings.Builder
	for p.at < len(p.in) {
		switch c := p.in[p.at]; {
		case strings.HasPrefix(p.in[p.at:], q):
			p.at += len(q)
			return b.String(), true
		case c == '\\' && p.at+1 < len(p.in) && verbatim:
			b.WriteString(p.in[p.at : p.at+2])
			p.at += 2
		case c == '\\' && p.at+1 < len(p.in):
			p.escape(&b)
		default:
			b.WriteByte(c)
			p.at++
		}
	}
	p.cut = true
	return "", false
}

func (p *python) escape(b *strings.Builder) {
	c := p.in[p.at+1]
	p.at += 2
	switch c {
	case 'n':
		b.WriteByte('\n')
	case 't':
		b.WriteByte('\t')
	case 'r':
		b.WriteByte('\r')
	case '\\', '\'', '"':
		b.WriteByte(c)
	case '\n':
	case 'x', 'u', 'U':
		n := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
		if p.at+n <= len(p.in) {
			if r, err := strconv.ParseUint(p.in[p.at:p.at+n], 16, 32); err == nil && utf8.ValidRune(rune(r)) {
				b.WriteRune(rune(r))
				p.at += n
				return
			}
		}
		b.WriteString(`\` + string(c))
	default:
		b.WriteString(`\` + string(c))
	}
}

// codeList reads [NAME(…), NAME(…)].
func (s *scanner) codeList(at int, l level) (group, bool) {
	p := &python{in: s.text, at: at + 1}
	var g group
	for p.peek() != ']' {
		name, args, ok := p.call()
		if !ok || !plausible(cleanName(name)) || len(g.calls) >= most {
			s.spend(p.at - at)
			return group{cut: p.cut && len(g.calls) > 0}, p.cut && len(g.calls) > 0
		}
		c := s.call(name, "", args, l)
		c.form = "code"
		g.calls = append(g.calls, c)
		if p.peek() == ',' {
			p.at++
		} else if p.at >= len(p.in) || p.in[p.at] != ']' {
			s.spend(p.at - at)
			return group{}, false
		}
	}
	g.end = p.at + 1
	return g, len(g.calls) > 0
}

// codeLines reads calls in lines up to a closing tag.
func (s *scanner) codeLines(at int, open string) (group, bool) {
	p := &python{in: s.text, at: at}
	var g group
	for {
		name, args, ok := p.call()
		if !ok || !plausible(cleanName(name)) {
			s.spend(p.at - at)
			if p.cut && s.box.find(cleanName(name)) != nil {
				return group{cut: true}, true
			}
			return group{}, false
		}
		g.calls = append(g.calls, s.call(name, "", args, high))
		p.space()
		if p.at >= len(p.in) || !isLetter(p.in[p.at]) || len(g.calls) >= most {
			break
		}
	}
	g.end = p.at
	return g, true
}

// pythonic reads [NAME(…)] that is the whole answer.
func (s *scanner) pythonic(at int) bool {
	if !s.silent(at) {
		return false
	}
	g, ok := s.codeList(at, medium)
	if !ok || g.cut || s.tail(g.end) < len(s.text) {
		return false
	}
	for _, c := range g.calls {
		if !c.known {
			return false
		}
	}
	g.end = len(s.text)
	return s.take(g, "code")
}

// code reads a block of code that is calls and nothing else, print() around them or not.
func (s *scanner) code(body string) []found {
	p := &python{in: body}
	var calls []found
	for p.space(); p.at < len(body) && len(calls) < most; p.space() {
		printed := strings.HasPrefix(body[p.at:], "print(") && s.box.names["print"] == nil
		if printed {
			p.at += len("print(")
		}
		name, args, ok := p.call()
		if !ok || !plausible(cleanName(name)) || printed && p.peek() != ')' {
			return nil
		}
		if printed {
			p.at++
		}
		c := s.call(name, "", args, low)
		c.form = "code"
		calls = append(calls, c)
	}
	return calls
}
