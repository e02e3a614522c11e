package textcall

import (
	"encoding/json"
	"strings"
)

// toolbox is what a model was offered, found by any spelling of a name.
type toolbox struct {
	tools  []*tool
	names  map[string]*tool
	folds  map[string]*tool // nil where two tools share a spelling
	means  func(name string, args json.RawMessage) string
	spells func(tool, key string) bool
	spoken []string // names by length, longest first
}

type tool struct {
	name   string
	schema json.RawMessage
	shape  *shape
}

// shape is what a schema says of the arguments.
type shape struct {
	kinds    map[string]kinds
	keys     []string // declared, in no order of the schema but always the same
	required []string
}

func newToolbox(a Answer) *toolbox {
	b := &toolbox{names: map[string]*tool{}, folds: map[string]*tool{}, means: a.Means, spells: a.Spells}
	for _, s := range a.Tools {
		t := &tool{name: s.Name, schema: s.Parameters}
		b.tools = append(b.tools, t)
		b.names[s.Name] = t
		fold := folded(s.Name)
		if _, taken := b.folds[fold]; taken {
			t = nil
		}
		b.folds[fold] = t
	}
	return b
}

// find is the tool of this spelling; nil when there is none.
func (b *toolbox) find(name string) *tool {
	if t := b.names[name]; t != nil {
		return t
	}
	return b.folds[folded(name)]
}

// meant is the tool that a call would reach: by its name, or by another product's name for it.
func (b *toolbox) meant(name, args string) *tool {
	if t := b.find(name); t != nil || b.means == nil {
		return t
	}
	return b.names[b.means(name, json.RawMessage(args))]
}

// parameter is what a tool declares of a parameter, and whether it has one of this name or one that the name is another
// spelling of.
func (b *toolbox) parameter(t *tool, key string) (k kinds, ok bool) {
	if k, ok = t.form().kinds[key]; ok || b.spells == nil {
		return k, ok
	}
	return kinds{}, b.spells(t.name, key)
}

// begins reports whether the name of a tool begins with a text.
func (b *toolbox) begins(text string) bool {
	for _, t := range b.tools {
		if strings.HasPrefix(folded(t.name), folded(text)) {
			return true
		}
	}
	return false
}

// prefix is the tool with the longest name that begins a text, the text going on with what no name has or with a key
// that the tool declares.
func (b *toolbox) prefix(text string) (best *tool, rest string) {
	for _, t := range b.tools {
		if after, ok := strings.CutPrefix(text, t.name); ok && (best == nil || len(t.name) > len(best.name)) {
			best, rest = t, after
		}
	}
	return best, rest
}

// fitting is the one tool whose required parameters are all among the keys and that declares every key; nil when there
// is none, or more than one. With strict a tool that requires nothing does not fit.
func (b *toolbox) fitting(args string, strict bool) *tool {
	given := members(args)
	if len(given) == 0 {
		return nil
	}
	var only *tool
	for _, t := range b.tools {
		sh := t.form()
		if strict && len(sh.required) == 0 || !sh.takes(given) {
			continue
		}
		if only != nil {
			return nil
		}
		only = t
	}
	return only
}

// takes reports whether every key is declared and every required one is there.
func (sh *shape) takes(given []member) bool {
	for _, m := range given {
		if _, ok := sh.kinds[m.key]; !ok {
			return false
		}
	}
	for _, key := range sh.required {
		if pick(given, key) == "" {
			return false
		}
	}
	return true
}

// form reads the schema when it is first asked for.
func (t *tool) form() *shape {
	if t.shape == nil {
		t.shape = shapeOf(t.schema)
	}
	return t.shape
}

func shapeOf(schema json.RawMessage) *shape {
	sh := &shape{kinds: map[string]kinds{}}
	text := string(schema)
	if !isObject(text) {
		return sh
	}
	top := members(text)
	for _, p := range members(pick(top, "properties")) {
		sh.kinds[p.key] = kindsOf(p.value)
		sh.keys = append(sh.keys, p.key)
	}
	for _, r := range elements(pick(top, "required")) {
		sh.required = append(sh.required, unquoted(r))
	}
	return sh
}

// kinds are the JSON types a parameter may have, and those of the elements when it is a list. No types: any.
type kinds struct{ is, of kind }

type kind uint8

const (
	null kind = 1 << iota
	boolean
	integer
	numeric
	object
	list
	text
)

var kindNames = map[string]kind{"null": null, "boolean": boolean, "integer": integer, "number": integer | numeric, "object": object, "array": list, "string": text}

func kindsOf(schema string) kinds {
	all := members(schema)
	var k kinds
	add := func(raw string) {
		if raw != "" && raw[0] == '[' {
			for _, one := range elements(raw) {
				k.is |= kindNames[unquoted(one)]
			}
			return
		}
		k.is |= kindNames[unquoted(raw)]
	}
	add(pick(all, "type"))
	for _, choice := range []string{"anyOf", "oneOf"} {
		for _, one := range elements(pick(all, choice)) {
			inner := kindsOf(one)
			k.is, k.of = k.is|inner.is, k.of|inner.of
		}
	}
	if k.is == 0 {
		for _, v := range elements(pick(all, "enum")) {
			k.is |= kindAt(v)
		}
	}
	if items := pick(all, "items"); items != "" && items[0] == '{' {
		k.of = kindsOf(items).is
	}
	return k
}

// kindAt is the type of a valid value.
func kindAt(raw string) kind {
	switch raw[0] {
	case '"':
		return text
	case '{':
		return object
	case '[':
		return list
	case 't', 'f':
		return boolean
	case 'n':
		return null
	}
	if strings.ContainsAny(raw, ".eE") {
		return numeric
	}
	return integer
}

// cleanName takes away what leaks into names: quotes, markup, and the prefixes of other surfaces.
func cleanName(name string) string {
	name = strings.Trim(strings.TrimSpace(name), "\"'`")
	if at := strings.IndexAny(name, "<({ \t\r\n"); at > 0 {
		name = name[:at]
	}
	for again := true; again; {
		again = false
		for _, prefix := range []string{"functions.", "function.", "tools.", "tool.", "default_api.", "default_api:", "mcp__self__"} {
			if after, ok := strings.CutPrefix(name, prefix); ok && after != "" {
				name, again = after, true
			}
		}
	}
	return name
}

// named is the name a call goes by: cleaned, without a call number that only stands there when it is known that way, in
// the spelling of the tool when there is one.
func (b *toolbox) named(name string) string {
	name = cleanName(name)
	if t := b.find(name); t != nil {
		return t.name
	}
	for _, mark := range []string{":", "_"} {
		if at := strings.LastIndex(name, mark); at > 0 && at+1 < len(name) && strings.Trim(name[at+1:], "0123456789") == "" {
			if t := b.find(name[:at]); t != nil {
				return t.name
			}
			if mark == ":" {
				return name[:at]
			}
		}
	}
	return name
}

// plausible reports whether a name could be a tool's.
func plausible(name string) bool {
	if name == "" || len(name) > 64 || name[0] >= '0' && name[0] <= '9' {
		return false
	}
	for i := range len(name) {
		if !isWord(name[i]) && name[i] != '-' && name[i] != '.' && name[i] != ':' {
			return false
		}
	}
	return true
}

// folded takes case and separators out of a name.
func folded(name string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c == '-' || c == '_' || c == '.':
			return -1
		case c >= 'A' && c <= 'Z':
			return c + 'a' - 'A'
		}
		return c
	}, name)
}

// firstIn is the tool whose name comes first in a text, as a word of its own; "" when none does.
func (b *toolbox) firstIn(text string) string {
	name, first := "", len(text)
	for _, t := range b.tools {
		for from := 0; from < first; {
			n := strings.Index(text[from:first], t.name)
			if n < 0 || t.name == "" {
				break
			}
			at := from + n
			if end := at + len(t.name); (at == 0 || !isWord(text[at-1])) && (end == len(text) || !isWord(text[end])) {
				name, first = t.name, at
				break
			}
			from = at + 1
		}
	}
	return name
}
