package textcall

import (
	"strings"

	"interpreter/local/chat"
)

const (
	thinkOpen  = "<think>"
	thinkClose = "</think>"
)

// thoughts moves what a model thought aloud, because its server did not know the tags, from the text of an answer to
// its thinking: a block at the start, closed or not, and what stands before a closing tag whose opening one a template
// has swallowed. Tags that are quoted are text.
func thoughts(m chat.Message) chat.Message {
	text := strings.TrimSpace(m.Text)
	if body, ok := strings.CutPrefix(text, thinkOpen); ok {
		thought, answer, _ := strings.Cut(body, thinkClose)
		return split(m, thought, answer)
	}
	if at := strings.Index(text, thinkClose); at >= 0 && closes(text, at) {
		return split(m, text[:at], text[at+len(thinkClose):])
	}
	return m
}

// closes reports whether the closing tag at a place ends a thought: nothing opened it before, nothing follows in its
// line, and it stands in no quotation and no fence.
func closes(text string, at int) bool {
	before, after := text[:at], text[at+len(thinkClose):]
	line := before[strings.LastIndexByte(before, '\n')+1:]
	end, _, _ := strings.Cut(after, "\n")
	return !strings.Contains(before, thinkOpen) && strings.TrimSpace(end) == "" &&
		strings.Count(line, "`")%2 == 0 && strings.Count(before, "```")%2 == 0 && !strings.HasPrefix(strings.TrimSpace(line), ">")
}

func split(m chat.Message, thought, answer string) chat.Message {
	thought = strings.TrimSpace(thought)
	if m.Thinking != "" && thought != "" {
		thought = m.Thinking + "\n" + thought
	}
	if thought != "" {
		m.Thinking = thought
	}
	m.Text = strings.TrimSpace(answer)
	return m
}
