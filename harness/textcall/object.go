package textcall

import (
	"crypto/rand"
	"encoding/json"
	"strings"
)

// call makes a found call of a name and the text of its arguments, whatever they are. Arguments that cannot be read
// stay as written: the tool answers them with an error.
func (s *scanner) call(name, id, args string, l level) found {
	object, mended, ok := s.box.find(s.box.named(name)).argumentsOf(args)
	if !ok {
		object = "{}"
		s.spend(len(args))
	}
	f := s.made(name, id, object, l)
	if !ok {
		f.call.Raw = args
	}
	if f.mended = mended; mended || !ok {
		f.level = min(f.level, medium)
	}
	return f
}

// made is call for arguments that are a valid object.
func (s *scanner) made(name, id, object string, l level) found {
	f := found{level: l}
	f.call.Name = s.box.named(name)
	t := s.box.meant(f.call.Name, object)
	f.known = t != nil
	f.call.Args = json.RawMessage(t.conform(object))
	if f.call.ID = id; id == "" {
		f.call.ID = "call_" + strings.ToLower(rand.Text()[:12])
	}
	return f
}

// typedCall is call for arguments that came one by one.
func (s *scanner) typedCall(name string, args []member, l level) found {
	return s.made(name, "", objectOf(args), l)
}

var (
	nameKeys = []string{"name", "function", "tool", "tool_name", "recipient_name", "function_name"}
	argsKeys = []string{"arguments", "args", "parameters", "params", "input", "tool_input"}
)

// callsIn reads a valid value as calls: an object that names a tool, a list of them, or an object around such a list.
// strict asks for arguments to be there. ok is false when anything in it is no call.
func (s *scanner) callsIn(value string, l level, strict bool) (calls []found, ok bool) {
	return s.callsWithin(value, l, strict, 0)
}

func (s *scanner) callsWithin(value string, l level, strict bool, depth int) (calls []found, ok bool) {
	if depth > 3 || value == "" {
		return nil, false
	}
	if value[0] == '[' {
		for _, one := range elements(value) {
			more, ok := s.callsWithin(one, l, strict, depth+1)
			if !ok {
				return nil, false
			}
			calls = append(calls, more...)
		}
		return calls, len(calls) > 0
	}
	if value[0] != '{' {
		return nil, false
	}
	all := members(value)
	for _, key := range []string{"function", "function_call"} {
		if inner := pick(all, key); strings.HasPrefix(inner, "{") {
			return s.callsWithin(inner, l, strict, depth+1)
		}
	}
	for _, key := range []string{"tool_calls", "tool_uses", "multi_tool_use.parallel"} {
		inner := pick(all, key)
		if inner == "[]" && len(all) == 1 {
			return nil, true
		}
		if strings.HasPrefix(inner, "[") || key == "multi_tool_use.parallel" && strings.HasPrefix(inner, "{") {
			return s.callsWithin(inner, l, strict, depth+1)
		}
	}
	name := ""
	for _, key := range nameKeys {
		if name = unquoted(pick(all, key)); name != "" {
			break
		}
	}
	if !plausible(cleanName(name)) {
		return nil, false
	}
	if cleanName(name) == "multi_tool_use.parallel" {
		for _, key := range argsKeys {
			if inner := pick(all, key); inner != "" {
				object, _, ok := (*tool)(nil).argumentsOf(inner)
				if !ok {
					return nil, false
				}
				return s.callsWithin(object, l, strict, depth+1)
			}
		}
	}
	id := unquoted(pick(all, "id"))
	for _, key := range argsKeys {
		if args := pick(all, key); args != "" {
			if args[0] == '{' {
				return []found{s.made(name, id, args, l)}, true
			}
			c := s.call(name, id, args, l)
			if strict && c.call.Raw != "" && args[0] != '"' {
				return nil, false
			}
			return []found{c}, true
		}
	}
	if flat, ok := s.flat(name, all); ok {
		return []found{s.call(name, id, flat, l)}, true
	}
	c := s.made(name, id, "{}", l)
	if t := s.box.find(c.call.Name); strict && t != nil && len(t.form().required) == 0 && bareName(all) { // it asks for nothing
		return []found{c}, true
	}
	return []found{c}, !strict
}

// bareName reports whether an object holds a name and nothing else.
func bareName(all []member) bool {
	for _, m := range all {
		if !contains(nameKeys, m.key) && m.key != "type" && m.key != "id" {
			return false
		}
	}
	return true
}

// flat are the arguments of an object that has them beside the name, when the tool declares every one.
func (s *scanner) flat(name string, all []member) (string, bool) {
	t := s.box.find(s.box.named(name))
	if t == nil {
		return "", false
	}
	var args []member
	for _, m := range all {
		if m.key == "type" && m.value == `"function"` || m.key == "id" || contains(nameKeys, m.key) && unquoted(m.value) == name {
			continue
		}
		args = append(args, m)
	}
	return objectOf(args), t.form().takes(args) && len(args) > 0
}

func contains(all []string, s string) bool {
	for _, one := range all {
		if one == s {
			return true
		}
	}
	return false
}

// values reads the objects and lists that stand back to back from a place, blanks, commas or semicolons between them.
// mended tells that something in them had to be. end is how far they go, or how far it looked when there are none.
func (s *scanner) values(at int) (all []string, end int, mended, ok bool) {
	for {
		next := at
		if len(all) > 0 {
			for next < len(s.text) && strings.IndexByte(" \t\r\n;,", s.text[next]) >= 0 {
				next++
			}
		} else {
			next = blanks(s.text, at)
		}
		if next >= len(s.text) || s.text[next] != '{' && s.text[next] != '[' || len(all) >= most {
			return all, at, mended, len(all) > 0
		}
		stop, valid := span(s.text, next, 0)
		if valid {
			all = append(all, s.text[next:stop])
			at = stop
			continue
		}
		if s.budget <= 0 {
			return all, at, mended, len(all) > 0
		}
		s.spend(stop - next)
		value, n, step, valid := mend(s.text[next:])
		if !valid {
			s.spend(min(len(s.text)-next, 2*longest))
			if len(all) > 0 {
				return all, at, mended, true
			}
			return nil, stop, false, false
		}
		all, mended = append(all, value), mended || step > trailingComma
		at = next + n
	}
}

// object reads an object or a list without marks, which must run to the end of the text.
func (s *scanner) object() bool {
	if !s.likely(s.at) || s.budget <= 0 || len(s.found) >= most {
		return false
	}
	start := s.at
	if s.text[start] == '[' {
		if next := blanks(s.text, start+1); next < len(s.text) && isLetter(s.text[next]) {
			return s.pythonic(start)
		}
	}
	whole := s.silent(start)
	all, end, mended, ok := s.values(start)
	if !ok {
		if name := nameIn(s.text[start:]); s.box.find(cleanName(name)) != nil && !strings.HasSuffix(strings.TrimSpace(s.text[max(start, len(s.text)-80):]), "}") {
			if s.torn, s.tornAt = true, start; whole {
				return s.take(group{cut: true}, "object")
			}
		}
		s.at = max(end, start+1)
		return true
	}
	for end < len(s.text) && (s.text[end] == '}' || s.text[end] == ']' || s.text[end] == ';') {
		end++ // closers too many
		mended = true
	}
	if s.tail(end) < len(s.text) {
		s.at = end
		return true
	}
	l := low
	if whole {
		l = medium
	} else if s.announced(start) || s.quoted() {
		s.at = end
		return true
	}
	g := group{end: len(s.text)}
	for _, one := range all {
		calls, ok := s.callsIn(one, l, true)
		if !ok {
			calls = s.guessed(one)
			if len(calls) == 0 || len(all) > 1 {
				s.at = end
				return true
			}
		}
		g.calls = append(g.calls, calls...)
	}
	for i := range g.calls {
		g.calls[i].mended = g.calls[i].mended || mended
	}
	return s.take(g, "object")
}

// likely reports whether what begins here may be a call: the first key is one that calls have, or the object begins its
// line and may be arguments alone.
func (s *scanner) likely(at int) bool {
	rest := s.text[at:min(len(s.text), at+80)]
	lineStart := at == 0 || s.text[at-1] == '\n' || at == s.from || strings.TrimSpace(s.text[max(s.from, at-8):at]) == ""
	if rest[0] == '[' {
		rest = strings.TrimLeft(rest[1:], " \t\r\n")
		if !lineStart || rest == "" {
			return false
		}
		if rest[0] != '{' {
			return isLetter(rest[0]) && strings.IndexByte(rest, '(') > 0
		}
	}
	rest = strings.TrimLeft(rest, "{ \t\r\n")
	key := strings.TrimLeft(rest, "\"'`“")
	n := 0
	for n < len(key) && (isWord(key[n]) || key[n] == '.') {
		n++
	}
	key = key[:n]
	return key == "type" || key == "id" || key == "tool_calls" || key == "function_call" || key == "tool_uses" || key == "multi_tool_use.parallel" || contains(nameKeys, key) ||
		contains(argsKeys, key) || n > 0 && lineStart && s.declared(key)
}

// declared reports whether a key is a parameter of a tool.
func (s *scanner) declared(key string) bool {
	for _, t := range s.box.tools {
		if _, ok := t.form().kinds[key]; ok {
			return true
		}
	}
	return false
}

// guessed is the call that bare arguments may be: of the one tool they fit.
func (s *scanner) guessed(object string) []found {
	if object[0] != '{' {
		return nil
	}
	t := s.box.fitting(object, true)
	if t == nil {
		return nil
	}
	c := s.call(t.name, "", object, low)
	c.form, c.guess = "arguments", true
	return []found{c}
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' }
