package terminus2

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"interpreter/harness/textcall"
	"interpreter/sandbox/action"
)

// The fields of a reply, in their order. All but the last are required.
var fields = []string{"analysis", "plan", "commands", "task_complete"}

// object reads a reply that is a JSON object: the first in the text that is balanced, and when that is none, what can be
// mended of it.
func object(text string) (*reply, error) {
	r := &reply{}
	from := strings.IndexByte(text, '{')
	if from < 0 {
		return nil, r.fail("there is no JSON object in it")
	}
	end, missing := balanced(text, from)
	raw := text[from:end]
	if missing == "" && known(raw) {
		r.around(text[:from], text[end:])
		return r, r.read(raw)
	}
	if raw, how := mended(text, from, end, missing); raw != "" {
		r.warn("AUTO-CORRECTED: " + how)
		return r, r.read(raw)
	}
	if json.Valid([]byte(raw)) {
		r.around(text[:from], text[end:])
		return r, r.read(raw)
	}
	return nil, r.fail("the JSON is not valid: " + invalid(raw))
}

func (r *reply) around(before, behind string) {
	if before = strings.TrimSpace(before); before != "" {
		r.warn("there is text before the JSON object; it does not count")
	}
	if behind = strings.TrimSpace(behind); behind != "" {
		r.warn("there is text behind the JSON object; it does not count")
	}
}

// balanced is where the object that begins at a place ends; missing are the closers that are not there.
func balanced(text string, from int) (end int, missing string) {
	var open []byte
	quoted := false
	for i := from; i < len(text); i++ {
		c := text[i]
		switch {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{':
			open = append(open, '}')
		case c == '[':
			open = append(open, ']')
		case c == '}' || c == ']':
			if open[len(open)-1] != c {
				return len(text), "?"
			}
			if open = open[:len(open)-1]; len(open) == 0 {
				return i + 1, ""
			}
		}
	}
	if quoted {
		return len(text), "?"
	}
	slices.Reverse(open)
	return len(text), string(open)
}

// known reports whether a text is an object with one of the fields.
func known(raw string) bool {
	var all map[string]json.RawMessage
	if json.Unmarshal([]byte(raw), &all) != nil {
		return false
	}
	return slices.ContainsFunc(fields, func(f string) bool { return all[f] != nil })
}

// mended tries what may be wrong, one after another. raw is "" when nothing helps.
func mended(text string, from, end int, missing string) (raw, how string) {
	if missing != "" && missing != "?" {
		if raw := strings.TrimRight(strings.TrimSpace(text[from:end]), ",`") + missing; known(raw) {
			return raw, "the missing " + missing + " was added at the end"
		}
	}
	tries := 16
	for at := from; tries > 0; tries-- {
		next := strings.IndexByte(text[at+1:], '{')
		if next < 0 {
			break
		}
		at += 1 + next
		if end, missing := balanced(text, at); missing == "" && known(text[at:end]) {
			return text[at:end], "the JSON object was taken out of the text around it"
		}
	}
	if object, step, ok := textcall.Repair([]byte(text[from:])); ok && known(string(object)) {
		return string(object), "the JSON was mended: " + step
	}
	return "", ""
}

// invalid says what is wrong with a text that should be JSON, with a piece of it.
func invalid(raw string) string {
	var v any
	err := json.Unmarshal([]byte(raw), &v)
	if err == nil {
		return "it is no object"
	}
	at := len(raw)
	if e, ok := err.(*json.SyntaxError); ok { // of Unmarshal itself, so it is not wrapped
		at = min(int(e.Offset), len(raw))
	}
	near := strings.ToValidUTF8(raw[max(0, at-50):min(len(raw), at+50)], "")
	return fmt.Sprintf("%v, at byte %d of %d, near: %s", err, at, len(raw), near)
}

// read takes an object apart.
func (r *reply) read(raw string) error {
	keys, values := members(raw)
	var missing []string
	last, ordered := -1, true
	for _, f := range fields[:3] {
		at := slices.Index(keys, f)
		if at < 0 {
			missing = append(missing, f)
			continue
		}
		ordered = ordered && at > last
		last = at
	}
	if !ordered {
		r.warn("the fields are not in the order " + strings.Join(fields, ", "))
	}
	r.params.Complete = r.truth(values["task_complete"])
	if r.params.Complete && slices.Contains(missing, "commands") {
		missing = slices.DeleteFunc(missing, func(f string) bool { return f == "commands" })
		r.warn("commands is missing")
		values["commands"] = json.RawMessage("[]")
	}
	if len(missing) > 0 {
		return r.fail("required fields are missing: " + strings.Join(missing, ", "))
	}
	r.analysis, r.plan = r.text("analysis", values), r.text("plan", values)
	if err := r.commands(values["commands"]); err != nil {
		if !r.params.Complete {
			return err
		}
		r.warn(err.(*ParseError).What) // it is what commands gives
		r.params.Commands = nil
	}
	return nil
}

// members are the fields of an object in their order, and their values.
func members(raw string) (keys []string, values map[string]json.RawMessage) {
	values = map[string]json.RawMessage{}
	in := json.NewDecoder(strings.NewReader(raw))
	if _, err := in.Token(); err != nil {
		return nil, values
	}
	for in.More() {
		key, err := in.Token()
		var value json.RawMessage
		name, ok := key.(string)
		if err != nil || !ok || in.Decode(&value) != nil {
			break
		}
		keys = append(keys, name)
		values[name] = value
	}
	return keys, values
}

// truth reads task_complete: true, or a word that means it.
func (r *reply) truth(raw json.RawMessage) bool {
	var yes bool
	if len(raw) == 0 || json.Unmarshal(raw, &yes) == nil {
		return yes
	}
	word := strings.ToLower(strings.TrimSpace(strings.Trim(string(raw), `"`)))
	if yes, ok := meansTrue(word); ok {
		return yes
	}
	r.warn("task_complete is neither true nor false; it counts as false")
	return false
}

func meansTrue(word string) (yes, ok bool) {
	switch word {
	case "true", "1", "yes":
		return true, true
	case "false", "0", "no", "":
		return false, true
	}
	return false, false
}

func (r *reply) text(name string, values map[string]json.RawMessage) string {
	var s string
	if json.Unmarshal(values[name], &s) != nil {
		r.warn(name + " is no string")
		return string(values[name])
	}
	return s
}

// commands reads what is to be typed. Its error is a *ParseError.
func (r *reply) commands(raw json.RawMessage) error {
	var list []json.RawMessage
	if strings.HasPrefix(string(raw), "{") {
		list = []json.RawMessage{raw}
		r.warn("AUTO-CORRECTED: commands is a list; one element was given without it")
	} else if json.Unmarshal(raw, &list) != nil || list == nil {
		return r.fail("commands is no list")
	}
	for i, one := range list {
		if err := r.command(i+1, one); err != nil {
			return err
		}
	}
	r.lines()
	return nil
}

func (r *reply) command(n int, raw json.RawMessage) error {
	if !strings.HasPrefix(string(raw), "{") {
		return r.fail(fmt.Sprintf("command %d is no object", n))
	}
	keys, values := members(string(raw))
	keystrokes, line := values["keystrokes"], false
	for _, other := range []string{"command", "cmd"} {
		if keystrokes == nil && values[other] != nil {
			keystrokes, line = values[other], true
			r.warn(fmt.Sprintf("AUTO-CORRECTED: command %d has %s where keystrokes are wanted; it was typed as a line", n, other))
		}
	}
	if keystrokes == nil {
		return r.fail(fmt.Sprintf("command %d has no keystrokes", n))
	}
	var s stroke
	var parts []string
	switch {
	case json.Unmarshal(keystrokes, &parts) == nil && parts != nil:
		s.Keys = strings.Join(parts, "")
		r.warn(fmt.Sprintf("AUTO-CORRECTED: the keystrokes of command %d are one string; a list was put together", n))
	case json.Unmarshal(keystrokes, &s.Keys) != nil || string(keystrokes) == "null":
		return r.fail(fmt.Sprintf("the keystrokes of command %d are no string", n))
	}
	if line && !strings.HasSuffix(s.Keys, "\n") {
		s.Keys += "\n"
	}
	if short, ok := strings.CutSuffix(s.Keys, `\n`); ok && !strings.Contains(s.Keys, "\n") && !strings.HasSuffix(short, `\`) {
		s.Keys = strings.ReplaceAll(short, `\n`, "\n") + "\n"
		r.warn(fmt.Sprintf("AUTO-CORRECTED: the keystrokes of command %d end in a backslash and an n; a line break was typed", n))
	}
	s.Duration = r.duration(n, values["duration"])
	for _, key := range keys {
		if !slices.Contains([]string{"keystrokes", "duration", "command", "cmd"}, key) {
			r.warn(fmt.Sprintf("command %d has a field %s, which means nothing", n, key))
		}
	}
	r.params.Commands = append(r.params.Commands, s)
	return nil
}

// duration is a time to wait, in seconds.
func (r *reply) duration(n int, raw json.RawMessage) float64 {
	word := strings.Trim(string(raw), `" `)
	if word == "" || word == "null" {
		r.warn(fmt.Sprintf("command %d has no duration; it is 1.0", n))
		return usual
	}
	return r.seconds(n, word)
}

func (r *reply) seconds(n int, word string) float64 {
	d, err := strconv.ParseFloat(strings.TrimSpace(word), 64)
	switch {
	case err != nil || d < 0 || d != d:
		r.warn(fmt.Sprintf("the duration of command %d is no time; it is 1.0", n))
		return usual
	case d > most:
		r.warn(fmt.Sprintf("the duration of command %d is more than %g; it is %g", n, most, most))
		return most
	}
	return d
}

// lines warns of elements that run into each other.
func (r *reply) lines() {
	for i, s := range r.params.Commands[:max(0, len(r.params.Commands)-1)] {
		if s.Keys != "" && !strings.HasSuffix(s.Keys, "\n") && !action.IsKey(s.Keys) && !action.IsKey(r.params.Commands[i+1].Keys) && r.params.Commands[i+1].Keys != "" {
			r.warn(fmt.Sprintf("command %d has no line break at its end: command %d was typed into the same line", i+1, i+2))
		}
	}
}
