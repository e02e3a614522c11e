package harness

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"interpreter/harness/textcall"
	"interpreter/local/chat"
	"interpreter/sandbox/action"
)

// Described is a harness of tools of which nothing is known but how they are described to a model. Calls are read,
// named and refused in it as in any other; nothing stands behind them, so each is harmless. A schema that this program
// does not understand is no reason to refuse: what it says nothing about is taken as it comes.
func Described(specs []chat.Spec) Harness {
	h := Harness{Name: "described", About: "tools of which only the description is known"}
	for _, spec := range specs {
		shape := formOf(typeOf(spec.Parameters))
		t := Tool{Spec: spec, form: func() *form { return shape }}
		t.Plan = func(args json.RawMessage) (Step, error) {
			members, ok := shape.members(&reading{}, args)
			if !ok {
				return Step{}, &ArgumentsError{Tool: spec.Name, Problems: []Problem{{"", "not a JSON object"}}, Expected: shape.expected(), Received: args}
			}
			if len(shape.fields) == 0 { // nothing is declared, so everything is meant
				return Do(described{spec.Name, quoted(members)}, untold), nil
			}
			given := reflect.New(typeOf(spec.Parameters)).Elem()
			read, err := shape.decode(spec.Name, args, given)
			if err != nil {
				return Step{}, err
			}
			return Do(described{spec.Name, quoted(given.Interface())}, untold).noted(read.notes...), nil
		}
		h.Tools = append(h.Tools, t)
	}
	return h
}

// Offering is the harness with tools of which only the description is known in place of its own. A call is refused in
// this harness's words, and on weak evidence it is made only if this harness would make one of that name.
func (h Harness) Offering(specs []chat.Spec) Harness {
	d := Described(specs)
	d.Name, d.Fault = h.Name, h.Fault
	d.Decode = func(a Answer) (Reading, error) {
		a.Tools, a.Means, a.Spells = Specs(d.Tools), d.Means, d.spells
		a.Sure = func(c chat.Call) bool {
			if _, own := h.row(c.Name); !own {
				return d.sure(c)
			}
			if _, err := h.Step(c); err != nil { // arguments that only the file knows say nothing of what they do
				_, err = d.Step(c)
				return err != nil
			}
			return h.sure(c)
		}
		return textcall.Read(a)
	}
	return d
}

// AsDescribed is what a step of Described was understood as: a call in the words of the tool's own description. ok is
// false for steps of other harnesses.
func AsDescribed(s Step) (name string, args json.RawMessage, ok bool) {
	d, ok := s.Action.(described)
	return d.name, d.args, ok
}

// typeOf is a parameter struct as Row takes it, made from a JSON Schema of an object.
func typeOf(schema json.RawMessage) reflect.Type {
	var s struct {
		Properties json.RawMessage
		Required   []string
	}
	if json.Unmarshal(schema, &s) != nil {
		return reflect.TypeFor[struct{}]()
	}
	var fields []reflect.StructField
	for i, name := range keysOf(s.Properties) {
		var properties map[string]json.RawMessage
		if json.Unmarshal(s.Properties, &properties) != nil || name == "" || strings.Contains(name, ",") {
			continue
		}
		t, enum := valueOf(properties[name])
		tag := name
		if !slices.Contains(s.Required, name) {
			tag += ",omitempty"
			if k := t.Kind(); k != reflect.Slice && k != reflect.Map {
				t = reflect.PointerTo(t)
			}
		}
		tags := "json:" + strconv.Quote(tag)
		if enum != "" {
			tags += " enum:" + strconv.Quote(enum)
		}
		fields = append(fields, reflect.StructField{Name: "P" + strconv.Itoa(i), Type: t, Tag: reflect.StructTag(tags)})
	}
	return reflect.StructOf(fields)
}

// valueOf is the type of one parameter, and the values of an enumeration of strings as a tag lists them.
func valueOf(schema json.RawMessage) (t reflect.Type, enum string) {
	var s struct {
		Type       any
		Properties map[string]json.RawMessage
		Items      json.RawMessage
		Enum       []any
	}
	whatever := reflect.TypeFor[json.RawMessage]()
	if json.Unmarshal(schema, &s) != nil {
		return whatever, ""
	}
	if several, ok := s.Type.([]any); ok { // null is what is left out
		several = slices.DeleteFunc(several, func(one any) bool { return one == "null" })
		if len(several) == 1 {
			s.Type = several[0]
		}
	}
	switch s.Type {
	case "string":
		var names []string
		for _, one := range s.Enum {
			if name, ok := one.(string); ok && !strings.Contains(name, ",") {
				names = append(names, name)
			}
		}
		if len(names) == len(s.Enum) {
			enum = strings.Join(names, ",")
		}
		return reflect.TypeFor[string](), enum
	case "boolean":
		return reflect.TypeFor[bool](), ""
	case "integer":
		return reflect.TypeFor[int](), ""
	case "number":
		return reflect.TypeFor[float64](), ""
	case "array":
		elem, _ := valueOf(s.Items)
		return reflect.SliceOf(elem), ""
	case "object":
		if len(s.Properties) == 0 {
			return reflect.TypeFor[map[string]json.RawMessage](), ""
		}
		return typeOf(schema), ""
	}
	return whatever, ""
}

// keysOf lists the keys of an object in their order.
func keysOf(raw json.RawMessage) []string {
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return nil
	}
	var keys []string
	for dec.More() {
		key, err := dec.Token()
		name, ok := key.(string)
		var value json.RawMessage
		if err != nil || !ok || dec.Decode(&value) != nil {
			return keys
		}
		if !slices.Contains(keys, name) {
			keys = append(keys, name)
		}
	}
	return keys
}

// described is the action of a tool that does nothing, and the call it stands for.
type described struct {
	name string
	args json.RawMessage
}

func untold(action.Told) string { return "" }

func (d described) Title() string   { return d.name }
func (described) Need() action.Need { return action.Need{Effect: action.Thinks} }
func (described) Do(context.Context, *action.Workspace) (action.Told, error) {
	return action.Told{}, nil
}
