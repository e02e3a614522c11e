package harness

import (
	"errors"
	"fmt"
	"strings"

	"interpreter/sandbox/action"
)

// TerseEdits are the parameters of an edit that takes a list. Models also send its one pair beside the path, or other
// names of the two texts; both are understood.
type TerseEdits struct {
	Path  string      `json:"path"`
	Edits []TersePair `json:"edits" absent:"ok" also:"changes,replacements"`

	Old *string `json:"oldText,omitempty" hidden:"yes"`
	New *string `json:"newText,omitempty" hidden:"yes"`
	All bool    `json:"replaceAll,omitempty" hidden:"yes"`
}

// TersePair is one replacement.
type TersePair struct {
	Old string `json:"oldText"`
	New string `json:"newText"`
	All bool   `json:"replaceAll,omitempty" hidden:"yes"`
}

// Plan is the action: one pair is an edit of its own, so that what is said about it names no index.
func (p TerseEdits) Plan(tool string, say func(action.Changed) string) (Step, error) {
	pairs := p.Edits
	if len(pairs) == 0 {
		pair, err := p.alone(tool)
		if err != nil {
			return Step{}, err
		}
		pairs = []TersePair{pair}
	}
	if len(pairs) == 1 {
		one := pairs[0]
		return Do(action.Edit{Path: p.Path, Old: one.Old, New: one.New, All: one.All || p.All, Create: true}, say), nil
	}
	a := action.Edits{Path: p.Path}
	for _, one := range pairs {
		a.Pairs = append(a.Pairs, action.Pair{Old: one.Old, New: one.New, All: one.All || p.All})
	}
	return Do(a, say), nil
}

// alone is the pair that stands beside the path.
func (p TerseEdits) alone(tool string) (TersePair, error) {
	bad := &ArgumentsError{Tool: tool, Expected: []string{"path: string", "edits: array of {oldText: string, newText: string}"}}
	switch {
	case p.Old != nil && p.New != nil:
		return TersePair{Old: *p.Old, New: *p.New}, nil
	case p.Old != nil:
		bad.Problems = []Problem{{"newText", "is missing"}}
	case p.New != nil:
		bad.Problems = []Problem{{"oldText", "is missing"}}
	case p.Edits != nil:
		bad.Problems = []Problem{{"edits", "is empty"}}
	default:
		bad.Problems = []Problem{{"edits", "is missing"}}
	}
	return TersePair{}, bad
}

// SayTerseEdited counts the places, and shows the lines when the old text matched only loosely: they may not be what
// the model thinks.
func SayTerseEdited(c action.Changed) string {
	f := c.Files[0]
	switch {
	case c.Same:
		return f.Path + " has this text already; nothing was changed." + ChangeNotes(c)
	case f.Kind == action.Added:
		return fmt.Sprintf("Created %s (%s).", f.Path, Lines(f.After)) + ChangeNotes(c)
	}
	blocks := "1 block"
	if c.Spots != 1 {
		blocks = fmt.Sprintf("%d blocks", c.Spots)
	}
	text := fmt.Sprintf("Replaced %s in %s.", blocks, f.Path) + ChangeNotes(c)
	if c.Level > "E1" {
		text += "\nThe old text was matched loosely." + TerseExcerpt(f)
	}
	return text
}

// TerseExcerpt shows the changed lines with three around them, behind a blank line; "" when there are none.
func TerseExcerpt(f action.FileChange) string {
	x := ChangedLines(f, 3, 40)
	if x.To == 0 {
		return ""
	}
	return fmt.Sprintf("\n\n[Lines %d-%d of %d are now:]\n%s", x.From, x.To, x.Total, x.Text)
}

// TerseEditsFault is TerseFault for an edit that takes a list: it cannot be told to replace every place.
func TerseEditsFault(tool string, err error) string {
	var list *action.EditsError
	var match *action.MatchError
	switch {
	case errors.As(err, &list):
		words := make([]string, len(list.Errs))
		for i, one := range list.Errs {
			words[i] = TerseEditsFault(tool, one)
		}
		return strings.Join(words, "\n")
	case errors.As(err, &match) && errors.Is(match.Err, action.ErrAmbiguous):
		which := "the old text"
		if match.Index >= 0 {
			which = fmt.Sprintf("edits[%d]", match.Index)
		}
		return fmt.Sprintf("%s: %s is in %d places%s. Nothing was changed. Add the lines around the one you mean; for several places, give each an edit of its own.",
			match.Path, which, match.Count, Places(match))
	}
	return TerseFault(tool, err)
}
