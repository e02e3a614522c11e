package harness

import (
	"bytes"
	"encoding/json"
	"strings"

	"interpreter/harness/textcall"
)

// members opens the object of arguments: encoded once more than needed, wrapped, or one bare string.
func (f *form) members(r *reading, args json.RawMessage) (map[string]json.RawMessage, bool) {
	args = bytes.TrimSpace(args)
	if len(args) == 0 || string(args) == "null" {
		return map[string]json.RawMessage{}, true
	}
	if args[0] == '"' {
		var text string
		if json.Unmarshal(args, &text) != nil {
			return nil, false
		}
		if m, ok := object([]byte(text)); ok {
			r.spell("the arguments as text")
			return f.unwrap(r, m), true
		}
		if mended, _, ok := textcall.Repair([]byte(text)); ok && strings.HasPrefix(strings.TrimSpace(text), "{") {
			r.spell("the arguments as text")
			return f.members(r, mended)
		}
		if only := f.onlyString(); only != nil {
			r.spell("%s alone", only.name)
			return map[string]json.RawMessage{only.name: args}, true
		}
		return nil, false
	}
	if args[0] == '[' {
		return f.inOrder(r, args)
	}
	m, ok := object(args)
	if !ok {
		return nil, false
	}
	return f.unwrap(r, m), true
}

// inOrder takes a list for the required parameters in their order, when there are as many and the types fit; a list of
// one object is that object.
func (f *form) inOrder(r *reading, list json.RawMessage) (map[string]json.RawMessage, bool) {
	var values []json.RawMessage
	if json.Unmarshal(list, &values) != nil || len(values) == 0 {
		return nil, false
	}
	if len(values) == 1 {
		if m, ok := object(values[0]); ok {
			r.spell("the arguments in a list")
			return f.unwrap(r, m), true
		}
	}
	m := map[string]json.RawMessage{}
	for _, fd := range f.fields {
		if !fd.required {
			continue
		}
		at := len(m)
		if at == len(values) || !fd.takes(values[at]) {
			return nil, false
		}
		m[fd.name] = values[at]
	}
	r.spell("the arguments as a list")
	return m, len(m) == len(values)
}

// takes reports whether a value has the type declared as it stands.
func (fd *field) takes(raw json.RawMessage) bool {
	switch c := raw[0]; c {
	case '"':
		return fd.kind == "string"
	case '{':
		return fd.kind == "object"
	case '[':
		return fd.kind == "array"
	case 't', 'f':
		return fd.kind == "boolean"
	case 'n':
		return false
	}
	return fd.kind == "integer" || fd.kind == "number"
}

func object(text []byte) (map[string]json.RawMessage, bool) {
	var m map[string]json.RawMessage
	if json.Unmarshal(text, &m) != nil || m == nil {
		return nil, false
	}
	for key, value := range m {
		if at := strings.IndexByte(key, '<'); at > 0 { // markup that leaked into a key
			if _, taken := m[key[:at]]; !taken {
				m[key[:at]] = value
			}
			delete(m, key)
		}
	}
	return m, true
}

// unwrap takes away an object around the arguments that no parameter accounts for, or the rest of a whole call that was
// copied into them.
func (f *form) unwrap(r *reading, m map[string]json.RawMessage) map[string]json.RawMessage {
	copied := len(m) == 2 && m["name"] != nil && f.field("name") == nil
	if len(m) != 1 && !copied {
		return m
	}
	for key, value := range m {
		if inside, ok := f.wrapped(key, value); ok {
			r.spell("the arguments inside %s", key)
			return inside
		}
	}
	return m
}

func (f *form) wrapped(key string, value json.RawMessage) (map[string]json.RawMessage, bool) {
	switch key {
	case "arguments", "input", "parameters", "params", "args", "properties", "tool_input":
	default:
		return nil, false
	}
	fd := f.field(key)
	if fd == nil && len(value) > 0 && value[0] == '"' {
		value = inner(value) // encoded once more than needed
	}
	if fd != nil && fd.kind != "string" {
		return nil, false
	}
	return object(value)
}
