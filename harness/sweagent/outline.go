package sweagent

import (
	"fmt"
	"regexp"
	"strings"
)

// shortBody is how many lines of a function are shown whole.
const shortBody = 5

var function = regexp.MustCompile(`^[ \t]*(?:async[ \t]+)?def[ \t]`)

// outline is a Python file with line numbers and without the bodies of longer functions. ok is false when none is left
// out. It goes by indentation: a body ends before the first line that stands as far left as its def.
func outline(text string) (short string, ok bool) {
	lines := strings.SplitAfter(text, "\n")
	var b strings.Builder
	show := func(i int) {
		if lines[i] != "" {
			b.WriteString(numbered(lines[i], i+1))
		}
	}
	for i := 0; i < len(lines); i++ {
		show(i)
		if !function.MatchString(lines[i]) {
			continue
		}
		body := i + 1
		for body < len(lines) && !headEnds(lines[body-1]) && body-i < 20 { // a signature of several lines
			show(body)
			body++
		}
		end := body
		for j := body; j < len(lines); j++ {
			if strings.TrimSpace(lines[j]) == "" {
				continue
			}
			if indent(lines[j]) <= indent(lines[i]) {
				break
			}
			end = j + 1
		}
		if end-body > shortBody {
			fmt.Fprintf(&b, "      \t... lines %d to %d are left out ...\n", body+1, end)
			ok = true
			i = end - 1
			continue
		}
		i = body - 1
	}
	return b.String(), ok
}

// headEnds reports whether a line ends the head of a function.
func headEnds(line string) bool {
	code, _, _ := strings.Cut(line, " #")
	return strings.HasSuffix(strings.TrimSpace(code), ":")
}

// indent is how far right a line begins, tabs counted as eight.
func indent(line string) int {
	n := 0
	for _, c := range line {
		switch c {
		case ' ':
			n++
		case '\t':
			n += 8 - n%8
		default:
			return n
		}
	}
	return n
}
