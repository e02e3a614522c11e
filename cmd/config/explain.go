package config

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Entry is one value that differs from the default, and who set it. Secrets are masked.
type Entry struct {
	Key     string `json:"key"`
	Value   any    `json:"value"`
	Source  string `json:"source"`
	Problem string `json:"problem,omitempty"` // what Mark said is wrong with it

	path  []string
	layer Layer
}

// Origins lists the values in force that are not the defaults, by key.
func (c Config) Origins() []Entry {
	list := slices.Clone(c.entries)
	for i := range list {
		list[i].Source = origin(list[i].layer, list[i].path)
	}
	return list
}

// Origin says who set a key, "" when nobody did.
func (c Config) Origin(path ...string) string {
	for i := len(c.Layers) - 1; i >= 0; i-- {
		if _, ok := lookup(c.Layers[i].tree, path); ok && c.Layers[i].Enabled {
			return origin(c.Layers[i], path)
		}
	}
	return ""
}

// Said says for people who set a key: "on the command line", "in FILE:LINE", or by the flag that stands for the key;
// "" when nobody did.
func (c Config) Said(flag string, path ...string) string {
	for i := len(c.Layers) - 1; i >= 0; i-- {
		layer := c.Layers[i]
		if _, ok := lookup(layer.tree, path); !ok || !layer.Enabled {
			continue
		}
		switch place, inFile := strings.CutPrefix(origin(layer, path), layer.Name+" "); {
		case inFile:
			return "in " + place
		case layer.Name == flagsName:
			return "by " + flag
		}
		return "on the " + layer.Name
	}
	return ""
}

// Mark notes what is wrong with a value that fits its type, for Explain: only who knows what it means can tell.
func (c *Config) Mark(key, problem string) {
	c.entries = slices.Clone(c.entries)
	for i := range c.entries {
		if c.entries[i].Key == key {
			c.entries[i].Problem = problem
		}
	}
}

func entries(merged map[string]any, layers []Layer) []Entry {
	var list []Entry
	leaves(merged, nil, func(path []string, value any) {
		if path[0] == "profiles" || path[0] == "profile" || isStandard(path, value) {
			return
		}
		for i := len(layers) - 1; i >= 0; i-- {
			if _, ok := lookup(layers[i].tree, path); ok && layers[i].Enabled {
				list = append(list, Entry{Key: dotted(path), Value: mask(path, value), path: path, layer: layers[i]})
				return
			}
		}
	})
	return list
}

// isStandard reports whether a value that was set is what would hold anyway.
func isStandard(path []string, value any) bool {
	if path[0] == "features" && len(path) == 2 {
		on, known := switches[path[1]]
		return known && value == on
	}
	standing, ok := standard(path)
	if !ok {
		return false
	}
	made := reflect.New(standing.Type()).Elem()
	made.Set(standing)
	if made.Kind() == reflect.String && made.String() == "" {
		return false // "" is "not chosen", and someone chose it
	}
	w, tag := walk{}, tagOf(path)
	if _, fits := w.value(made, tag, value, path); !fits {
		return false
	}
	return reflect.DeepEqual(made.Interface(), standing.Interface())
}

func tagOf(path []string) reflect.StructTag {
	at := reflect.TypeFor[Config]()
	var tag reflect.StructTag
	for _, part := range path {
		if at.Kind() == reflect.Map {
			at = at.Elem()
			continue
		}
		if at.Kind() != reflect.Struct {
			break
		}
		field, ok := fieldFor(at, part)
		if !ok {
			break
		}
		at, tag = field.Type, field.Tag
	}
	return tag
}

// Explain writes which layers there are, lowest first, and each value in force with its source.
func (c Config) Explain(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Home     %s\nProject  %s\n", c.Home, c.Root)
	mode, policy := c.Permissions()
	fmt.Fprintf(&b, "Trust    %s: sandbox %s, approval %s\n", c.Trust.word(), mode, policy)
	if c.Chosen != "" {
		fmt.Fprintf(&b, "Profile  %s\n", c.Chosen)
	}
	b.WriteString("\nLayers, a later one is stronger\n")
	for i, layer := range c.Layers {
		state := "enabled"
		if !layer.Enabled {
			state = "disabled"
		}
		fmt.Fprintf(&b, "%d. %s (%s)\n", i+1, strings.TrimSpace(layer.Name+" "+layer.Path), state)
		if layer.Reason != "" {
			fmt.Fprintf(&b, "     %s\n", layer.Reason)
		}
		for _, key := range layer.Keys {
			fmt.Fprintf(&b, "     %s\n", key)
		}
		if len(layer.Inert) > 0 {
			fmt.Fprintf(&b, "     known, but without effect here: %s\n", strings.Join(layer.Inert, ", "))
		}
	}
	b.WriteString("\nRequirements\n  <none>\n\nEffective values\n")
	origins := c.Origins()
	if len(origins) == 0 {
		b.WriteString("  <all defaults>\n")
	}
	for _, e := range origins {
		fmt.Fprintf(&b, "  %s = %s   ← %s\n", e.Key, render(e.Value), e.Source)
		if e.Problem != "" {
			fmt.Fprintf(&b, "    wrong: %s\n", e.Problem)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// ExplainJSON writes the same as one JSON object.
func (c Config) ExplainJSON(w io.Writer) error {
	mode, policy := c.Permissions()
	values := c.Origins()
	if values == nil {
		values = []Entry{}
	}
	for i := range values {
		values[i].Value = portable(values[i].Value)
	}
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	return out.Encode(struct {
		Home     string  `json:"home"`
		Project  string  `json:"project"`
		Trust    string  `json:"trust"`
		Sandbox  string  `json:"sandbox_mode"`
		Approval string  `json:"approval_policy"`
		Profile  string  `json:"profile,omitempty"`
		Layers   []Layer `json:"layers"`
		Values   []Entry `json:"values"`
	}{c.Home, c.Root, c.Trust.word(), mode, policy, c.Chosen, c.Layers, values})
}

func (t Trust) word() string {
	if t == Undecided {
		return "undecided"
	}
	return string(t)
}

// portable turns what JSON cannot carry (a number that is none) into text.
func portable(value any) any {
	if _, err := json.Marshal(value); err != nil {
		return fmt.Sprint(value)
	}
	return value
}

// quote writes a TOML basic string.
func quote(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// render writes a value as TOML, on one line.
func render(value any) string {
	switch v := value.(type) {
	case string:
		return quote(v)
	case time.Time:
		return v.Format(time.RFC3339)
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = render(v[i])
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case map[string]any:
		var parts []string
		for _, key := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, dotted([]string{key})+" = "+render(v[key]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return fmt.Sprint(value)
}
