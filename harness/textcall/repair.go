package textcall

import (
	"encoding/json"
	"strings"
)

// longest is the largest input that is mended, in bytes. Strict JSON may be longer.
const longest = 1 << 20

// The steps of the ladder, in the order of section 17 of the specification of formats. The name of a step is what was
// wrong.
const (
	asIs = iota
	junk
	controls
	trailingComma
	literals
	singleQuotes
	bareKeys
	innerQuotes
	escapes
	missingComma
	missingCloser
	extraCloser
	concatenated
	doubled
	encodedTwice
	listForObject
)

var steps = [...]string{"", "junk around it", "control characters", "trailing comma", "foreign literals", "single quotes", "bare keys", "inner quotes",
	"invalid escapes", "missing comma", "missing closer", "extra closer", "concatenated", "doubled", "encoded twice", "list for object"}

// Repair makes a JSON object of text that was meant to be one. step names the last thing that had to be mended, "" for
// none. It never makes up the end of a string and refuses to mend more than 1 MiB. It takes time linear in len(raw).
func Repair(raw []byte) (object json.RawMessage, step string, ok bool) {
	text, n, ok := repair(string(raw), 2)
	if !ok {
		return nil, "", false
	}
	return json.RawMessage(text), steps[n], true
}

// Mend makes JSON of a text that was meant to be one value of any type, and refuses what Repair refuses.
func Mend(raw []byte) (value json.RawMessage, ok bool) {
	text := string(raw)
	v, end, _, ok := mend(text)
	return json.RawMessage(v), ok && blanks(text, end) == len(text)
}

// repair is Repair; nested is how many more times a string may be opened.
func repair(raw string, nested int) (object string, step int, ok bool) {
	text := strings.TrimSpace(raw)
	if isObject(text) {
		return text, asIs, true
	}
	if len(raw) > longest {
		return "", 0, false
	}
	bare := trimJunk(text)
	if len(bare) != len(text) {
		step = junk
	}
	value, end, n, ok := mend(bare)
	if !ok && strings.HasPrefix(bare, "{{") {
		value, end, n, ok = mend(bare[1:])
		bare, n = bare[1:], max(n, extraCloser)
	}
	if !ok {
		return "", 0, false
	}
	step = max(step, n)
	value, n, ok = behind(value, bare[end:])
	if !ok {
		return "", 0, false
	}
	return asObject(value, max(step, n), nested)
}

// asObject opens what holds an object: a string, a list.
func asObject(value string, step, nested int) (string, int, bool) {
	switch {
	case value[0] == '{':
		return value, step, true
	case value[0] == '"' && nested > 0:
		inner, n, ok := repair(unquoted(value), nested-1)
		return inner, max(step, n, encodedTwice), ok
	case value[0] == '[':
		all := elements(value)
		if len(all) == 1 && all[0][0] == '{' {
			return all[0], max(step, listForObject), true
		}
		var merged []member
		for _, one := range all {
			m := members(one)
			if len(m) != 1 || pick(merged, m[0].key) != "" { // two things of one kind are a list
				return "", 0, false
			}
			merged = append(merged, m...)
		}
		if len(merged) > 0 {
			return objectOf(merged), max(step, listForObject), true
		}
	}
	return "", 0, false
}

// behind looks at what follows a value: closers too many, junk, or another value.
func behind(value, rest string) (string, int, bool) {
	tail := strings.TrimLeft(rest, " \t\r\n")
	if tail == "" {
		return value, asIs, true
	}
	switch tail[0] {
	case '{', '[', '"':
		next, _, _, ok := mend(tail)
		switch {
		case !ok:
			return value, junk, true
		case value == "{}" && next[0] == '{':
			return next, concatenated, true
		case next == value:
			return value, doubled, true
		}
		return "", 0, false
	case '}', ']':
		return value, extraCloser, true
	}
	return value, junk, true
}

// trimJunk cuts away what stands around an object: a byte order mark, a fence, tokens, tags of thinking, words before.
func trimJunk(text string) string {
	text = strings.TrimPrefix(text, "\ufeff")
	if at := strings.LastIndex(text, thinkClose); at >= 0 && strings.ContainsRune(text[at:], '{') && !strings.ContainsRune(text[:at], '{') {
		text = text[at+len(thinkClose):]
	}
	if at := strings.IndexAny(text, "{[\"'"); at > 0 {
		if (text[at] == '"' || text[at] == '\'') && strings.IndexByte(text[at:], '{') > 0 && strings.Trim(text[:at], " \t\r\n`") != "" {
			at += strings.IndexByte(text[at:], '{')
		}
		text = text[at:]
	}
	for again := true; again; {
		again = false
		text = strings.TrimRight(text, " \t\r\n;`")
		if strings.HasSuffix(text, ">") {
			at := strings.LastIndexByte(text, '<')
			before := strings.TrimRight(text[:max(at, 0)], " \t\r\n")
			if before != "" && len(text)-at < 48 && strings.IndexByte(`}]"`, before[len(before)-1]) >= 0 {
				text, again = before, true
			}
		}
	}
	return text
}
