// Package textcall finds tool calls that a model wrote as prose because a server did not recognise them. It refuses
// to run what a model only talks about: quotations, examples followed by more prose, drafts inside thinking, and
// calls that were cut off stay text. It knows forms, never tools' meanings.
package textcall

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"strings"

	"interpreter/local/chat"
)

// Errors of Message: the answer holds a call that must not run as it stands.
var (
	ErrCut  = errors.New("the tool call was cut off before its end, so nothing was run; send it again, in smaller pieces if it is long")
	ErrText = errors.New("the tool call was written as text, so nothing was run; send it through the tool interface")
)

// Decode finds the calls in the text of an answer that ended by itself. rest is what remains to be shown. A call of
// an unknown tool is returned when its form leaves no doubt. Decode takes time linear in len(text).
func Decode(text string, tools []chat.Spec) (calls []chat.Call, rest string, ok bool) {
	found, rest, _ := find(text, tools)
	for _, f := range found {
		calls = append(calls, f.call)
	}
	return calls, rest, len(calls) > 0
}

// Message gives an answer the calls that its text holds, unless it has calls of its own. Arguments of its own calls
// that are not JSON are mended where the mending is certain. sure reports whether a tool is harmless enough to be
// called on weak evidence, such as an object in a fence. Thoughts that stand in the text become its thinking first.
func Message(m chat.Message, tools []chat.Spec, sure func(chat.Call) bool) (chat.Message, error) {
	m = thoughts(m)
	if len(m.Calls) > 0 {
		return mended(m), nil
	}
	found, rest, cut := find(m.Text, tools)
	if len(found) == 0 {
		if cut {
			return m, ErrCut
		}
		return m, nil
	}
	calls := make([]chat.Call, 0, len(found))
	for _, f := range found {
		if f.weak && !sure(f.call) {
			return m, ErrText
		}
		calls = append(calls, f.call)
	}
	m.Calls, m.Text = calls, rest
	return m, nil
}

func mended(m chat.Message) chat.Message {
	var calls []chat.Call
	for i, c := range m.Calls {
		if c.Raw == "" {
			continue
		}
		if args, ok := argumentsOf([]byte(strings.TrimSpace(c.Raw))); ok {
			if calls == nil {
				calls = append(calls, m.Calls...)
			}
			calls[i].Args, calls[i].Raw = args, ""
		}
	}
	if calls != nil {
		m.Calls = calls
	}
	return m
}

// finding is a call and how sure it is one.
type finding struct {
	call chat.Call
	weak bool // in a fence or after prose, without markers
}

// find is one pass over the text. cut reports a call that was begun in a way that leaves no doubt and has no end.
func find(text string, tools []chat.Spec) (found []finding, rest string, cut bool) {
	body := trimTokens(text)
	if len(tools) == 0 || !strings.ContainsAny(body, "{<") {
		return nil, text, false
	}
	if objects, end, ok := objectsAt(body, 0); ok && strings.TrimSpace(body[end:]) == "" {
		if calls, ok := callsOf(objects); ok && !placeholders(calls) {
			return findings(calls, false), "", false
		}
		return nil, text, false
	}
	s := scanner{text: body, tools: tools}
	s.run()
	if s.drafts {
		return nil, text, false
	}
	if len(s.found) == 0 {
		if s.cut {
			return nil, joined(s.prose), true
		}
		return nil, text, false
	}
	return unique(s.found), joined(s.prose), false
}

// trimTokens takes away the tokens some templates leave around an answer.
func trimTokens(text string) string {
	text = strings.TrimSpace(text)
	for again := true; again; {
		again = false
		for _, t := range []string{"<|python_tag|>", "<|im_start|>assistant"} {
			if after, ok := strings.CutPrefix(text, t); ok {
				text, again = strings.TrimSpace(after), true
			}
		}
		for _, t := range []string{"<|eom_id|>", "<|eot_id|>", "<|im_end|>", "<|endoftext|>", "</s>"} {
			if before, ok := strings.CutSuffix(text, t); ok {
				text, again = strings.TrimSpace(before), true
			}
		}
	}
	return text
}

func findings(calls []chat.Call, weak bool) []finding {
	var all []finding
	for _, c := range calls {
		all = append(all, finding{c, weak})
	}
	return all
}

// unique drops calls that repeat another of the same answer to the letter.
func unique(all []finding) []finding {
	seen := map[string]bool{}
	out := all[:0]
	for _, f := range all {
		key := f.call.Name + "\x00" + string(f.call.Args)
		if !seen[key] {
			seen[key] = true
			out = append(out, f)
		}
	}
	return out
}

func joined(prose []string) string {
	var parts []string
	for _, p := range prose {
		if p = strings.TrimSpace(p); p != "" {
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, "\n")
}

func newCall(name string, args json.RawMessage) chat.Call {
	return chat.Call{ID: "call_" + strings.ToLower(rand.Text()[:12]), Name: cleanName(name), Args: args}
}

// cleanName takes away the prefixes of other surfaces.
func cleanName(name string) string {
	name = strings.Trim(strings.TrimSpace(name), `"'`)
	for _, prefix := range []string{"functions.", "function.", "tools.", "tool.", "default_api.", "default_api:"} {
		name = strings.TrimPrefix(name, prefix)
	}
	return name
}

// plausible reports whether a name could be a tool's.
func plausible(name string) bool {
	return name != "" && len(name) <= 64 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:") == ""
}

func known(name string, tools []chat.Spec) (chat.Spec, bool) {
	for _, t := range tools {
		if t.Name == name {
			return t, true
		}
	}
	for _, t := range tools {
		if folded(t.Name) == folded(name) {
			return t, true
		}
	}
	return chat.Spec{}, false
}

func folded(name string) string {
	return strings.ToLower(strings.NewReplacer("-", "", "_", "", ".", "").Replace(name))
}

// placeholders reports a call whose values are the blanks of a form.
func placeholders(calls []chat.Call) bool {
	for _, c := range calls {
		var values map[string]json.RawMessage
		if json.Unmarshal(c.Args, &values) != nil {
			continue
		}
		for _, v := range values {
			switch string(bytes.TrimSpace(v)) {
			case `"..."`, `"…"`, `"<path>"`, `"path/to/file"`, `"your_command_here"`, `"<command>"`, `"string"`:
				return true
			}
		}
	}
	return false
}
