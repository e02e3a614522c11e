package local

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// Arguments are the object that the text of a call's arguments holds, in the bytes it came in; nothing and null are an
// empty one. What is no object comes back as raw, beside an empty object.
func Arguments(text []byte) (args json.RawMessage, raw string) {
	switch trimmed := bytes.TrimSpace(text); {
	case len(trimmed) == 0 || string(trimmed) == "null":
		return json.RawMessage("{}"), ""
	case IsObject(trimmed):
		return json.RawMessage(trimmed), ""
	}
	return json.RawMessage("{}"), strings.ToValidUTF8(string(text), "\uFFFD")
}

// PlainObject writes an object anew, in the plainest form there is: keys once each and in order, no half characters, no
// numbers that other languages cannot hold. It is for servers whose parser refuses what is JSON all the same. What is
// no object becomes an empty one.
func PlainObject(args json.RawMessage) json.RawMessage {
	decoder := json.NewDecoder(bytes.NewReader(args))
	decoder.UseNumber()
	var object map[string]any
	if !IsObject(args) || decoder.Decode(&object) != nil {
		return json.RawMessage("{}")
	}
	return AppendJSON(nil, simplified(object))
}

func simplified(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, member := range v {
			v[key] = simplified(member)
		}
	case []any:
		for i, member := range v {
			v[i] = simplified(member)
		}
	case json.Number:
		if _, err := v.Float64(); err != nil {
			return v.String()
		}
	case string:
		if !utf8.ValidString(v) {
			return strings.ToValidUTF8(v, "\uFFFD")
		}
	}
	return value
}
