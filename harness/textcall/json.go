package textcall

import (
	"bytes"
	"encoding/json"
	"strings"

	"interpreter/local/chat"
)

// largest is the longest text that is looked at as one object.
const largest = 4 << 20

// extent finds the end of the object or list that begins at text[at], by counting brackets outside strings.
func extent(text string, at int) (end int, ok bool) {
	depth, inString := 0, false
	for i := at; i < len(text) && i-at < largest; i++ {
		switch c := text[i]; {
		case inString:
			if c == '\\' {
				i++
			} else if c == '"' {
				inString = false
			}
		case c == '"':
			inString = true
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				return i + 1, true
			}
		}
	}
	return 0, false
}

// objectsAt reads the objects that stand back to back from a place, blanks, commas or semicolons between them. A
// list of objects counts as its elements.
func objectsAt(text string, at int) (objects []json.RawMessage, end int, ok bool) {
	for {
		next := at + len(text[at:]) - len(strings.TrimLeft(text[at:], " \t\r\n"))
		if len(objects) > 0 {
			next = at + len(text[at:]) - len(strings.TrimLeft(text[at:], " \t\r\n;,"))
		}
		if next >= len(text) || text[next] != '{' && text[next] != '[' {
			return objects, at, len(objects) > 0
		}
		stop, closed := extent(text, next)
		if !closed {
			return nil, at, false
		}
		raw, valid := mend([]byte(text[next:stop]))
		if !valid {
			return nil, at, false
		}
		if raw[0] == '[' {
			var list []json.RawMessage
			if json.Unmarshal(raw, &list) != nil || len(list) == 0 {
				return nil, at, false
			}
			objects = append(objects, list...)
		} else {
			objects = append(objects, raw)
		}
		at = stop
	}
}

// mend makes JSON of nearly JSON where nothing has to be guessed: control characters inside strings and commas
// before a closing bracket.
func mend(raw []byte) (json.RawMessage, bool) {
	if json.Valid(raw) {
		return raw, true
	}
	var b bytes.Buffer
	inString := false
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		switch {
		case inString && c == '\\' && i+1 < len(raw):
			b.WriteByte(c)
			i++
			b.WriteByte(raw[i])
			continue
		case c == '"':
			inString = !inString
		case inString && c == '\n':
			b.WriteString(`\n`)
			continue
		case inString && c == '\r':
			b.WriteString(`\r`)
			continue
		case inString && c == '\t':
			b.WriteString(`\t`)
			continue
		case inString && c < 0x20:
			continue
		case !inString && c == ',':
			after := bytes.TrimLeft(raw[i+1:min(len(raw), i+64)], " \t\r\n")
			if len(after) > 0 && (after[0] == '}' || after[0] == ']') {
				continue
			}
		}
		b.WriteByte(c)
	}
	return b.Bytes(), json.Valid(b.Bytes())
}

// callsOf reads every object as a call; one that is none spoils all.
func callsOf(objects []json.RawMessage) ([]chat.Call, bool) {
	var calls []chat.Call
	for _, raw := range objects {
		c, ok := callOf(raw, true)
		if !ok {
			return nil, false
		}
		calls = append(calls, c)
	}
	return calls, len(calls) > 0
}

// callOf reads an object that names a tool and its arguments. strict asks for both to be there.
func callOf(raw json.RawMessage, strict bool) (chat.Call, bool) {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil || m == nil {
		return chat.Call{}, false
	}
	if inner, ok := m["function"]; ok && len(inner) > 0 && inner[0] == '{' {
		return callOf(inner, strict)
	}
	var name string
	for _, key := range []string{"name", "function", "tool", "tool_name", "recipient_name"} {
		if json.Unmarshal(m[key], &name) == nil && name != "" {
			break
		}
	}
	if !plausible(cleanName(name)) {
		return chat.Call{}, false
	}
	for _, key := range []string{"arguments", "args", "parameters", "params", "input", "tool_input"} {
		if value, ok := m[key]; ok {
			args, ok := argumentsOf(value)
			return newCall(name, args), ok
		}
	}
	return newCall(name, json.RawMessage("{}")), !strict
}

// argumentsOf gives the object in a value: as it is, encoded once more than needed, or absent.
func argumentsOf(value []byte) (json.RawMessage, bool) {
	value = bytes.TrimSpace(value)
	if string(value) == "null" || string(value) == `""` {
		return json.RawMessage("{}"), true
	}
	if len(value) > 0 && value[0] == '"' {
		var text string
		if json.Unmarshal(value, &text) != nil {
			return nil, false
		}
		value = bytes.TrimSpace([]byte(text))
	}
	if len(value) == 0 || value[0] != '{' {
		return nil, false
	}
	return mend(value)
}
