package config

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// One walk over Config's own tags serves three ends: it checks a layer, it makes its paths absolute, and it fills the
// struct. So a key exists when its field does.

// trouble is how a value does not fit.
type trouble int

const (
	unknown   trouble = iota // no such key
	misplaced                // a table where a value belongs
	wrong                    // not what the key takes
)

type complaint struct {
	kind trouble
	path []string
	text string
}

// walk fills target from table. It removes from the table what does not belong and reports it.
type walk struct {
	dir, userHome string // relative paths start at dir
	complaints    []complaint
	inert         [][]string // keys of this family of programs that this one does not act on
}

func (w *walk) complain(kind trouble, path []string, format string, args ...any) {
	w.complaints = append(w.complaints, complaint{kind, path, fmt.Sprintf(format, args...)})
}

func (w *walk) fill(c *Config, table map[string]any) {
	w.table(reflect.ValueOf(c).Elem(), table, nil)
}

func (w *walk) table(target reflect.Value, table map[string]any, path []string) {
	names := make([]string, 0, len(table))
	for name := range table {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		here := append(slices.Clip(path), name)
		field, ok := fieldFor(target.Type(), name)
		if !ok {
			if isInert(here) {
				w.inert = append(w.inert, here)
			} else {
				w.complain(unknown, here, "%s", suggestion(target.Type(), here))
			}
			delete(table, name)
			continue
		}
		if field.Tag.Get("later") != "" {
			w.inert = append(w.inert, here)
		}
		value, ok := w.value(target.FieldByIndex(field.Index), field.Tag, table[name], here)
		if !ok {
			delete(table, name)
			continue
		}
		table[name] = value
	}
}

// value sets target and returns the value as it shall stand in the tree, paths made absolute.
func (w *walk) value(target reflect.Value, tag reflect.StructTag, value any, path []string) (any, bool) {
	if e, ok := target.Addr().Interface().(either); ok {
		err := e.set(value)
		if err == errForm {
			w.complain(wrong, path, "want %s, got %s", e.forms(), describe(value, tag))
			return nil, false
		} else if err != nil {
			w.complain(wrong, path, "%v", err)
			return nil, false
		}
		return value, true
	}
	_, isTable := value.(map[string]any)
	if kind := target.Kind(); isTable && kind != reflect.Struct && kind != reflect.Map && kind != reflect.Interface {
		text := fmt.Sprintf("want %s, got a table; it is left out", want(target.Type(), tag))
		if _, plural := fieldFor(reflect.TypeFor[Config](), path[0]+"s"); plural && len(path) == 1 {
			text += fmt.Sprintf("; [%ss.NAME] may be meant", path[0])
		}
		w.complain(misplaced, path, "%s", text)
		return nil, false
	}
	switch target.Kind() {
	case reflect.Struct:
		if table, ok := value.(map[string]any); ok {
			w.table(target, table, path)
			return table, true
		}
	case reflect.Map:
		if table, ok := value.(map[string]any); ok {
			return table, w.entries(target, tag, table, path)
		}
	case reflect.Slice:
		return w.list(target, tag, value, path)
	case reflect.Interface:
		target.Set(reflect.ValueOf(value))
		return value, true
	case reflect.String:
		if s, ok := value.(string); ok {
			return w.text(target, tag, s, path)
		}
	case reflect.Bool:
		if b, ok := value.(bool); ok {
			target.SetBool(b)
			return b, true
		}
	case reflect.Int:
		if n, ok := value.(int64); ok {
			if least := tag.Get("min"); least == "1" && n < 1 || least == "0" && n < 0 {
				w.complain(wrong, path, "want at least %s, got %d", least, n)
				return nil, false
			}
			if most, err := strconv.ParseInt(tag.Get("max"), 10, 64); err == nil && n > most {
				w.complain(wrong, path, "want at most %d, got %d", most, n)
				return nil, false
			}
			target.SetInt(n)
			return n, true
		}
	case reflect.Int64:
		if d, ok := span(value, tag.Get("unit")); ok {
			target.SetInt(int64(d))
			return value, true
		}
	}
	w.complain(wrong, path, "want %s, got %s", want(target.Type(), tag), describe(value, tag))
	return nil, false
}

func (w *walk) text(target reflect.Value, tag reflect.StructTag, s string, path []string) (any, bool) {
	if choices := strings.Fields(tag.Get("one")); len(choices) > 0 && !slices.Contains(choices, s) {
		w.complain(wrong, path, "%q is not one of %s", s, strings.Join(choices, ", "))
		return nil, false
	}
	if tag.Get("path") != "" || tag.Get("word") != "" {
		if at := strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }); at >= 0 {
			w.complain(wrong, path, "holds the control character %q: in double quotes a backslash starts an escape, "+
				"so write a path with backslashes in single quotes", s[at])
			return nil, false
		}
	}
	if tag.Get("path") != "" {
		s = expand(s, w.dir, w.userHome)
	}
	target.SetString(s)
	return s, true
}

// entries fills a map; each entry starts from its own defaults, or from what a lower layer left there.
func (w *walk) entries(target reflect.Value, tag reflect.StructTag, table map[string]any, path []string) bool {
	made := reflect.MakeMapWithSize(target.Type(), len(table))
	for name, value := range table {
		entry := reflect.New(target.Type().Elem()).Elem()
		prepare(entry)
		stands, ok := w.value(entry, tag, value, append(slices.Clip(path), name))
		if !ok {
			delete(table, name)
			continue
		}
		table[name] = stands
		made.SetMapIndex(reflect.ValueOf(name), entry)
	}
	target.Set(made)
	return true
}

func (w *walk) list(target reflect.Value, tag reflect.StructTag, value any, path []string) (any, bool) {
	var values []any
	switch v := value.(type) {
	case []any:
		values = v
	case []map[string]any:
		for _, table := range v {
			values = append(values, table)
		}
	default:
		w.complain(wrong, path, "want %s, got %s", want(target.Type(), tag), describe(value, tag))
		return nil, false
	}
	made := reflect.MakeSlice(target.Type(), len(values), len(values))
	for i, value := range values {
		entry := made.Index(i)
		prepare(entry)
		stands, ok := w.value(entry, tag, value, append(slices.Clip(path), fmt.Sprintf("[%d]", i)))
		if !ok {
			return nil, false
		}
		values[i] = stands
	}
	target.Set(made)
	return values, true
}

func prepare(entry reflect.Value) {
	if p, ok := entry.Addr().Interface().(prepared); ok {
		p.prepare()
	}
}

// fieldFor finds the field of a struct that a key names.
func fieldFor(t reflect.Type, key string) (reflect.StructField, bool) {
	for i := range t.NumField() {
		if f := t.Field(i); f.Tag.Get("toml") == key && key != "" {
			return f, true
		}
	}
	return reflect.StructField{}, false
}

func keysOf(t reflect.Type) []string {
	var keys []string
	for i := range t.NumField() {
		if key := t.Field(i).Tag.Get("toml"); key != "" {
			keys = append(keys, key)
		}
	}
	return keys
}

func span(value any, unit string) (time.Duration, bool) {
	scale := float64(time.Millisecond)
	if unit == "s" {
		scale = float64(time.Second)
	}
	var n float64
	switch v := value.(type) {
	case int64:
		n = float64(v)
	case float64:
		n = v
	default:
		return 0, false
	}
	if !(n >= 0 && n*scale < math.MaxInt64) {
		return 0, false
	}
	return time.Duration(n * scale), true
}

// want says what a key takes.
func want(t reflect.Type, tag reflect.StructTag) string {
	if e, ok := reflect.New(t).Interface().(either); ok {
		return e.forms()
	}
	switch t.Kind() {
	case reflect.String:
		if choices := tag.Get("one"); choices != "" {
			return "one of " + strings.Join(strings.Fields(choices), ", ")
		}
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int:
		return "an integer"
	case reflect.Int64:
		return map[string]string{"s": "a number of seconds", "ms": "an integer, in milliseconds"}[tag.Get("unit")]
	case reflect.Slice:
		if t.Elem().Kind() == reflect.String {
			return "a list of strings"
		}
		return "a list of tables"
	}
	return "a table"
}

// describe says what was found. What may be secret is not repeated.
func describe(value any, tag reflect.StructTag) string {
	secret := tag.Get("secret") != ""
	switch v := value.(type) {
	case string:
		if secret || len(v) > 60 {
			return "a string"
		}
		return "the string " + quote(Redact(v))
	case int64:
		if secret {
			return "an integer"
		}
		return fmt.Sprintf("the integer %d", v)
	case float64:
		return "a number with a fraction"
	case bool:
		return fmt.Sprintf("%t", v)
	case []any, []map[string]any:
		return "a list"
	case map[string]any:
		return "a table"
	case time.Time:
		return "a date"
	}
	return fmt.Sprintf("%T", value)
}
