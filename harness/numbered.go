package harness

import (
	"fmt"
	"strings"
)

// Numbered puts a number before each line of a text: first before the first one. format is what fmt makes of the
// number: "%d: ", "%6d\t". A final line break is no line of its own, and it stays.
func Numbered(text string, first int, format string) string {
	if text == "" {
		return ""
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		fmt.Fprintf(&b, format, first)
		b.WriteString(line)
		first++
	}
	return b.String()
}
