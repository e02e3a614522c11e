package minisweagent

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"interpreter/harness"
	"interpreter/local/chat"
	"interpreter/sandbox/action"
)

// Variant is the form in which commands and results travel as text, for models without tool calls.
var Variant = harness.Harness{
	Name:   "mini-swe-agent@text",
	About:  "the same for models that cannot call tools: commands in fenced blocks; only by name",
	Prose:  textProse{prose},
	Tools:  textRows(),
	Text:   true,
	Join:   true,
	Tries:  tries,
	Open:   func(env harness.Environment) []chat.Message { return open(env, "text/reply.md") },
	Wrap:   wrap,
	Decode: decode,
	Nudge:  nudgeText,
	Repeat: repeated(tags),
	Fault:  faultText,
}

// textRows are what blocks become calls of. They are not offered.
func textRows() []harness.Tool { return []harness.Tool{harness.Choice("bash", bash(sayTags)).Hide()} }

// textProse has pages of its own where it needs them.
type textProse struct{ fs.FS }

// ReadFile is how package harness reads a page.
func (p textProse) ReadFile(name string) ([]byte, error) {
	if raw, err := fs.ReadFile(p.FS, "text/"+name); err == nil {
		return raw, nil
	}
	return fs.ReadFile(p.FS, name)
}

// label names the blocks that are run.
const label = "mswea_bash_command"

// BlocksError is a reply with another number of commands than one.
type BlocksError struct{ Count int }

func (e *BlocksError) Error() string {
	return fmt.Sprintf("read a reply: %d commands in it, want 1", e.Count)
}

// decode finds the one command of a reply. A block labelled as for any shell counts when there is none of ours and
// nothing follows it: one that is explained below is an example. Blocks in thoughts are not looked at.
func decode(a harness.Answer) (harness.Reading, error) {
	m := a.Message
	if len(m.Calls) > 0 {
		return harness.Reading{Message: m}, nil
	}
	text := m.Text
	if thought, rest, ok := thoughts(text); ok {
		m.Thinking = strings.TrimSpace(m.Thinking + "\n" + thought)
		text = rest
	}
	found := blocks(text, label)
	form := "fenced block"
	if len(found) == 0 {
		form = "fenced block of a shell"
		if found = blocks(text, "bash", "sh"); len(found) > 0 {
			found = found[len(found)-1:]
			if strings.TrimSpace(text[found[0].end:]) != "" {
				found = nil
			}
		}
	}
	if len(found) == 0 {
		if read, ok := harness.RescueFor(textRows(), a); ok {
			if n := len(read.Message.Calls); n > 1 {
				read.Message.Calls = nil
				return read, &BlocksError{n}
			}
			return read, nil
		}
		if m.Text != text {
			m.Written, m.Text = m.Text, strings.TrimSpace(text)
		}
		return harness.Reading{Message: m}, nil
	}
	if len(found) > 1 {
		return harness.Reading{Message: m}, &BlocksError{len(found)}
	}
	b := found[0]
	m.Written = m.Text
	m.Text = strings.TrimSpace(text[:b.start] + text[b.end:])
	m.Calls = []chat.Call{{Name: "bash", Args: harness.JSON(bashParams{Command: b.body})}}
	return harness.Reading{Message: m, Form: form}, nil
}

// thoughts splits off what a model thought aloud before it answered.
func thoughts(text string) (thought, rest string, ok bool) {
	const open, shut = "<think>", "</think>"
	at := strings.LastIndex(text, shut)
	if at < 0 || blockOpen(text[:at]) {
		return "", text, false
	}
	return strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(text[:at]), open)), text[at+len(shut):], true
}

// blockOpen reports whether a text ends inside a block of ours: then a tag there is part of a command.
func blockOpen(text string) bool {
	at := strings.LastIndex(text, "```"+label)
	return at >= 0 && !strings.Contains(text[at+len("```"+label):], "\n```")
}

// block is a fenced block: the place of all of it, and what stands in it.
type block struct {
	start, end int
	body       string
}

const fence = "```"

// blocks finds those with one of some labels. A block ends with the first line that is a bare fence; what was opened
// with another label inside, as in a document that a command writes, has an end of its own, unless ours then had none.
func blocks(text string, labels ...string) []block {
	var found []block
	lines := strings.SplitAfter(text, "\n")
	at, nested := 0, true
	for i := 0; i < len(lines); i++ {
		from := at
		at += len(lines[i])
		if !opens(lines[i], labels) {
			continue
		}
		last := closing(lines, i+1, labels, nested)
		if last < 0 && nested {
			nested = false // so that a text without ends is not read again for each of its fences
			last = closing(lines, i+1, labels, false)
		}
		if last < 0 {
			break
		}
		body := strings.Join(lines[i+1:last], "")
		at += len(body) + len(lines[last])
		found = append(found, block{from, at, strings.TrimSpace(body)})
		i = last
	}
	return found
}

func opens(line string, labels []string) bool {
	name, ok := strings.CutPrefix(strings.TrimSpace(line), fence)
	return ok && slices.Contains(labels, name)
}

// closing is the line that ends a block whose content begins at a line; -1 when none does.
func closing(lines []string, from int, labels []string, nested bool) int {
	inner := 0
	for i := from; i < len(lines); i++ {
		bare := strings.TrimRight(lines[i], " \t\r\n")
		switch {
		case nested && opens(bare, labels): // it cannot be inside
			return -1
		case bare == fence && inner == 0:
			return i
		case bare == fence:
			inner--
		case nested && strings.HasPrefix(bare, fence):
			inner++
		}
	}
	return -1
}

func nudgeText(p harness.Pause) string {
	switch {
	case p.Finish == chat.CutShort:
		return complaintText("The reply was cut off at its length limit before its command was complete. Be brief, and write long files in parts.", 0)
	case p.Calls > 0 && p.Why == "":
		return ""
	}
	return complaintText("", 0)
}

// complaintText is what is said about a reply whose command cannot be run.
func complaintText(what string, count int) string {
	if what == "" {
		what = fmt.Sprintf("The reply has %d commands; it must have exactly 1.", count)
	}
	return "<error>\n" + what + "\n</error>\n\nAnswer in this form:\n\nTHOUGHT: your reasoning\n\n" + fence + label + "\nthe command\n" + fence +
		"\n\nWhen the task is done, the command is, alone: echo " + submission
}

func faultText(tool string, err error) string {
	var count *BlocksError
	if errors.As(err, &count) {
		return complaintText("", count.Count)
	}
	if what, ok := misformed(err); ok {
		return complaintText(what, 0)
	}
	return tags(result{Code: -1, Output: new(string), Exception: failure(tool, err)})
}

func sayTags(r action.Ran, limit time.Duration) string { return tags(resultOf(r, limit)) }

// tags is a result as text.
func tags(r result) string {
	var b strings.Builder
	if r.Exception != "" {
		b.WriteString("<exception>" + r.Exception + "</exception>\n")
	}
	fmt.Fprintf(&b, "<returncode>%d</returncode>\n", r.Code)
	if r.Output != nil {
		b.WriteString("<output>\n" + ended(*r.Output) + "</output>")
		return b.String()
	}
	fmt.Fprintf(&b, "<warning>\n%s\n</warning>\n<output_head>\n%s</output_head>\n<elided_chars>\n%d\n</elided_chars>\n<output_tail>\n%s</output_tail>",
		r.Warning, ended(r.Head), r.Elided, ended(r.Tail))
	return b.String()
}

// ended is a text whose last line is whole.
func ended(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}
