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
}

// surfaces compares what is offered with surface.json, where only what is built must be there: conditions other than
// interactive and vision never hold yet.
func surfaces(t *testing.T, h harness.Harness) {
	raw, err := os.ReadFile("testdata/surface.json")
	if err != nil {
		t.Fatal(err)
	}
	var s struct {
		ID    string        `json:"id"`
		Tools []surfaceTool `json:"tools"`
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	if s.ID != h.Name {
		t.Errorf("the surface of %s, the harness %s", s.ID, h.Name)
	}
	for about, env := range map[string]harness.Environment{"plain": Plain(), "full": Full()} {
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
			if may := s.Tools[i].Offer; may == "never" || may == "when:interactive" && !env.Interactive || may == "when:vision" && !env.Vision {
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
			if (w.Offer == "always" || w.Offer == "local") && !sent[w.Name] {
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

func compareNode(where string, w node, g schema) (diffs []string) {
	if kind, ok := w.Type.(string); ok && kind != "any" && kind != g.Type {
		return []string{fmt.Sprintf("%s: type %s, want %s", where, g.Type, kind)}
	}
	if !slices.Equal(w.Enum, g.Enum) {
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
