package action

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

const (
	guardLines   = 60  // files up to this many lines may always be replaced
	guardAlike   = 0.4 // share of lines that two contents have in common, from which an edit serves better
	guardRefused = 2   // refusals of one file in a row
	shrinkLines  = 40  // files up to this many lines may shrink
	editsFailed  = 3   // failed edits of one file in a row, after which it may be replaced
)

// The reasons of a GuardError.
const (
	GuardExists      = "exists"      // the file exists, is long, and most of it would stay: an edit serves better
	GuardShrinks     = "shrinks"     // less than half of it would be left; the same file again goes through
	GuardPlaceholder = "placeholder" // a line stands for code left out; it never goes through
)

// GuardError is a file that Write would have replaced although an edit serves better. Nothing was written.
type GuardError struct {
	Path  string
	Lines int    // it has now
	New   int    `json:",omitempty"` // lines it would have
	Why   string // GuardExists, GuardShrinks, GuardPlaceholder
	Text  string `json:",omitempty"` // the line, of GuardPlaceholder
}

func (e *GuardError) Error() string {
	switch e.Why {
	case GuardShrinks:
		return fmt.Sprintf("write %s: it has %d lines and would have %d; if the rest is meant to go, make the same call again, else edit the part that changes", e.Path, e.Lines, e.New)
	case GuardPlaceholder:
		return fmt.Sprintf("write %s: the line %q stands for code left out, and the file would lose it; write everything, or edit the part that changes", e.Path, e.Text)
	}
	return fmt.Sprintf("write %s: it exists and has %d lines; edit the part that changes instead of writing all of it", e.Path, e.Lines)
}

// refusal is what a guard refused, so that it can give way.
type refusal struct {
	before [sha256.Size]byte // the file as it was
	why    string
	times  int
}

// guarded judges a write that would replace before by after, nil when it may.
func (w *Workspace) guarded(a Write, real string, before []byte) error {
	have, want := unix(shown(before)), unix(a.Content)
	if have == want || len(before) == 0 {
		return nil
	}
	e := &GuardError{Path: a.Path, Lines: len(splitLines(have)), New: len(splitLines(want))}
	if line := placeholder(a.Path, have, "", want); line != "" {
		e.Why, e.Text = GuardPlaceholder, line
		return e
	}
	switch {
	case e.Lines > shrinkLines && len(want)*2 < len(have):
		e.Why = GuardShrinks
	case a.Guard && e.Lines > guardLines && sharedLines(have, want) > guardAlike:
		e.Why = GuardExists
	default:
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if e.Why == GuardExists && w.fails[real] >= editsFailed {
		return nil
	}
	sum := sha256.Sum256(before)
	r := w.refused[real]
	if r.before != sum || r.why != e.Why {
		r = refusal{before: sum, why: e.Why}
	}
	most := 1
	if e.Why == GuardExists {
		most = guardRefused
	}
	if r.times >= most {
		return nil
	}
	r.times++
	if w.refused == nil {
		w.refused = map[string]refusal{}
	}
	w.refused[real] = r
	return e
}

// sharedLines is the share of lines that are in both texts, of the longer one's, from 0 to 1.
func sharedLines(a, b string) float64 {
	count := map[string]int{}
	one, other := splitLines(a), splitLines(b)
	for _, line := range one {
		count[strings.TrimSpace(line)]++
	}
	both := 0
	for _, line := range other {
		if key := strings.TrimSpace(line); count[key] > 0 {
			count[key]--
			both++
		}
	}
	return float64(both) / float64(max(len(one), len(other), 1))
}

// proseFiles are files of words, in which three dots are just that.
var proseFiles = []string{".md", ".markdown", ".mdx", ".txt", ".rst", ".adoc", ".tex", ".yaml", ".yml", ".html", ".htm", ".csv", ".log", ".po"}

func isProse(path string) bool {
	return slices.Contains(proseFiles, strings.ToLower(filepath.Ext(path)))
}
