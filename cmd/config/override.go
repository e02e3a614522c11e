package config

import (
	"strings"

	"github.com/BurntSushi/toml"
)

// parseOverride reads one -c. The value is TOML where it can be read as TOML, and plain text elsewhere: a shell has
// often taken the quotes away.
func parseOverride(raw string) (path []string, value any, err error) {
	key, text, ok := strings.Cut(raw, "=")
	key, text = strings.TrimSpace(key), strings.TrimSpace(text)
	if !ok {
		return nil, nil, &Error{Problem: "-c " + quote(raw) + ": there is no = in it", Try: "write -c key=value"}
	}
	path = strings.Split(key, ".")
	for _, part := range path {
		if part == "" {
			return nil, nil, &Error{Problem: "-c " + quote(raw) + ": the key is empty", Try: "write -c key=value"}
		}
	}
	var holder map[string]any
	if _, err := toml.Decode("value = "+text, &holder); err == nil && len(holder) == 1 {
		return path, holder["value"], nil
	}
	if n := len(text); n >= 2 && text[0] == text[n-1] && (text[0] == '"' || text[0] == '\'') {
		text = text[1 : n-1]
	}
	return path, text, nil
}

// put stores a value under a path, making tables on the way; what stands in the way and is no table goes.
func put(tree map[string]any, path []string, value any) {
	for _, part := range path[:len(path)-1] {
		below, ok := tree[part].(map[string]any)
		if !ok {
			below = map[string]any{}
			tree[part] = below
		}
		tree = below
	}
	tree[path[len(path)-1]] = value
}

// plain turns a flag's Go value into what a TOML file would have given.
func plain(value any) any {
	switch v := value.(type) {
	case int:
		return int64(v)
	case []string:
		list := make([]any, len(v))
		for i := range v {
			list[i] = v[i]
		}
		return list
	case map[string]string:
		table := make(map[string]any, len(v))
		for key := range v {
			table[key] = v[key]
		}
		return table
	}
	return value
}
