package harness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// ArgumentsError is a call whose arguments do not fit its tool.
type ArgumentsError struct {
	Tool     string
	Problems []Problem
	Expected []string        // "path: string", optional ones "limit?: integer"
	Received json.RawMessage // the arguments as they came; nil when they were not JSON
	Raw      string          // what the model wrote when that was not JSON
	Called   string          // the name the model used, when it is another product's for Tool; "" otherwise
}

// Problem is one thing wrong with one parameter; Field is "" when it is about the whole.
type Problem struct{ Field, What string }

func (e *ArgumentsError) Error() string {
	var parts []string
	for _, p := range e.Problems {
		if p.Field == "" {
			parts = append(parts, p.What)
		} else {
			parts = append(parts, p.Field+" "+p.What)
		}
	}
	tool := e.Tool
	if e.Called != "" {
		tool += ", called " + e.Called + ","
	}
	return fmt.Sprintf("arguments of %s: %s", strings.TrimSuffix(tool, ","), strings.Join(parts, "; "))
}

// Names lists the names of the arguments that came, sorted.
func (e *ArgumentsError) Names() []string {
	var m map[string]json.RawMessage
	if json.Unmarshal(e.Received, &m) != nil {
		return nil
	}
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// Indented shows the arguments that came, or the text that was none, at most so many bytes of it.
func (e *ArgumentsError) Indented(most int) string {
	text := e.Raw
	if text == "" {
		var b bytes.Buffer
		if len(e.Received) == 0 || json.Indent(&b, e.Received, "", "  ") != nil {
			return ""
		}
		text = b.String()
	}
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// reading is one decoding under way.
type reading struct {
	problems []Problem
	notes    []string
	spelled  []string // what was written another way than the schema says, for people; the model is not told
}

// spell notes that something was written another way.
func (r *reading) spell(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(r.spelled, text) {
		r.spelled = append(r.spelled, text)
	}
}

func (r *reading) fail(path, format string, args ...any) {
	r.problems = append(r.problems, Problem{path, fmt.Sprintf(format, args...)})
}

// decode fills a parameter struct from arguments, bending what can be bent without guessing.
func (f *form) decode(tool string, args json.RawMessage, into reflect.Value) (*reading, error) {
	r := &reading{}
	members, ok := f.members(r, args)
	if !ok {
		r.fail("", "not a JSON object")
	} else {
		f.fill(r, "", members, into)
	}
	if r.problems != nil {
		return nil, &ArgumentsError{Tool: tool, Problems: r.problems, Expected: f.expected(), Received: args}
	}
	return r, nil
}

func (f *form) field(name string) *field {
	for _, fd := range f.fields {
		if fd.name == name {
			return fd
		}
	}
	return nil
}

func (f *form) onlyString() *field {
	var only *field
	for _, fd := range f.fields {
		if fd.required {
			if only != nil || fd.kind != "string" {
				return nil
			}
			only = fd
		}
	}
	return only
}

func (f *form) fill(r *reading, prefix string, members map[string]json.RawMessage, into reflect.Value) {
	for _, fd := range f.fields {
		target := into.FieldByIndex(fd.index)
		raw, from := f.pick(fd, prefix != "", members)
		path := prefix + fd.name
		if raw != nil && from != fd.name {
			r.spell("%s for %s", from, path)
		}
		switch {
		case raw != nil:
			fd.set(r, path, from, raw, target)
		case fd.required && !fd.lenient && !f.given(fd.unless, prefix != "", members):
			r.fail(path, "is missing")
		case fd.def != "":
			plain := json.RawMessage(fd.def)
			if fd.kind == "string" {
				plain = quoted(fd.def)
			}
			fd.set(r, path, fd.name, plain, target)
		}
	}
}

// given reports whether a call has a parameter.
func (f *form) given(name string, nested bool, members map[string]json.RawMessage) bool {
	fd := f.field(name)
	if fd == nil {
		return false
	}
	raw, _ := f.pick(fd, nested, members)
	return raw != nil
}

// pick finds the value of a parameter under its own name or another spelling; nil when there is none.
func (f *form) pick(fd *field, nested bool, members map[string]json.RawMessage) (raw json.RawMessage, from string) {
	if raw, ok := members[fd.name]; ok && string(raw) != "null" {
		return raw, fd.name
	}
	for _, name := range fd.spellings(nested) {
		if raw, ok := members[name]; ok && string(raw) != "null" && f.field(name) == nil {
			return raw, name
		}
	}
	return fd.derived(members), fd.name
}

// derived works out a parameter from others that say the same thing differently.
func (fd *field) derived(members map[string]json.RawMessage) json.RawMessage {
	var view []int
	if json.Unmarshal(members["view_range"], &view) != nil || len(view) != 2 {
		view = nil
		last, ok := firstNumber(members, "end_line", "line_end", "last_line", "end")
		if ok {
			first, given := firstNumber(members, "start_line", "line_start", "first_line", "start", "offset", "line_offset", "from", "line")
			if !given {
				first = 1
			}
			view = []int{first, last}
		}
	}
	switch {
	case fd.means("offset") && view != nil:
		if fd.fromZero {
			view[0]--
		}
		return json.RawMessage(strconv.Itoa(view[0]))
	case fd.means("limit") && view != nil && view[1] >= view[0]:
		return json.RawMessage(strconv.Itoa(view[1] - view[0] + 1))
	case fd.means("all"):
		var n int
		if json.Unmarshal(members["expected_replacements"], &n) == nil && n > 1 {
			return json.RawMessage("true")
		}
	}
	return nil
}

// firstNumber is the first of some members that is an integer, in digits or as text.
func firstNumber(members map[string]json.RawMessage, names ...string) (int, bool) {
	for _, name := range names {
		if raw := members[name]; raw != nil {
			if n, ok := number(raw); ok && n == math.Trunc(n) && math.Abs(n) < 1<<31 {
				return int(n), true
			}
		}
	}
	return 0, false
}

// set converts one value to the type declared and stores it.
func (fd *field) set(r *reading, path, from string, raw json.RawMessage, into reflect.Value) {
	if into.Kind() == reflect.Pointer {
		into.Set(reflect.New(into.Type().Elem()))
		into = into.Elem()
	}
	switch fd.kind {
	case "any":
		into.SetBytes(raw)
	case "string":
		text, ok := fd.text(raw)
		if !ok {
			r.fail(path, "must be a string")
			return
		}
		if raw[0] != '"' {
			r.spell("%s as %s", path, kindWord(raw))
		}
		if fd.enum != nil {
			value, known := fd.oneOf(text)
			if !known {
				r.fail(path, "must be one of %s", strings.Join(fd.enum, ", "))
				return
			}
			if value != text {
				r.spell("%s for %s", text, value)
			}
			text = value
		}
		into.SetString(text)
	case "boolean":
		b, ok := truth(raw)
		if !ok {
			r.fail(path, "must be true or false")
			return
		}
		if raw[0] != 't' && raw[0] != 'f' {
			r.spell("%s as %s", path, kindWord(raw))
		}
		into.SetBool(b)
	case "integer", "number":
		n, ok := number(raw)
		if !ok || fd.kind == "integer" && n != math.Trunc(n) || math.Abs(n) > 1<<53 {
			r.fail(path, "must be %s", map[string]string{"integer": "an integer", "number": "a number"}[fd.kind])
			return
		}
		if raw[0] == '"' {
			r.spell("%s as text", path)
		}
		n = fd.bend(r, path, from, n)
		if fd.kind == "integer" {
			into.SetInt(int64(n))
		} else {
			into.SetFloat(n)
		}
	case "array":
		fd.setList(r, path, raw, into)
	case "object":
		bare := raw
		if raw[0] == '"' {
			r.spell("%s as text", path)
			raw = inner(raw)
		}
		m, ok := object(raw)
		if fd.form == nil {
			if !ok {
				r.fail(path, "must be an object")
				return
			}
			into.Set(reflect.ValueOf(m))
			return
		}
		if first := fd.form.fields; !ok && bare[0] == '"' && len(first) > 0 && first[0].kind == "string" {
			m, ok = map[string]json.RawMessage{first[0].name: bare}, true
		}
		if !ok {
			r.fail(path, "must be an object")
			return
		}
		fd.form.fill(r, path+".", m, into)
	}
}

// kindWord names what a value is, for people.
func kindWord(raw json.RawMessage) string {
	switch raw[0] {
	case '"':
		return "text"
	case '{':
		return "an object"
	case '[':
		return "a list"
	case 't', 'f':
		return "true or false"
	case 'n':
		return "null"
	}
	return "a number"
}

// bend brings a number into its unit, base and limits.
func (fd *field) bend(r *reading, path, from string, n float64) float64 {
	asked := n
	switch {
	case fd.unit == "ms" && (from == "timeout_sec" || from == "timeout_seconds"):
		n *= 1000
	case fd.unit == "ms" && n > 0 && n < 1000 && from != "timeout_ms" && from != "yield_time_ms":
		n *= 1000
		r.notes = append(r.notes, fmt.Sprintf("%s is in milliseconds; %v was taken as seconds", path, asked))
	case fd.unit == "s" && from == "timeout_ms":
		n /= 1000
	case fd.unit == "s" && n >= 1000 && from != "timeout_sec" && from != "timeout_seconds":
		n /= 1000
		r.notes = append(r.notes, fmt.Sprintf("%s is in seconds; %v was taken as milliseconds", path, asked))
	case fd.fromZero && (from == "start_line" || from == "line"):
		n = max(n-1, 0)
	}
	if fd.min != "" && n < limit(fd.min) {
		n = limit(fd.min)
		if asked == 0 && !fd.required { // a common way to say nothing
			n = 0
			if fd.def != "" {
				n = limit(fd.def)
			}
		}
	}
	if fd.max != "" && n > limit(fd.max) {
		n = limit(fd.max)
		r.notes = append(r.notes, fmt.Sprintf("%s is at most %s", path, fd.max))
	}
	return n
}

func (fd *field) setList(r *reading, path string, raw json.RawMessage, into reflect.Value) {
	var items []json.RawMessage
	switch {
	case json.Unmarshal(raw, &items) == nil:
	case raw[0] == '"' && json.Unmarshal(mended(inner(raw)), &items) == nil:
	case raw[0] == '"' && fd.elem.kind == "string":
		items = fd.lines(raw)
	case fd.elem.kind == "object" && raw[0] == '{':
		items = []json.RawMessage{raw}
	case fd.elem.kind == "object" && raw[0] == '"' && json.Valid(mended(inner(raw))):
		items = []json.RawMessage{mended(inner(raw))}
	default:
		r.fail(path, "must be an array")
		return
	}
	if raw[0] != '[' && !fd.single {
		r.spell("%s as %s", path, kindWord(raw))
	}
	if fd.min != "" && len(items) < int(limit(fd.min)) {
		r.fail(path, "needs at least %s", fd.min)
	}
	if fd.max != "" && len(items) > int(limit(fd.max)) {
		r.fail(path, "takes at most %s", fd.max)
	}
	out := reflect.MakeSlice(into.Type(), len(items), len(items))
	for i, item := range items {
		fd.elem.set(r, fmt.Sprintf("%s[%d]", path, i), "", item, out.Index(i))
	}
	into.Set(out)
}
