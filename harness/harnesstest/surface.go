package harnesstest

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"interpreter/harness"
)

// surfaceTool and node are what surface.json says of a tool and of one of its parameters.
type surfaceTool struct {
	Name    string          `json:"name"`
	Offer   string          `json:"offer"`
	Params  map[string]node `json:"params"`
	Instead []string        `json:"instead_of"`
}

type node struct {
	Type       any             `json:"type"`
	Required   bool            `json:"required"`
	FreeEnum   bool            `json:"enum_optional"` // names of its values may stand in the description instead
	Enum       []string        `json:"enum"`
	Default    any             `json:"default"`
	Minimum    any             `json:"minimum"`
	Maximum    any             `json:"maximum"`
	MinItems   any             `json:"minItems"`
	MaxItems   any             `json:"maxItems"`
	Items      *node           `json:"items"`
	Properties map[string]node `json:"properties"`
	Offer      string          `json:"offer"`
}

// schema is the part of JSON Schema that rows write.
type schema struct {
	Type       string            `json:"type"`
	Required   []string          `json:"required"`
	Enum       []string          `json:"enum"`
	Default    any               `json:"default"`
	Minimum    any               `json:"minimum"`
	Maximum    any               `json:"maximum"`
	MinItems   any               `json:"minItems"`
	MaxItems   any               `json:"maxItems"`
	Items      *schema           `json:"items"`
	Properties map[string]schema `json:"properties"`
	AnyOf      []schema          `json:"anyOf"` // forms that a value may have, each of another type
}

// surface is testdata/surface.json.
type surface struct {
	ID    string        `json:"id"`
	Tools []surfaceTool `json:"tools"`
}

func readSurface(t *testing.T) surface {
	t.Helper()
	raw, err := os.ReadFile("testdata/surface.json")
	if err != nil {
		t.Fatal(err)
	}
	var s surface
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// holds reports whether a tool with this offer may be in a request. Conditions with nothing behind them never hold.
func holds(offer, tool string, env harness.Environment) bool {
	switch offer {
	case "always":
		return true
	case "local":
		return !env.Large
	case "large":
		return env.Large
	case "when:interactive":
		return env.Interactive
	case "when:vision":
		return env.Vision
	case "when:background":
		return env.Background
	case "when:web-fetch":
		return env.Fetch
	case "when:requested":
		return slices.Contains(env.Requested, tool)
	}
	return false
}

// surfaces compares what is offered with surface.json, where only what is built must be there.
func surfaces(t *testing.T, h harness.Harness) {
	s := readSurface(t)
	if s.ID != h.Name {
		t.Errorf("the surface of %s, the harness %s", s.ID, h.Name)
	}
	large := Full()
	large.Large = true
	for about, env := range map[string]harness.Environment{"plain": Plain(), "full": Full(), "large": large} {
		_, tools, err := h.Begin(env)
		if err != nil {
			t.Fatal(err)
		}
		at := -1
		sent := map[string]bool{}
		for _, spec := range tools {
			i := slices.IndexFunc(s.Tools, func(w surfaceTool) bool { return w.Name == spec.Name })
			if i < 0 {
				t.Errorf("%s: %s is not in the surface", about, spec.Name)
				continue
			}
			if i <= at {
				t.Errorf("%s: %s comes too late", about, spec.Name)
			}
			at, sent[spec.Name] = i, true
			if may := s.Tools[i].Offer; !holds(may, spec.Name, env) {
				t.Errorf("%s: %s must not be offered (%s)", about, spec.Name, may)
			}
			var got schema
			if err := json.Unmarshal(spec.Parameters, &got); err != nil {
				t.Errorf("%s: %v", spec.Name, err)
				continue
			}
			for _, d := range compareObject(spec.Name, s.Tools[i].Params, got) {
				t.Errorf("%s: %s", about, d)
			}
		}
		for _, w := range s.Tools {
			if (w.Offer == "always" || w.Offer == "local" && !env.Large) && !sent[w.Name] {
				t.Errorf("%s: %s is missing", about, w.Name)
			}
		}
	}
}

func compareObject(where string, want map[string]node, got schema) (diffs []string) {
	for name, w := range want {
		g, ok := got.Properties[name]
		if !ok {
			if w.Offer == "" {
				diffs = append(diffs, where+"."+name+" is missing")
			}
			continue
		}
		if w.Required != slices.Contains(got.Required, name) {
			diffs = append(diffs, fmt.Sprintf("%s.%s: required must be %v", where, name, w.Required))
		}
		diffs = append(diffs, compareNode(where+"."+name, w, g)...)
	}
	for name := range got.Properties {
		if _, ok := want[name]; !ok {
			diffs = append(diffs, where+"."+name+" is not in the surface")
		}
	}
	return diffs
}

// kindFits reports whether a type is the one wanted, or one of those.
func kindFits(want any, got string) bool {
	switch want := want.(type) {
	case string:
		return want == "any" || want == got
	case []any:
		return slices.Contains(want, any(got))
	}
	return want == nil
}

func compareNode(where string, w node, g schema) (diffs []string) {
	if kinds, ok := w.Type.([]any); ok && len(g.AnyOf) > 0 {
		for _, one := range g.AnyOf {
			part := w
			if one.Type == "object" {
				part.Items = nil
			} else {
				part.Properties = nil
			}
			diffs = append(diffs, compareNode(where, part, one)...)
		}
		if len(g.AnyOf) != len(kinds) {
			diffs = append(diffs, fmt.Sprintf("%s: %d forms, want %v", where, len(g.AnyOf), kinds))
		}
		return diffs
	}
	if !kindFits(w.Type, g.Type) {
		return []string{fmt.Sprintf("%s: type %s, want %v", where, g.Type, w.Type)}
	}
	if !slices.Equal(w.Enum, g.Enum) && !(w.FreeEnum && (g.Enum == nil || w.Enum == nil)) {
		diffs = append(diffs, fmt.Sprintf("%s: enum %v, want %v", where, g.Enum, w.Enum))
	}
	pairs := map[string][2]any{
		"default": {w.Default, g.Default}, "minimum": {w.Minimum, g.Minimum}, "maximum": {w.Maximum, g.Maximum},
		"minItems": {w.MinItems, g.MinItems}, "maxItems": {w.MaxItems, g.MaxItems},
	}
	for name, p := range pairs {
		if p[1] != nil && p[0] != p[1] {
			diffs = append(diffs, fmt.Sprintf("%s: %s %v, want %v", where, name, p[1], p[0]))
		}
	}
	if w.Properties != nil {
		diffs = append(diffs, compareObject(where, w.Properties, g)...)
	}
	if w.Items != nil {
		if g.Items == nil {
			return append(diffs, where+": items are not described")
		}
		diffs = append(diffs, compareNode(strings.TrimSuffix(where, "[]")+"[]", *w.Items, *g.Items)...)
	}
	return diffs
}
