package sweagent

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"interpreter/harness"
	"interpreter/harness/textcall"
	"interpreter/local/chat"
	"interpreter/sandbox/action"
)

// CountError is a reply with another number of commands than one.
type CountError struct {
	Count int
	Open  bool // a block has no end
}

func (e *CountError) Error() string {
	if e.Open {
		return "read a reply: exactly one command block expected, its fence is not closed"
	}
	return fmt.Sprintf("read a reply: exactly one command block expected, got %d", e.Count)
}

// errCut is a reply that ended at the length limit. Nothing of it runs, whatever stands in it.
var errCut = errors.New("read a reply: it was cut off at the length limit")

// decode finds the one command of a reply: in a fenced block, or in one of the forms of a call that such models were
// trained to write. Thoughts are not looked at.
func decode(a harness.Answer) (harness.Reading, error) {
	if a.Finish == chat.CutShort {
		return harness.Reading{Message: a.Message}, errCut
	}
	if len(a.Message.Calls) > 0 { // as a server gave them, though no tools were offered
		return harness.Reading{Message: a.Message}, nil
	}
	others := harness.Harness{Tools: rows(), Text: true}
	a.Tools = harness.Specs(others.Tools)
	a.Means = func(name string, args json.RawMessage) string {
		return cmp.Or(means(name, args), others.Means(name, args))
	}
	a.Sure = func(chat.Call) bool { return true }
	read, failed := textcall.Read(a)
	m := &read.Message
	found, open := blocks(m.Text)
	switch n := len(found) + len(m.Calls); {
	case n == 0 && failed != nil:
		return read, failed
	case n == 0 && strings.TrimSpace(m.Text) == "":
		return read, nil
	case n == 0 && open:
		return read, &CountError{Open: true}
	case n == 0:
		call, rest, form := otherwise(m.Text)
		if form == "" {
			return read, &CountError{}
		}
		keep(&read, a, rest, form, call)
	case n != 1:
		m.Calls = nil
		return read, &CountError{Count: n}
	case open:
		m.Calls = nil
		return read, &CountError{Open: true}
	case len(found) == 1:
		b := found[0]
		if b.body == "" {
			return read, &CountError{}
		}
		keep(&read, a, m.Text[:b.start]+m.Text[b.end:], "fenced block", callOf(b.body))
	}
	for i, c := range m.Calls {
		m.Calls[i].Name = cmp.Or(means(c.Name, nil), c.Name)
	}
	return read, nil
}

// keep makes a call of what was found. rest is the text around it.
func keep(read *harness.Reading, a harness.Answer, rest, form string, call chat.Call) {
	m := &read.Message
	if m.Written == "" {
		m.Written = a.Message.Text
	}
	m.Text, m.Calls, read.Form = strings.TrimSpace(rest), []chat.Call{call}, form
}

// means knows the names that the trajectories of other products have for the tools.
func means(name string, _ json.RawMessage) string {
	switch name {
	case "execute_bash":
		return "bash"
	case "finish":
		return "submit"
	}
	return ""
}

// callOf is a command as a call.
func callOf(command string) chat.Call {
	command = bare(command)
	switch what := meaning(command); {
	case what.submit:
		return chat.Call{Name: "submit", Args: harness.JSON(submitParams{Force: what.force})}
	case what.edit != nil:
		return chat.Call{Name: "str_replace_editor", Args: harness.JSON(what.edit)}
	}
	return chat.Call{Name: "bash", Args: harness.JSON(bashParams{command})}
}

// bare is a command without the prompt that some models put before it.
func bare(command string) string {
	return strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(command), "$ "))
}

// block is a fenced block: the place of all of it, and what stands in it.
type block struct {
	start, end int
	body       string
}

const fence = "```"

// fenced reads a line as a fence: a label opens a block, a bare one closes one or opens one.
func fenced(line string) (label string, ok bool) {
	line = strings.TrimRight(line, " \t\r\n")
	bare := strings.TrimLeft(line, " ")
	if len(line)-len(bare) > 3 || !strings.HasPrefix(bare, fence) {
		return "", false
	}
	label = strings.TrimPrefix(bare, fence)
	return label, !strings.ContainsAny(label, " \t`")
}

// blocks finds the outermost ones; open reports that the last of them has no end. Fences inside a here-document of a
// command, or inside a quoted text of the editor's, belong to it.
func blocks(text string) (found []block, open bool) {
	lines := strings.SplitAfter(text, "\n")
	depth, first, start, at := 0, 0, 0, 0
	for i := 0; i < len(lines); i++ {
		label, ok := fenced(lines[i])
		switch {
		case !ok:
		case depth == 0:
			depth, first, start = 1, i+1, at
		case label != "":
			depth++
		default:
			depth--
		}
		at += len(lines[i])
		if !ok || depth > 0 {
			continue
		}
		body := strings.Join(lines[first:i], "")
		if len(found) < 2 { // with more nothing runs anyway
			if last := whole(lines, first, i); last > i {
				body = strings.Join(lines[first:last], "")
				at += len(strings.Join(lines[i+1:last+1], ""))
				i = last
			}
		}
		found = append(found, block{start, at, strings.TrimSpace(body)})
	}
	return found, depth > 0
}

// whole is the line of the fence that ends a command whose text was still open at the one before. It looks at the text a
// bounded number of times.
func whole(lines []string, first, last int) int {
	const most = 256 << 10
	tries := 16
	if !unfinished(strings.Join(lines[first:last], "")) {
		return last
	}
	for i := last + 1; i < len(lines) && tries > 0; i++ {
		if label, ok := fenced(lines[i]); !ok || label != "" {
			continue
		}
		tries--
		body := strings.Join(lines[first:i], "")
		if len(body) > most {
			break
		}
		if action.Syntax(body) == nil {
			return i
		}
	}
	return last
}

// unfinished reports whether a here-document has no end yet, or a quotation of the editor's.
func unfinished(body string) bool {
	editing := strings.HasPrefix(bare(body), editor)
	if !editing && !strings.Contains(body, "<<") {
		return false
	}
	var e *action.SyntaxError
	if !errors.As(action.Syntax(body), &e) {
		return false
	}
	return strings.Contains(e.Text, "here-document") || editing && e.Incomplete
}

var toolInvoke = regexp.MustCompile(`(?s)<tool_invoke>.*?<name>\s*(?:execute_)?bash\s*</name>.*?<code>(.*?)</code>(?:.*?</tool_invoke>)?`)

// otherwise finds a command in the further forms of the original's parsers.
func otherwise(text string) (call chat.Call, rest, form string) {
	if at := toolInvoke.FindStringSubmatchIndex(text); at != nil {
		return callOf(text[at[2]:at[3]]), text[:at[0]] + text[at[1]:], "tool_invoke"
	}
	const open, shut = "<command>", "</command>"
	from, to := strings.LastIndex(text, open), strings.LastIndex(text, shut)
	if from >= 0 && to > from && strings.TrimSpace(text[from+len(open):to]) != "" {
		return callOf(text[from+len(open) : to]), text[:from] + text[to+len(shut):], "command element"
	}
	var whole struct {
		Thought string          `json:"thought"`
		Command json.RawMessage `json:"command"`
	}
	if !strings.HasPrefix(strings.TrimSpace(text), "{") {
		return chat.Call{}, "", ""
	}
	if object, _, ok := textcall.Repair([]byte(text)); ok && json.Unmarshal(object, &whole) == nil {
		var line string
		var named struct {
			Name string          `json:"name"`
			Args json.RawMessage `json:"arguments"`
		}
		switch {
		case json.Unmarshal(whole.Command, &line) == nil && strings.TrimSpace(line) != "":
			return callOf(line), whole.Thought, "JSON"
		case json.Unmarshal(whole.Command, &named) == nil && named.Name != "":
			return chat.Call{Name: named.Name, Args: named.Args}, whole.Thought, "JSON"
		}
	}
	return chat.Call{}, "", ""
}
