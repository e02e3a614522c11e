package action

import (
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

const (
	diffLines = 400
	diffBytes = 64 << 10
	diffWhole = 1 << 20 // larger changes are not compared line by line
)

// completed is the change with its diff, counts and lines. Both contents are the bytes of the file.
func (c FileChange) completed(before, after []byte) FileChange {
	old, new := shown(before), shown(after)
	c.Before, c.After = old, new
	c.First, c.Last = changedLines(old, new)
	from, to := c.Path, c.Path
	if c.To != "" {
		to = c.To
	}
	switch c.Kind {
	case Added:
		if before == nil {
			from = "/dev/null"
		}
	case Deleted:
		to, c.First, c.Last = "/dev/null", 0, 0
	}
	c.Diff, c.Added, c.Removed = unified(from, to, old, new)
	return c
}

// shown is the content of a file as text; of one that is none, its size.
func shown(content []byte) string {
	decoded, _, err := decode(content)
	if err != nil {
		return fmt.Sprintf("(%d bytes that are not text)\n", len(content))
	}
	return readable(decoded)
}

// unified is a bounded unified diff with its counts of lines, which are of the whole change.
func unified(from, to, old, new string) (diff string, added, removed int) {
	if old == new {
		return "", 0, 0
	}
	head, tail := sameEnds(old, new)
	if len(old)+len(new)-2*(head+tail) > diffWhole {
		removed = len(splitLines(old[head : len(old)-tail]))
		added = len(splitLines(new[head : len(new)-tail]))
		return fmt.Sprintf("--- %s\n+++ %s\n… %d lines removed and %d added, too many to show\n", from, to, removed, added), added, removed
	}
	text := udiff.Unified(from, to, old, new)
	var b strings.Builder
	lines := 0
	cut := false
	for line := range strings.Lines(text) {
		lines++
		if lines > 2 {
			switch line[0] {
			case '+':
				added++
			case '-':
				removed++
			}
		}
		if cut = cut || lines > diffLines || b.Len()+len(line) > diffBytes; !cut {
			b.WriteString(line)
		}
	}
	if cut {
		shown := strings.Count(b.String(), "\n")
		fmt.Fprintf(&b, "… %d more lines of diff left out\n", lines-shown)
	}
	return b.String(), added, removed
}

// changedLines are the first and last line of new that differ from old, 1-based. A pure deletion names the line that
// took its place.
func changedLines(old, new string) (first, last int) {
	if old == new || new == "" {
		return 0, 0
	}
	head, tail := sameEnds(old, new)
	first = lineAt(new, head)
	end := len(new) - tail
	last = lineAt(new, end)
	if end > head && new[end-1] == '\n' {
		last--
	}
	total := len(splitLines(new))
	first = min(first, total)
	return first, min(max(first, last), total)
}

// sameEnds are the lengths of what two texts have in common in whole lines, at the start and then at the end.
func sameEnds(a, b string) (head, tail int) {
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	head = strings.LastIndexByte(a[:head], '\n') + 1
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	// A tail starts at the start of a line in both texts.
	for tail > 0 && !(startsLine(a, len(a)-tail, head) && startsLine(b, len(b)-tail, head)) {
		tail--
	}
	return head, tail
}

func startsLine(text string, i, head int) bool { return i == head || i > 0 && text[i-1] == '\n' }
