package textcall

import "strings"

// typed writes a value that came as text in the type its parameter declares: null, boolean, integer, number, list or
// object, string, the first of them that is declared and fits. A declared string is never looked at. What is not
// declared is a string unless it is an object or a list; loose takes any JSON.
func typed(value string, k kinds, loose bool) string {
	bare := strings.TrimSpace(value)
	if k.is == 0 {
		if bare != "" && (bare[0] == '{' || bare[0] == '[' || loose) && isJSON(bare) {
			return bare
		}
		return quote(value)
	}
	if raw, ok := fits(bare, k); ok {
		return raw
	}
	return quote(value)
}

// fits reads a text as one of the declared types but string.
func fits(bare string, k kinds) (raw string, ok bool) {
	if k.is&^text == 0 || bare == "" {
		return "", false
	}
	switch bare {
	case "null", "None", "nil":
		if k.is&(null|text) != text { // where nothing is not declared, it is as if nothing had been said
			return "null", true
		}
	case "true", "True", "TRUE":
		if k.is&boolean != 0 {
			return "true", true
		}
	case "false", "False", "FALSE":
		if k.is&boolean != 0 {
			return "false", true
		}
	}
	if k.is&(boolean|text) == boolean {
		switch strings.ToLower(bare) {
		case "yes", "1":
			return "true", true
		case "no", "0":
			return "false", true
		}
	}
	if end, ok := spanNumber(bare, 0); ok && end == len(bare) {
		switch whole, isWhole := wholeNumber(bare); {
		case k.is&integer != 0 && isWhole:
			return whole, true
		case k.is&numeric != 0:
			return bare, true
		}
	}
	switch bare[0] {
	case '[':
		if k.is&list != 0 {
			if value, end, _, ok := mend(bare); ok && blanks(bare, end) == len(bare) {
				return value, true
			}
		}
	case '{':
		if k.is&(object|list) != 0 {
			if value, _, ok := repair(bare, 0); ok && k.is&object != 0 {
				return value, true
			} else if ok {
				return "[" + value + "]", true // the one element of a list
			}
		}
	}
	if k.is&(list|text) == list && k.of&^text == 0 && bare[0] != '[' {
		return "[" + quote(bare) + "]", true
	}
	return "", false
}

// wholeNumber takes away a fraction of nothing: 20.0 is 20.
func wholeNumber(n string) (string, bool) {
	head, tail, _ := strings.Cut(n, ".")
	return head, strings.Trim(tail, "0") == "" && !strings.ContainsAny(n, "eE")
}

// conform bends arguments to what a tool declares, where nothing has to be guessed: types, wrappers around the whole,
// markup in keys. It returns the object untouched when all is well.
func (t *tool) conform(args string) string {
	if t == nil {
		return args
	}
	sh := t.form()
	all := members(args)
	if len(all) == 1 && len(sh.keys) > 0 {
		if inner, ok := sh.unwrapped(all[0]); ok {
			args, all = inner, members(inner)
		}
	} else if inner, ok := sh.copied(all); ok {
		args, all = inner, members(inner)
	}
	changed := false
	kept := make([]member, 0, len(all))
	for _, m := range all {
		key := m.key
		if at := strings.IndexByte(key, '<'); at > 0 && pick(all, key[:at]) == "" {
			key, changed = key[:at], true
		}
		k, declared := sh.kinds[key]
		value := m.value
		if declared && k.is != 0 {
			if better, ok := k.bent(value); ok {
				value, changed = better, true
			}
			if value == "null" && k.is&null == 0 && !sh.needs(key) {
				changed = true
				continue
			}
		}
		kept = append(kept, member{key, value})
	}
	if !changed {
		return args
	}
	return objectOf(kept)
}

func (sh *shape) needs(key string) bool {
	for _, r := range sh.required {
		if r == key {
			return true
		}
	}
	return false
}

// bent is a value in a declared type, when its own is not.
func (k kinds) bent(value string) (string, bool) {
	have := kindAt(value)
	if have&k.is != 0 || have == null {
		return "", false
	}
	switch have {
	case text:
		return fits(strings.TrimSpace(unquoted(value)), k)
	case boolean:
		if k.is&^null == text {
			return quote(value), true
		}
	case integer, numeric:
		if k.is&^null == text {
			return quote(value), true
		}
		if whole, ok := wholeNumber(value); ok && k.is&integer != 0 {
			return whole, true
		}
	case object:
		if k.is&^null == list && k.of&^object == 0 {
			return "[" + value + "]", true
		}
	}
	return "", false
}

// unwrapped opens an object around all arguments that the tool does not declare.
func (sh *shape) unwrapped(m member) (string, bool) {
	if _, declared := sh.kinds[m.key]; declared || !isWrapper(m.key) {
		return "", false
	}
	value := m.value
	if value[0] == '"' {
		value = strings.TrimSpace(unquoted(value))
	}
	return value, isObject(value)
}

// copied opens a whole call that was copied into the arguments: {"name":…,"input":{…}}.
func (sh *shape) copied(all []member) (string, bool) {
	if len(all) != 2 {
		return "", false
	}
	for i, m := range all {
		other := all[1-i].key
		if _, declared := sh.kinds[other]; declared || other != "name" && other != "tool" && other != "tool_name" {
			continue
		}
		if inner, ok := sh.unwrapped(m); ok {
			return inner, true
		}
	}
	return "", false
}

func isWrapper(key string) bool {
	switch key {
	case "arguments", "input", "parameters", "properties", "params", "args", "tool_input":
		return true
	}
	return false
}

// argumentsOf makes the object of arguments of any value: an object, one encoded once more than needed, a list of the
// required ones in order, a bare string for the only one, or nothing.
func (t *tool) argumentsOf(value string) (args string, mended, ok bool) {
	bare := strings.TrimSpace(value)
	switch bare {
	case "", "null", `""`, "None", "[]", `"null"`, `"None"`:
		return "{}", false, true
	}
	if bare[0] == '"' && isJSON(bare) {
		inner := strings.TrimSpace(unquoted(bare))
		if inner == "" {
			return "{}", false, true
		}
		if inner[0] == '{' || inner[0] == '"' || inner[0] == '[' {
			if args, mended, ok = t.argumentsOf(inner); ok {
				return args, mended, true
			}
		}
		if key := t.onlyString(); key != "" {
			return objectOf([]member{{key, bare}}), true, true
		}
		return "", false, false
	}
	if bare[0] == '[' && t != nil {
		if list, end, _, fine := mend(bare); fine && blanks(bare, end) == len(bare) {
			if args, ok = t.inOrder(elements(list)); ok {
				return args, true, true
			}
			if key := t.onlyList(elements(list)); key != "" {
				return objectOf([]member{{key, list}}), true, true
			}
		}
	}
	args, step, ok := repair(bare, 2)
	return args, step > junk && step != encodedTwice, ok
}

// onlyString is the one required parameter when it is a string.
func (t *tool) onlyString() string {
	if t == nil {
		return ""
	}
	if sh := t.form(); len(sh.required) == 1 && sh.kinds[sh.required[0]].is == text {
		return sh.required[0]
	}
	return ""
}

// onlyList is the one required parameter when it is a list, and these can be its elements: none of them holds what the
// tool declares.
func (t *tool) onlyList(values []string) string {
	sh := t.form()
	if len(sh.required) != 1 || sh.kinds[sh.required[0]].is != list {
		return ""
	}
	of := sh.kinds[sh.required[0]].of
	for _, v := range values {
		if of != 0 && kindAt(v)&of == 0 || kindAt(v) == object && pick(members(v), sh.required[0]) != "" {
			return ""
		}
	}
	return sh.required[0]
}

// inOrder takes a list for the required parameters in their order, when number and types fit.
func (t *tool) inOrder(values []string) (string, bool) {
	sh := t.form()
	if len(values) == 0 || len(values) != len(sh.required) {
		return "", false
	}
	var all []member
	for i, key := range sh.required {
		k := sh.kinds[key]
		if have := kindAt(values[i]); k.is != 0 && have&k.is == 0 {
			return "", false
		}
		all = append(all, member{key, values[i]})
	}
	return objectOf(all), true
}
