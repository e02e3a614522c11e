package action

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Insert puts lines into a file.
type Insert struct {
	Path  string
	After int // line behind which they stand; 0 is the beginning
	Text  string
}

// Title is the action in a line.
func (a Insert) Title() string { return one("insert into %s", a.Path) }

// Need asks to write the file.
func (a Insert) Need() Need { return Need{Effect: Writes, Paths: []string{a.Path}} }

// Do inserts. The text becomes whole lines in the file's own encoding and line ends; a last line without an end stays
// so. A line that is not there is a *LineError.
func (a Insert) Do(ctx context.Context, w *Workspace) (Changed, error) {
	if strings.TrimSpace(a.Path) == "" {
		return Changed{}, errors.New("insert: the path is empty")
	}
	if _, err := w.mayWrite(ctx, a.Path); err != nil {
		return Changed{}, err
	}
	before, real, err := w.readFor(ctx, "insert", a.Path)
	if err != nil {
		return Changed{}, err
	}
	t, err := openText(before)
	if err != nil {
		return Changed{}, fmt.Errorf("insert into %s: %w", a.Path, err)
	}
	total := len(splitLines(t.view.text))
	if a.After < 0 || a.After > total {
		return Changed{}, &LineError{What: "insert", Path: a.Path, Line: a.After, Total: total}
	}
	at := lineStart(t.decoded, a.After)
	text := strings.TrimSuffix(unix(a.Text), "\n") + "\n"
	if at == len(t.decoded) && at > 0 && t.decoded[at-1] != '\n' {
		text = "\n" + strings.TrimSuffix(text, "\n") // behind a last line without an end
	}
	text = t.coding.spell(breaks(text, "", t.decoded[:at], t.decoded[at:]))
	r := replaced{after: t.splice([]span{{at, at, text}}), spots: 1, level: levelExact}
	var out Changed
	out.Unread, out.Stale = w.standing(real, before)
	r.first, r.last = a.After+1, a.After+len(splitLines(text))
	if strings.HasPrefix(unix(text), "\n") && total > 0 && a.After == total {
		r.last--
	}
	r.last = max(r.first, r.last)
	return w.edited(ctx, out, FileChange{Path: a.Path, Real: real, Kind: Modified}, before, r)
}

// lineStart is the offset behind so many lines.
func lineStart(text string, lines int) int {
	at := 0
	for range lines {
		i := strings.IndexByte(text[at:], '\n')
		if i < 0 {
			return len(text)
		}
		at += i + 1
	}
	return at
}
