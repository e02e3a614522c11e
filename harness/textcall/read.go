// Package textcall finds tool calls that a model wrote as prose because a server did not recognise them, in the form of
// whatever family, and splits what a model thought aloud from what it says. It refuses to run what a model only talks
// about: quotations, examples followed by more prose, drafts inside thinking, and calls that were cut off stay text. It
// knows forms, never tools' meanings.
package textcall

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"interpreter/local/chat"
)

// Errors of Read: the answer holds a call that must not run as it stands.
var (
	ErrCut  = errors.New("the tool call was cut off before its end, so nothing was run; send it again, in smaller pieces if it is long")
	ErrText = errors.New("the tool call was written as text, so nothing was run; send it through the tool interface")
)

// What a Reading's Notice says.
const (
	Truncated     = "tool_call_truncated"
	UnclosedThink = "unclosed_think"
)

// mark is the byte order mark that may stand before a text and is no part of it.
const mark = "\ufeff"

// settled is how often a form must have come before it is taken for a call without doubt.
const settled = 3

// Read gives an answer the calls that its text holds, unless it has calls of its own, and splits its thoughts from
// what it says. The error is ErrCut or ErrText, and then nothing of it may run. It takes time linear in the text.
func Read(a Answer) (r Reading, err error) {
	r.Message = a.Message
	m := &r.Message
	defer func() {
		if m.Written == "" && strings.TrimSpace(m.Text) != strings.TrimSpace(a.Message.Text) {
			m.Written = a.Message.Text
		}
	}()
	text := strings.TrimPrefix(a.Message.Text, mark)
	if a.Finish == chat.CutShort {
		text = strings.TrimRight(text, "\uFFFD") // half a character
	}
	m.Text = text
	if whole, ok := leaked(text); ok {
		text = whole
	}
	d := thoughts(text)
	box := newToolbox(a)
	s := newScanner(d.answer, box, a.Shown)
	s.run()
	said := d.answer
	if s.bare || s.cut {
		said = s.rest()
	}
	if d.open || s.unclosed {
		r.Notice = UnclosedThink
	}
	m.Thinking = join(append(append([]string{m.Thinking}, d.thoughts...), s.aloud...))
	if d.any || s.bare || s.cut {
		m.Text = strings.TrimSpace(said)
	}
	calls := unique(s.found)
	if len(m.Calls) > 0 {
		return own(r, calls, s, d.answer, box), nil
	}
	cutShort := a.Finish == chat.CutShort || a.Finish == chat.Left
	switch weak := slices.ContainsFunc(calls, func(f found) bool { return f.level == low }); {
	case s.cut && (cutShort || len(calls) == 0), cutShort && s.torn, cutShort && len(calls) > 0 && !weak:
		if m.Text, r.Notice = s.rest(), Truncated; !s.cut && s.torn {
			if before, ok := strings.CutSuffix(m.Text, strings.TrimSpace(s.text[s.tornAt:])); ok {
				m.Text = strings.TrimSpace(before)
			} else if len(calls) == 0 {
				m.Text = strings.TrimSpace(d.answer[:s.tornAt])
			}
		}
		return r, ErrCut
	case s.cut:
		r.Notice, r.Lost = Truncated, s.lost
	case cutShort && weak:
		m.Text = d.answer
		return r, nil
	}
	if len(calls) == 0 && !cutShort && len(a.Tools) > 0 && strings.TrimSpace(m.Text) == "" {
		if draft, rest := fromThoughts(m.Thinking, box, a.Shown); len(draft) > 0 {
			calls, m.Thinking, r.Notice = unique(draft), rest, ""
		}
	}
	sure := func(f found) bool {
		return f.level > low || a.Sure != nil && a.Sure(f.call) || count(a.Forms, f.form) >= settled
	}
	for _, f := range calls {
		if !sure(f) {
			m.Text = d.answer
			if f.form == "arguments" { // nobody said it was a call
				return r, nil
			}
			r.Form = f.form
			return r, fmt.Errorf("%s: %w", f.call.Name, ErrText)
		}
	}
	for _, f := range calls {
		m.Calls = append(m.Calls, f.call)
		if r.Form = f.form; f.mended {
			r.Mended = append(r.Mended, f.call.ID)
		}
	}
	return r, nil
}

// own is the reading of an answer with calls of its own: they are cleaned, and others that stand in the text are not
// shown. Those count only when the text is nothing but calls, as a server leaves it that takes the first one only.
func own(r Reading, more []found, s *scanner, answer string, box *toolbox) Reading {
	m := &r.Message
	m.Calls = slices.Clone(m.Calls)
	for i := range m.Calls {
		clean(&m.Calls[i], box)
	}
	if slices.ContainsFunc(more, func(f found) bool { return f.level == low }) {
		m.Text = strings.TrimSpace(answer) // an object in a fence explains something
		return r
	}
	if strings.TrimSpace(m.Text) != "" || s.cut || slices.ContainsFunc(more, func(f found) bool { return f.level < high || !f.known }) {
		return r
	}
	for _, f := range more {
		if !slices.ContainsFunc(m.Calls, func(c chat.Call) bool { return same(c, f.call) }) {
			m.Calls = append(m.Calls, f.call)
			r.Form = f.form
		}
	}
	return r
}

// clean takes what leaked out of a call that a server put together: markup in its name, arguments that are no JSON or
// that swallowed the ones behind them.
func clean(c *chat.Call, box *toolbox) {
	if name := cleanName(c.Name); name != "" && box.find(c.Name) == nil {
		c.Name = name
	}
	t := box.find(box.named(c.Name))
	if c.Raw != "" {
		if args, _, ok := t.argumentsOf(c.Raw); ok {
			c.Args, c.Raw = json.RawMessage(args), ""
		}
	}
	if c.Raw == "" && t != nil && strings.Contains(string(c.Args), "</") {
		c.Args = json.RawMessage(t.released(string(c.Args)))
	}
}

// released takes arguments apart of which one swallowed the marks and values of those behind it.
func (t *tool) released(args string) string {
	if !isObject(args) {
		return args
	}
	all := members(args)
	for i, m := range all {
		value := unquoted(m.value)
		for _, end := range []string{"</parameter>", "</arg_value>"} {
			at := strings.Index(value, end)
			if at < 0 {
				continue
			}
			s := &scanner{text: value[at+len(end):] + end, box: &toolbox{}, budget: 1 << 16}
			var rest []member
			var is whether
			if end == "</parameter>" {
				rest, _, _, is = s.parameters(blanks(s.text, 0), t)
			} else {
				rest, _, _, is = s.keysAndValues(0, "", t)
			}
			if is != yes || len(rest) == 0 || slices.ContainsFunc(rest, func(r member) bool { _, ok := t.form().kinds[r.key]; return !ok || pick(all, r.key) != "" }) {
				continue
			}
			all[i].value = typed(trimLines(value[:at]), t.form().kinds[m.key], false)
			return objectOf(append(all, rest...))
		}
	}
	return args
}

// fromThoughts finds the calls that a model made before it ended its thoughts: whole, between the marks of a family,
// valid, and the last thing in them. rest is what comes before.
func fromThoughts(thinking string, box *toolbox, shown []string) (calls []found, rest string) {
	if thinking == "" {
		return nil, ""
	}
	s := newScanner(thinking, box, shown)
	s.run()
	end := len(s.text)
	first := len(s.found)
	for first > 0 {
		f := s.found[first-1]
		if f.level < high || !f.known || f.until == 0 || s.tail(f.until) < end || !f.valid(box) {
			break
		}
		first, end = first-1, f.since
	}
	if first == len(s.found) || first > 0 && s.found[first-1].since == s.found[first].since { // one of a group is not valid
		return nil, ""
	}
	return s.found[first:], strings.TrimSpace(s.text[:end])
}

// valid reports whether the arguments are whole as far as the tool says.
func (f found) valid(box *toolbox) bool {
	t := box.meant(f.call.Name, string(f.call.Args))
	if t == nil || f.call.Raw != "" {
		return false
	}
	if box.find(f.call.Name) == nil { // its parameters go by other names
		return true
	}
	given := members(string(f.call.Args))
	for _, key := range t.form().required {
		if pick(given, key) == "" {
			return false
		}
	}
	return true
}

// unique drops calls that repeat another of the same answer.
func unique(all []found) []found {
	if len(all) < 2 {
		return all
	}
	seen := map[string]bool{}
	var out []found
	for _, f := range all {
		key := f.call.Name + "\x00" + string(f.call.Args) + "\x00" + f.call.Raw
		if !seen[key] {
			seen[key] = true
			out = append(out, f)
		}
	}
	return out
}

func same(a, b chat.Call) bool {
	return folded(cleanName(a.Name)) == folded(b.Name) && sameJSON(string(a.Args), string(b.Args))
}

// sameJSON compares two objects member by member, blanks apart.
func sameJSON(a, b string) bool {
	x, y := members(a), members(b)
	if len(x) != len(y) {
		return false
	}
	for _, m := range x {
		if pick(y, m.key) != m.value {
			return false
		}
	}
	return true
}

func count(all []string, one string) int {
	n := 0
	for _, s := range all {
		if s == one {
			n++
		}
	}
	return n
}

// join puts parts together, each on lines of its own.
func join(parts []string) string {
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), "\n")
}
