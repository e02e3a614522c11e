package textcall

import (
	"strings"

	"interpreter/local/chat"
)

// quoted reports whether the place the scanner is at stands in quotes, in code within a line, in a quotation, a
// comment, a table, a diff or a line of a log. It looks at this line only, and at most 400 bytes back.
func (s *scanner) quoted() bool { return quotedAt(s.text, s.at, s.from) }

func quotedAt(text string, at, from int) bool {
	head := text[max(from, at-400):at]
	if n := strings.LastIndexByte(head, '\n'); n >= 0 {
		head = head[n+1:]
	}
	if head == "" {
		return false
	}
	bare := strings.TrimLeft(head, " \t")
	switch c := first(bare, 0); c {
	case '>', '|', '#':
		return true
	case '+', '-', '*': // a diff, or a point that is nothing but the call
		if next := first(bare, 1); next == 0 || c != '*' && (next == ' ' || next == '\t' || next == '<') {
			return true
		}
	case '/', '<':
		if strings.HasPrefix(bare, "//") || strings.HasPrefix(bare, "/*") || strings.HasPrefix(bare, "<!--") {
			return true
		}
	}
	if strings.Count(head, "`")%2 == 1 || strings.Count(head, "|") > 1 && strings.Count(head, " | ") > 1 || logged(bare) {
		return true
	}
	switch c := head[len(head)-1]; {
	case c == '"' || c == '\'' || c == '(':
		return true
	case c >= 0x80 && (strings.HasSuffix(head, "“") || strings.HasSuffix(head, "‘") || strings.HasSuffix(head, "«") || strings.HasSuffix(head, "„")):
		return true
	}
	return strings.Count(head, `"`)%2 == 1 && !strings.Contains(head, "{")
}

// first is a byte of a text, 0 behind its end.
func first(text string, at int) byte {
	if at >= len(text) {
		return 0
	}
	return text[at]
}

// logged reports whether a line begins like one of a log: with a time.
func logged(line string) bool {
	at := strings.IndexByte(line[:min(len(line), 32)], ':')
	if at < 2 || at+6 > len(line) {
		return false
	}
	for i, c := range []byte(line[at-2 : at+6]) {
		if digit := c >= '0' && c <= '9'; (i%3 == 2) != (c == ':') || i%3 != 2 && !digit {
			return false
		}
	}
	return true
}

// mentioned reports whether a call from start to end stands in a text that talks about it: in the middle of a sentence,
// or after words that announce what calls look like.
func (s *scanner) mentioned(start, end int) bool {
	head := s.text[max(s.from, start-300):start]
	inLine := strings.TrimSpace(head[strings.LastIndexByte(head, '\n')+1:]) != ""
	if rest := strings.TrimLeft(s.text[end:min(len(s.text), end+40)], " "); inLine && rest != "" {
		if c := rest[0]; c >= 'a' && c <= 'z' || strings.IndexByte(".,;)!?'\"`", c) >= 0 && !strings.HasPrefix(rest, "```") {
			return true
		}
	}
	line := lastLine(head)
	return strings.HasSuffix(line, ":") && says(line, "for example", "an example", "example of", "example call", "e.g.", "for instance", "looks like", "look like", "like this",
		"this format", "the syntax")
}

// announced reports whether the paragraph before a place announces an example; it takes fewer words than for a call
// between marks.
func (s *scanner) announced(at int) bool {
	return says(lastLine(s.text[max(s.from, at-300):at]), "example", "e.g.", "for instance", "format", "like this", "looks like", "look like", "would", "could",
		"you can", "previously", "output was")
}

// lastLine is the last line that is not empty, in lower case.
func lastLine(head string) string {
	head = strings.TrimRight(head, " \t\r\n")
	return strings.ToLower(head[strings.LastIndexByte(head, '\n')+1:])
}

// says reports whether one of some phrases stands in a line, as whole words.
func says(line string, phrases ...string) bool {
	for _, p := range phrases {
		for from := 0; ; {
			n := strings.Index(line[from:], p)
			if n < 0 {
				break
			}
			at := from + n
			if end := at + len(p); (at == 0 || !isWord(line[at-1])) && (end == len(line) || !isWord(line[end])) {
				return true
			}
			from = at + 1
		}
	}
	return false
}

// invented reports whether a mark begins a result, which only we write.
func invented(name string) bool {
	switch name {
	case "tool_response", "|tool_response", "|tool_response|", "|tool_output_begin|", "|tool_outputs_begin|", "function_results", "function_result", "tool_result",
		"[Tool result", "[Tool result:", "[TOOL_RESULTS", "|START_TOOL_RESULT|":
		return true
	}
	return false
}

// blank reports a call whose values are the blanks of a form.
func blank(c chat.Call) bool {
	if len(c.Args) > 1<<16 {
		return false
	}
	for _, m := range members(string(c.Args)) {
		if m.value[0] == '"' && placeholder(unquoted(m.value)) {
			return true
		}
	}
	return false
}

func placeholder(v string) bool {
	v = strings.ToLower(strings.TrimSpace(v))
	switch v {
	case "...", "…", "string", "path/to/file", "/path/to/file", "your_command_here", "your command here":
		return true
	}
	if len(v) > 40 || len(v) < 3 {
		return false
	}
	inside := strings.Trim(v, "<>{}")
	word := inside != "" && strings.Trim(inside, "abcdefghijklmnopqrstuvwxyz_- ") == ""
	return word && (v[0] == '<' && v[len(v)-1] == '>' || strings.HasPrefix(v, "{{") && strings.HasSuffix(v, "}}"))
}
