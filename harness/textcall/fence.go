package textcall

import "strings"

// fence is a fenced block: from its opening line to behind its closing one.
type fence struct {
	start, end int
	info       string
	body       string
}

// fence steps over the fenced block that begins at a place; blocks that close the text are looked into in the end.
func (s *scanner) fence(at int) bool {
	mark, info, next, ok := fenceAt(s.text, at)
	if !ok || s.nested {
		return false
	}
	f := fence{start: s.at, info: info}
	for line := next; line < len(s.text); {
		end, after := lineEnd(s.text, line)
		if closes(s.text[line:end], mark) {
			f.body, f.end = s.text[next:line], after
			break
		}
		line = after
	}
	if f.end == 0 {
		f.body, f.end = s.text[next:], len(s.text)
	}
	s.fences = append(s.fences, f)
	s.at = f.end
	return true
}

// fenceAt reads the line that opens a fence: its mark, what is said of the content, where the content begins.
func fenceAt(text string, at int) (mark, info string, next int, ok bool) {
	end, next := lineEnd(text, at)
	line := strings.TrimSpace(text[at:end])
	n := 0
	for n < len(line) && line[n] == line[0] {
		n++
	}
	if n < 3 || line[0] != '`' && line[0] != '~' || strings.IndexByte(line[n:], '`') >= 0 {
		return "", "", at, false
	}
	return line[:n], strings.ToLower(strings.TrimSpace(line[n:])), next, true
}

// closes reports whether a line ends the fence of a mark.
func closes(line, mark string) bool {
	i := 0
	for i < len(line) && line[i] == ' ' {
		i++
	}
	if i >= len(line) || line[i] != mark[0] || !strings.HasPrefix(line[i:], mark) {
		return false
	}
	return strings.Trim(line[i:], mark[:1]+" \t\r") == ""
}

func lineEnd(text string, at int) (end, next int) {
	if n := strings.IndexByte(text[at:], '\n'); n >= 0 {
		return at + n, at + n + 1
	}
	return len(text), len(text)
}

// promising reports whether a fence may hold a call: nothing, or a fitting word, is said of its content, and that begins
// like one.
func promising(info, body string) bool {
	switch info {
	case "", "json", "tool", "tool_call", "tool_calls", "tool_code", "tool_use", "xml", "function", "function_call", "jsonc", "json5", "action":
	default:
		return false
	}
	body = strings.TrimLeft(body, " \t\r\n")
	if body == "" {
		return false
	}
	switch c := body[0]; {
	case c == '{' || c == '[' || c == '<':
		return true
	case info == "tool_code" || info == "tool_call" || info == "tool" || info == "function_call":
		return isWord(c)
	}
	return false
}

// lastFences reads the fenced blocks that close the text, if each holds calls.
func (s *scanner) lastFences() {
	end := len(s.text)
	first := len(s.fences)
	for first > 0 {
		f := s.fences[first-1]
		if f.start < s.from || strings.TrimSpace(s.text[f.end:end]) != "" || !promising(f.info, f.body) {
			break
		}
		first--
		end = f.start
	}
	last := s.fences[first:]
	if len(last) == 0 || len(s.box.tools) == 0 || s.announced(last[0].start) || quotedAt(s.text, last[0].start, s.from) {
		return
	}
	var read [][]found
	for i := len(last) - 1; i >= 0; i-- { // those at the end that are calls, without a gap
		calls := s.inFence(last[i])
		if len(calls) == 0 {
			last = last[i+1:]
			break
		}
		read = append(read, calls)
	}
	for i, f := range last {
		s.keep(f.start)
		s.found = append(s.found, read[len(last)-1-i]...)
		s.from, s.bare = f.end, true
	}
}

// inFence reads one block; its calls are weak evidence.
func (s *scanner) inFence(f fence) []found {
	if len(f.body) > longest || s.budget <= 0 {
		return nil
	}
	body := strings.TrimSpace(f.body)
	var calls []found
	if f.info == "tool_code" || f.info != "json" && isWord(body[0]) {
		calls = s.code(body)
	} else {
		in := s.inner(body)
		in.run()
		if s.budget = in.budget; in.cut || in.torn {
			s.torn, s.tornAt = true, f.start
		}
		if in.rest() == "" && !in.cut {
			calls = in.found
		}
	}
	for i := range calls {
		calls[i].level, calls[i].raw = low, f.body
		if calls[i].form == "object" || calls[i].form == "code" {
			calls[i].form = "fence"
		}
	}
	if !s.callable(calls) {
		return nil
	}
	return calls
}
