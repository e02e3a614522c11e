package harness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// form is a parameter struct as a schema: it writes itself as JSON Schema and reads arguments leniently.
type form struct{ fields []*field }

type field struct {
	name     string
	index    []int
	kind     string // of JSON Schema; "any": of no type in particular
	goType   reflect.Type
	elem     *field // of an array
	form     *form  // of an object
	required bool
	enum     []string
	def      string
	min, max string
	also     []string
	unit     string
	fromZero bool
	lenient  bool   // missing is accepted although the schema requires it
	unless   string // required unless the parameter of this name is given
	hidden   bool   // understood, not in the schema
	single   bool   // of an array: one element may stand for a list of one, and the schema says so
	raw      string
}

func formOf(t reflect.Type) *form {
	f := &form{}
	for i := range t.NumField() {
		sf := t.Field(i)
		if sf.Anonymous {
			for _, sub := range formOf(sf.Type).fields {
				sub.index = append([]int{i}, sub.index...)
				f.fields = append(f.fields, sub)
			}
			continue
		}
		name, options, _ := strings.Cut(sf.Tag.Get("json"), ",")
		if name == "" {
			panic(fmt.Sprintf("harness: %s.%s has no json tag", t, sf.Name))
		}
		fd := fieldOf(sf.Type)
		fd.name, fd.index = name, []int{i}
		fd.required = !strings.Contains(options, "omitempty")
		fd.enum, fd.also = list(sf.Tag.Get("enum")), list(sf.Tag.Get("also"))
		fd.def, fd.min, fd.max = sf.Tag.Get("default"), sf.Tag.Get("min"), sf.Tag.Get("max")
		fd.unit, fd.raw, fd.fromZero = sf.Tag.Get("unit"), sf.Tag.Get("raw"), sf.Tag.Get("base") == "0"
		fd.lenient, fd.hidden = sf.Tag.Get("absent") == "ok", sf.Tag.Get("hidden") == "yes"
		fd.single = sf.Tag.Get("single") == "ok"
		fd.unless = sf.Tag.Get("unless")
		f.fields = append(f.fields, fd)
	}
	return f
}

func list(tag string) []string {
	if tag == "" {
		return nil
	}
	return strings.Split(tag, ",")
}

func fieldOf(t reflect.Type) *field {
	fd := &field{goType: t}
	if t == reflect.TypeFor[json.RawMessage]() {
		fd.kind = "any"
		return fd
	}
	switch t.Kind() {
	case reflect.String:
		fd.kind = "string"
	case reflect.Bool:
		fd.kind = "boolean"
	case reflect.Int:
		fd.kind = "integer"
	case reflect.Float64:
		fd.kind = "number"
	case reflect.Slice:
		fd.kind, fd.elem = "array", fieldOf(t.Elem())
	case reflect.Struct:
		fd.kind, fd.form = "object", formOf(t)
	case reflect.Map: // of json.RawMessage: any object
		fd.kind = "object"
	case reflect.Pointer:
		fd = fieldOf(t.Elem())
		fd.goType = t
	default:
		panic(fmt.Sprintf("harness: no schema for a parameter of type %s", t))
	}
	return fd
}

// schema writes the form as JSON Schema. about holds descriptions by path ("plan.step"); those used are deleted.
func (f *form) schema(about map[string]string) json.RawMessage {
	var b bytes.Buffer
	f.write(&b, "", about)
	return b.Bytes()
}

func (f *form) write(b *bytes.Buffer, path string, about map[string]string) {
	b.WriteString(`{"type":"object","properties":{`)
	var required []string
	first := true
	for _, fd := range f.fields {
		if fd.hidden {
			continue
		}
		if !first {
			b.WriteByte(',')
		}
		first = false
		b.Write(quoted(fd.name))
		b.WriteByte(':')
		fd.write(b, path+fd.name, about)
		if fd.required {
			required = append(required, fd.name)
		}
	}
	b.WriteByte('}')
	if len(required) > 0 {
		b.WriteString(`,"required":`)
		b.Write(quoted(required))
	}
	b.WriteByte('}')
}

func (fd *field) write(b *bytes.Buffer, path string, about map[string]string) {
	text, described := about[path]
	delete(about, path)
	if fd.kind == "object" && fd.form != nil {
		var inner bytes.Buffer
		fd.form.write(&inner, path+".", about)
		if described {
			b.WriteString(`{"description":`)
			b.Write(quoted(text))
			b.WriteByte(',')
			b.Write(inner.Bytes()[1:])
		} else {
			b.Write(inner.Bytes())
		}
		return
	}
	if fd.single {
		b.WriteString(`{"anyOf":[`)
		fd.elem.write(b, path, about)
		b.WriteString(`,{"type":"array","items":`)
		fd.elem.write(b, path, about)
		b.WriteString(`}]`)
		if described {
			b.WriteString(`,"description":`)
			b.Write(quoted(text))
		}
		b.WriteByte('}')
		return
	}
	fmt.Fprintf(b, `{"type":%q`, fd.kind)
	if described {
		b.WriteString(`,"description":`)
		b.Write(quoted(text))
	}
	if fd.enum != nil {
		b.WriteString(`,"enum":`)
		b.Write(quoted(fd.enum))
	}
	least, most := "minimum", "maximum"
	if fd.kind == "array" {
		least, most = "minItems", "maxItems"
		b.WriteString(`,"items":`)
		fd.elem.write(b, path, about)
	}
	if fd.def != "" {
		b.WriteString(`,"default":`)
		if fd.kind == "string" {
			b.Write(quoted(fd.def))
		} else {
			b.WriteString(fd.def)
		}
	}
	if fd.min != "" {
		fmt.Fprintf(b, `,%q:%s`, least, fd.min)
	}
	if fd.max != "" {
		fmt.Fprintf(b, `,%q:%s`, most, fd.max)
	}
	b.WriteByte('}')
}

// expected lists the parameters as "name: type", optional ones with a question mark.
func (f *form) expected() []string {
	var all []string
	for _, fd := range f.fields {
		if fd.hidden {
			continue
		}
		mark := ""
		if !fd.required {
			mark = "?"
		}
		all = append(all, fd.name+mark+": "+fd.typeName())
	}
	return all
}

func (fd *field) typeName() string {
	switch {
	case fd.enum != nil:
		return strings.Join(fd.enum, "|")
	case fd.kind == "array" && fd.elem.form != nil && fd.single:
		return "{" + strings.Join(fd.elem.form.expected(), ", ") + "} or an array of such"
	case fd.kind == "array" && fd.elem.form != nil:
		return "array of {" + strings.Join(fd.elem.form.expected(), ", ") + "}"
	case fd.kind == "array":
		return "array of " + fd.elem.typeName()
	}
	return fd.kind
}

// limit reads a tag that holds a number; the tags are constants of this program.
func limit(tag string) float64 {
	v, err := strconv.ParseFloat(tag, 64)
	if err != nil {
		panic("harness: not a number in a tag: " + tag)
	}
	return v
}

// quoted encodes a value without HTML escaping and without a final line break.
func quoted(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("harness: encode a plain value: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
