package textcall

import (
	"bytes"
	"encoding/json"
	"strings"

	"interpreter/local/chat"
)

// function reads <function=NAME>…</function> with its parameters.
func (s *scanner) function(at int) (chat.Call, int, state) {
	name, at, ok := attribute(s.text, at+len(openFunction))
	if !ok || !plausible(cleanName(name)) {
		return chat.Call{}, at, none
	}
	types, required := properties(s.tools, cleanName(name))
	at = s.skip(at)
	if at < len(s.text) && s.text[at] == '{' {
		end, closed := extent(s.text, at)
		if !closed {
			return chat.Call{}, at, broken
		}
		args, ok := argumentsOf([]byte(s.text[at:end]))
		if !ok {
			return chat.Call{}, at, none
		}
		if next := s.skip(end); strings.HasPrefix(s.text[next:], "</function>") {
			end = next + len("</function>")
		}
		return newCall(name, args), end, whole
	}
	args := arguments{}
	for strings.HasPrefix(s.text[at:], "<parameter") {
		key, start, ok := attribute(s.text, at+len("<parameter"))
		if !ok {
			return chat.Call{}, at, broken
		}
		value, next, ok := s.value(start, types, args.has)
		if !ok {
			return chat.Call{}, at, broken
		}
		args.add(key, typed(value, types[key]))
		at = s.skip(next)
	}
	if strings.HasPrefix(s.text[at:], "</function>") {
		return newCall(name, args.object()), at + len("</function>"), whole
	}
	// Without its end a function counts only when it is complete in every other way.
	complete := len(args.keys) > 0 && (at >= len(s.text) || strings.HasPrefix(s.text[at:], closeTag))
	for _, key := range required {
		complete = complete && args.has(key)
	}
	if !complete {
		if len(args.keys) == 0 && at < len(s.text) {
			return chat.Call{}, at, none
		}
		return chat.Call{}, at, broken
	}
	return newCall(name, args.object()), at, whole
}

// attribute reads =NAME> or name="NAME">.
func attribute(text string, at int) (name string, after int, ok bool) {
	end := strings.IndexByte(text[at:min(len(text), at+200)], '>')
	if end < 0 {
		return "", at, false
	}
	inside := strings.TrimSpace(text[at : at+end])
	inside = strings.TrimPrefix(inside, "name")
	inside, ok = strings.CutPrefix(strings.TrimSpace(inside), "=")
	name = strings.Trim(strings.TrimSpace(inside), `"'`)
	return name, at + end + 1, ok && name != "" && !strings.ContainsAny(name, "<\n")
}

// value reads a parameter's text. Its end is the first closing tag that something fitting follows; where that tag is
// missing, the next parameter the tool declares, or the end of the function.
func (s *scanner) value(start int, types map[string]string, given func(string) bool) (value string, next int, ok bool) {
	const end = "</parameter>"
	at := start
	for {
		n := strings.IndexByte(s.text[at:], '<')
		if n < 0 {
			return "", start, false
		}
		at += n
		here := s.text[at:]
		switch {
		case strings.HasPrefix(here, end):
			after := s.text[s.skip(at+len(end)):]
			if after == "" || strings.HasPrefix(after, "<parameter") || strings.HasPrefix(after, "</function>") || strings.HasPrefix(after, closeTag) {
				return trimLines(s.text[start:at]), at + len(end), true
			}
		case strings.HasPrefix(here, "</function>"):
			if s.ends(at) {
				return trimLines(s.text[start:at]), at, true
			}
		case strings.HasPrefix(here, "<parameter=") && at > start && s.text[at-1] == '\n':
			key, _, ok := attribute(s.text, at+len("<parameter"))
			if _, declared := types[key]; ok && declared && !given(key) {
				return strings.TrimPrefix(trimLines(s.text[start:at]), " "), at, true
			}
		}
		at++
	}
}

// ends reports whether </function> here can be the function's own: nothing, a closing tag or another call follows.
func (s *scanner) ends(at int) bool {
	after := s.text[s.skip(at+len("</function>")):]
	return after == "" || strings.HasPrefix(after, closeTag) || strings.HasPrefix(after, openFunction) || strings.HasPrefix(after, openTag)
}

// trimLines takes away exactly one line break at each side.
func trimLines(text string) string {
	text = strings.TrimPrefix(strings.TrimPrefix(text, "\r"), "\n")
	return strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
}

// properties are the declared types of a tool's parameters, and those required.
func properties(tools []chat.Spec, name string) (types map[string]string, required []string) {
	types = map[string]string{}
	spec, ok := known(name, tools)
	if !ok {
		return types, nil
	}
	var schema struct {
		Properties map[string]struct {
			Type any `json:"type"`
		} `json:"properties"`
		Required []string `json:"required"`
	}
	if json.Unmarshal(spec.Parameters, &schema) != nil {
		return types, nil
	}
	for key, p := range schema.Properties {
		kind, _ := p.Type.(string)
		types[key] = kind
	}
	return types, schema.Required
}

// typed encodes a value as its declared type. A declared string is never looked at; an undeclared value is a string
// unless it is an object or a list.
func typed(value, kind string) json.RawMessage {
	trimmed := strings.TrimSpace(value)
	switch kind {
	case "string":
	case "boolean", "integer", "number":
		switch trimmed {
		case "True":
			trimmed = "true"
		case "False":
			trimmed = "false"
		case "None":
			trimmed = "null"
		}
		if json.Valid([]byte(trimmed)) {
			return json.RawMessage(trimmed)
		}
	default:
		if trimmed != "" && (trimmed[0] == '{' || trimmed[0] == '[') {
			if raw, ok := mend([]byte(trimmed)); ok {
				return raw
			}
		}
	}
	return encoded(value)
}

// arguments is an object under construction, its keys in the order written.
type arguments struct {
	keys   []string
	values map[string]json.RawMessage
}

func (a *arguments) has(key string) bool { _, ok := a.values[key]; return ok }

func (a *arguments) add(key string, value json.RawMessage) {
	if a.values == nil {
		a.values = map[string]json.RawMessage{}
	}
	if !a.has(key) {
		a.keys = append(a.keys, key)
	}
	a.values[key] = value
}

func (a *arguments) object() json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, key := range a.keys {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(encoded(key))
		b.WriteByte(':')
		b.Write(a.values[key])
	}
	b.WriteByte('}')
	return b.Bytes()
}

func encoded(s string) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(s) != nil {
		return json.RawMessage(`""`)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
