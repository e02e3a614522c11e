package textcall

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// deepest is how far objects and lists may be nested.
const deepest = 500

// member is one key of an object and its value, as written.
type member struct{ key, value string }

// span finds the end of the JSON value at a place, by RFC 8259. When there is none, end is how far it looked.
func span(text string, at, depth int) (end int, ok bool) {
	at = blanks(text, at)
	if at >= len(text) || depth > deepest {
		return at, false
	}
	switch c := text[at]; c {
	case '{':
		return spanObject(text, at, depth)
	case '[':
		if at = blanks(text, at+1); at < len(text) && text[at] == ']' {
			return at + 1, true
		}
		for {
			if at, ok = span(text, at, depth+1); !ok {
				return at, false
			}
			at = blanks(text, at)
			switch {
			case at < len(text) && text[at] == ',':
				at++
			case at < len(text) && text[at] == ']':
				return at + 1, true
			default:
				return at, false
			}
		}
	case '"':
		return spanString(text, at)
	case 't':
		return word(text, at, "true")
	case 'f':
		return word(text, at, "false")
	case 'n':
		return word(text, at, "null")
	}
	return spanNumber(text, at)
}

func spanObject(text string, at, depth int) (end int, ok bool) {
	if at = blanks(text, at+1); at < len(text) && text[at] == '}' {
		return at + 1, true
	}
	for {
		if at = blanks(text, at); at >= len(text) || text[at] != '"' {
			return at, false
		}
		if at, ok = spanString(text, at); !ok {
			return at, false
		}
		if at = blanks(text, at); at >= len(text) || text[at] != ':' {
			return at, false
		}
		if at, ok = span(text, at+1, depth+1); !ok {
			return at, false
		}
		at = blanks(text, at)
		switch {
		case at < len(text) && text[at] == ',':
			at++
		case at < len(text) && text[at] == '}':
			return at + 1, true
		default:
			return at, false
		}
	}
}

// spanString finds the end of a string. The scan goes from one quote, backslash or control character to the next.
func spanString(text string, at int) (end int, ok bool) {
	for i := at + 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return i + 1, true
		case c < 0x20:
			return i, false
		case c == '\\':
			if i++; i >= len(text) {
				return i, false
			}
			switch text[i] {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			case 'u':
				if i+4 >= len(text) || !isHex(text[i+1:i+5]) {
					return i, false
				}
				i += 4
			default:
				return i, false
			}
		}
	}
	return len(text), false
}

func isHex(s string) bool {
	for i := range len(s) {
		if c := s[i] | 0x20; !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f') || s[i] < '0' {
			return false
		}
	}
	return true
}

func word(text string, at int, want string) (int, bool) {
	if strings.HasPrefix(text[at:], want) {
		return at + len(want), true
	}
	return at, false
}

func spanNumber(text string, at int) (end int, ok bool) {
	i := at
	digits := func() bool {
		from := i
		for i < len(text) && text[i] >= '0' && text[i] <= '9' {
			i++
		}
		return i > from
	}
	if i < len(text) && text[i] == '-' {
		i++
	}
	if i < len(text) && text[i] == '0' {
		i++
	} else if !digits() {
		return i, false
	}
	if i < len(text) && text[i] == '.' {
		if i++; !digits() {
			return i, false
		}
	}
	if i < len(text) && (text[i] == 'e' || text[i] == 'E') {
		if i++; i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		if !digits() {
			return i, false
		}
	}
	return i, true
}

// isJSON reports whether a text is one JSON value, blanks around it.
func isJSON(text string) bool {
	end, ok := span(text, 0, 0)
	return ok && blanks(text, end) == len(text)
}

// isObject reports whether a text is one JSON object.
func isObject(text string) bool {
	return strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "{") && isJSON(text)
}

// members lists the keys and values of a valid object; nil when it is none.
func members(object string) []member {
	at := blanks(object, 0)
	if at >= len(object) || object[at] != '{' {
		return nil
	}
	all := []member{}
	for at++; ; {
		at = blanks(object, at)
		if at >= len(object) || object[at] != '"' {
			return all
		}
		end, ok := spanString(object, at)
		if !ok {
			return all
		}
		key := unquoted(object[at:end])
		if at = blanks(object, end) + 1; at > len(object) {
			return all
		}
		at = blanks(object, at)
		if end, ok = span(object, at, 0); !ok {
			return all
		}
		all = append(all, member{key, object[at:end]})
		if at = blanks(object, end); at < len(object) && object[at] == ',' {
			at++
		}
	}
}

// elements lists the values of a valid list.
func elements(list string) []string {
	at := blanks(list, 0)
	if at >= len(list) || list[at] != '[' {
		return nil
	}
	var all []string
	for at++; ; {
		at = blanks(list, at)
		end, ok := span(list, at, 0)
		if !ok {
			return all
		}
		all = append(all, list[at:end])
		if at = blanks(list, end); at < len(list) && list[at] == ',' {
			at++
		}
	}
}

// pick is the value of a key, the last one written; "" when it is absent.
func pick(all []member, key string) string {
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].key == key {
			return all[i].value
		}
	}
	return ""
}

// unquoted opens a JSON string; "" when it is none.
func unquoted(raw string) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	if strings.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	var s string
	if json.Unmarshal([]byte(raw), &s) != nil {
		return ""
	}
	return s
}

// quote writes a JSON string without HTML escaping.
func quote(s string) string { return string(appendQuoted(make([]byte, 0, len(s)+len(s)/16+2), s)) }

func appendQuoted(out []byte, s string) []byte {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	out = append(out, '"')
	from := 0
	for i := range len(s) {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		out = append(out, s[from:i]...)
		from = i + 1
		out = appendEscaped(out, c)
	}
	return append(append(out, s[from:]...), '"')
}

// appendEscaped writes one character as it must stand in a JSON string.
func appendEscaped(out []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(out, '\\', c)
	case '\n':
		return append(out, '\\', 'n')
	case '\r':
		return append(out, '\\', 'r')
	case '\t':
		return append(out, '\\', 't')
	}
	if c < 0x20 {
		const hex = "0123456789abcdef"
		return append(out, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
	}
	return append(out, c)
}

// objectOf writes an object of members in their order; a key that comes again replaces the first.
func objectOf(all []member) string {
	var b []byte
	b = append(b, '{')
	for i, m := range all {
		if later(all[i+1:], m.key) {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(appendQuoted(b, m.key), ':')
		b = append(b, m.value...)
	}
	return string(append(b, '}'))
}

// later reports whether a key comes again. Only the next few hundred are looked at: no tool has more.
func later(all []member, key string) bool {
	for _, m := range all[:min(len(all), 200)] {
		if m.key == key {
			return true
		}
	}
	return false
}

// blanks steps over white space.
func blanks(text string, at int) int {
	for at < len(text) && (text[at] == ' ' || text[at] == '\n' || text[at] == '\t' || text[at] == '\r') {
		at++
	}
	return at
}
