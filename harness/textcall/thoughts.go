package textcall

import "strings"

const thinkClose = "</think>"

// thinkTags are the pairs that models put their thoughts between.
var thinkTags = [][2]string{{"<think>", thinkClose}, {"[THINK]", "[/THINK]"}, {"<thinking>", "</thinking>"}, {"<thought>", "</thought>"},
	{"<seed:think>", "</seed:think>"}, {"<reasoning>", "</reasoning>"}, {"<|START_THINKING|>", "<|END_THINKING|>"}}

// blocks is how many further blocks of thoughts are looked for.
const blocks = 32

// split is a text, its thoughts apart.
type split struct {
	thoughts []string
	answer   string
	any      bool // tags of thinking were there
	open     bool // the last thought has no end
}

// thoughts takes out of a text what a model thought aloud because its server did not know the tags: a block at the
// start, closed or not, with further blocks that begin a line; and what stands before a closing tag whose opening one a
// template has swallowed. Tags that are quoted are text.
func thoughts(text string) split {
	d := split{answer: text}
	for d.block(0) {
	}
	for n := 0; n < blocks && d.any && !d.open && d.later(); n++ {
	}
	for n := 0; n < blocks && !d.open && d.orphan(); n++ {
	}
	if d.any {
		d.answer = strings.TrimSpace(d.answer)
	}
	return d
}

// block takes out the block of thoughts that begins at a place, blanks before it.
func (d *split) block(at int) bool {
	head, body := d.answer[:at], strings.TrimLeft(d.answer[at:], " \t\r\n")
	for _, tag := range thinkTags {
		rest, ok := strings.CutPrefix(body, tag[0])
		if !ok {
			continue
		}
		for strings.HasPrefix(strings.TrimLeft(rest, " \t\r\n"), tag[0]) { // the prompt had opened it
			rest = strings.TrimLeft(rest, " \t\r\n")[len(tag[0]):]
		}
		d.any = true
		end := closing(rest, tag[1])
		if end < 0 {
			d.add(rest)
			d.answer, d.open = head, true
			return false
		}
		d.add(rest[:end])
		if d.answer = rest[end+len(tag[1]):]; at > 0 {
			d.answer = strings.TrimRight(head, " \t\r\n") + "\n" + strings.TrimLeft(d.answer, " \t\r\n")
		}
		return true
	}
	return false
}

// closing finds the closing tag that is not named in back ticks; -1: there is none.
func closing(text, tag string) int {
	for at := 0; ; at += len(tag) {
		n := strings.Index(text[at:], tag)
		if n < 0 {
			return -1
		}
		if at += n; named(text, at, at+len(tag), true) != yes {
			return at
		}
	}
}

// named reports whether what stands from at to end is in back ticks: an odd number of them before it in its line, and
// one behind. maybe: the line is not complete.
func named(text string, at, end int, final bool) whether {
	line := text[max(0, at-400):at]
	if strings.Count(line[strings.LastIndexByte(line, '\n')+1:], "`")%2 == 0 {
		return no
	}
	rest := text[end:min(len(text), end+400)]
	switch i := strings.IndexAny(rest, "`\n"); {
	case i >= 0 && rest[i] == '`':
		return yes
	case i < 0 && len(rest) < 400 && !final:
		return maybe
	}
	return no
}

// later takes out a block that begins a line behind the first one.
func (d *split) later() bool {
	for _, tag := range thinkTags[:2] {
		if at := strings.Index(d.answer, "\n"+tag[0]); at >= 0 && strings.Contains(d.answer[at:], tag[1]) && strings.Count(d.answer[:at], "```")%2 == 0 {
			return d.block(at)
		}
	}
	return false
}

// orphan takes out what stands before a closing tag that nothing opened.
func (d *split) orphan() bool {
	for _, tag := range thinkTags[:2] {
		at := strings.Index(d.answer, tag[1])
		if at < 0 || !endsThought(d.answer, at, tag) {
			continue
		}
		d.add(d.answer[:at])
		d.answer, d.any = d.answer[at+len(tag[1]):], true
		return true
	}
	return false
}

// endsThought reports whether the closing tag at a place ends a thought: nothing opened it before, no sentence goes on
// around it, and it stands in no quotation and no fence.
func endsThought(text string, at int, tag [2]string) bool {
	before, after := text[:at], text[at+len(tag[1]):min(len(text), at+400)]
	line := before[strings.LastIndexByte(before, '\n')+1:]
	end, _, _ := strings.Cut(after, "\n")
	if strings.TrimSpace(end) != "" { // the answer goes on in the line: no blank on either side
		if end[0] == ' ' || end[0] >= 'a' && end[0] <= 'z' || strings.HasSuffix(before, " ") || strings.IndexByte("`'\".,;:)", end[0]) >= 0 {
			return false
		}
	}
	return !strings.Contains(before, tag[0]) && strings.Count(line, "`")%2 == 0 && strings.Count(before, "```")%2 == 0 && !strings.HasPrefix(strings.TrimSpace(line), ">")
}

func (d *split) add(thought string) {
	if thought = strings.TrimSpace(thought); thought != "" {
		d.thoughts = append(d.thoughts, thought)
	}
}
