package config

import (
	"maps"
	"reflect"
	"slices"
)

// merge lays over on top of tree.
func merge(tree, over map[string]any) {
	for key, value := range over {
		above, isTable := value.(map[string]any)
		below, wasTable := tree[key].(map[string]any)
		if isTable && wasTable {
			merge(below, above)
			continue
		}
		tree[key] = value
	}
}

func clone(tree map[string]any) map[string]any {
	copied := make(map[string]any, len(tree))
	for key, value := range tree {
		if table, ok := value.(map[string]any); ok {
			value = clone(table)
		}
		copied[key] = value
	}
	return copied
}

func lookup(tree map[string]any, path []string) (any, bool) {
	var value any = tree
	for _, part := range path {
		table, ok := value.(map[string]any)
		if !ok {
			return nil, false
		}
		if value, ok = table[part]; !ok {
			return nil, false
		}
	}
	return value, true
}

// leaves visits everything that is no table, and empty tables, in the order of their names.
func leaves(tree map[string]any, path []string, visit func([]string, any)) {
	for _, key := range slices.Sorted(maps.Keys(tree)) {
		here := append(slices.Clip(path), key)
		if table, ok := tree[key].(map[string]any); ok && len(table) > 0 {
			leaves(table, here, visit)
			continue
		}
		visit(here, tree[key])
	}
}

// standard is the value that holds for a key when nobody set it.
func standard(path []string) (reflect.Value, bool) {
	at := reflect.ValueOf(defaults())
	for _, part := range path {
		if at.Kind() == reflect.Map {
			entry := reflect.New(at.Type().Elem()).Elem()
			prepare(entry)
			at = entry
			continue
		}
		if at.Kind() != reflect.Struct {
			return reflect.Value{}, false
		}
		field, ok := fieldFor(at.Type(), part)
		if !ok {
			return reflect.Value{}, false
		}
		at = at.FieldByIndex(field.Index)
	}
	return at, true
}
