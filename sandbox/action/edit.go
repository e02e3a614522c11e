package action

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// Edit replaces a text in a file.
type Edit struct {
	Path     string
	Old, New string
	All      bool // every place, instead of the only one
	Create   bool // an empty Old creates a missing file
	Strict   bool // match to the letter, line ends and encoding aside
	Lines    bool // an empty New takes the line break along when whole lines go
}

// Title is the action in a line.
func (a Edit) Title() string { return one("edit %s", a.Path) }

// Need asks for the file.
func (a Edit) Need() Need { return Need{Effect: Writes, Paths: []string{a.Path}} }

// Do edits. When the change is there already, nothing is written and Same is set.
func (a Edit) Do(ctx context.Context, w *Workspace) (Changed, error) {
	if strings.TrimSpace(a.Path) == "" {
		return Changed{}, errors.New("edit: the path is empty")
	}
	if _, err := w.mayWrite(ctx, a.Path); err != nil {
		return Changed{}, err
	}
	before, real, err := w.readFor(ctx, "edit", a.Path)
	if a.Create && a.Old == "" {
		switch {
		case errors.Is(err, fs.ErrNotExist), err == nil && len(before) == 0:
			return Write{Path: a.Path, Content: a.New}.Do(ctx, w)
		case err == nil:
			return Changed{}, fmt.Errorf("edit %s: %w and %w", a.Path, ErrExists, ErrEmptyOld)
		}
	}
	if err != nil {
		return Changed{}, err
	}
	var out Changed
	out.Unread, out.Stale = w.standing(real, before)
	r, err := replaceOne(before, a)
	if err != nil {
		return Changed{}, w.mismatch(err, a.Path, real, before)
	}
	return w.edited(ctx, out, FileChange{Path: a.Path, Real: real, Kind: Modified}, before, r)
}

// edited writes what an edit made, or says that it was there.
func (w *Workspace) edited(ctx context.Context, out Changed, change FileChange, before []byte, r replaced) (Changed, error) {
	out.Spots, out.Level, out.Same = r.spots, r.level, r.spots == 0
	if !out.Same {
		if _, err := w.WriteFile(ctx, change.Path, r.after); err != nil {
			return Changed{}, err
		}
	}
	w.matched(change.Real)
	change = change.completed(before, r.after)
	change.First, change.Last = r.first, r.last
	out.Files = []FileChange{change}
	return out.withSyntax(change.Path, before, r.after), nil
}

// mismatch completes an error of replaceOne with the path and what the session knows of the file.
func (w *Workspace) mismatch(err error, path, real string, content []byte) error {
	var me *MatchError
	if !errors.As(err, &me) {
		return fmt.Errorf("edit %s: %w", path, err)
	}
	me.Path, me.Content = path, unix(shown(content))
	me.Unread, me.Stale = w.standing(real, content)
	me.Failures = w.failed(real)
	return me
}

// Edits replaces several texts in one file, all or none.
type Edits struct {
	Path  string
	Pairs []Pair
}

// Pair is one replacement of several.
type Pair struct {
	Old, New string
	All      bool
}

// Title is the action in a line.
func (a Edits) Title() string { return one("edit %s in %d places", a.Path, len(a.Pairs)) }

// Need asks for the file.
func (a Edits) Need() Need { return Need{Effect: Writes, Paths: []string{a.Path}} }

// Do matches every pair against the file as it is. If one of them only matches what an earlier one makes, they are
// applied one after the other and a note says so. A failure is an *EditsError, and nothing was written.
func (a Edits) Do(ctx context.Context, w *Workspace) (Changed, error) {
	if len(a.Pairs) == 0 {
		return Changed{}, fmt.Errorf("edit %s: no edits given", a.Path)
	}
	if _, err := w.mayWrite(ctx, a.Path); err != nil {
		return Changed{}, err
	}
	before, real, err := w.readFor(ctx, "edit", a.Path)
	if err != nil {
		return Changed{}, err
	}
	var out Changed
	out.Unread, out.Stale = w.standing(real, before)
	r, err := a.atOnce(before)
	if err != nil {
		var overlap *OverlapError
		sequential, later := a.inTurn(before)
		if later != nil || errors.As(err, &overlap) {
			return Changed{}, w.mismatches(err, a.Path, real, before)
		}
		r = sequential
		out.Notes = append(out.Notes, "the edits were applied one after the other: not all of them match the file as it was")
	}
	r.first, r.last = changedLines(shown(before), shown(r.after))
	return w.edited(ctx, out, FileChange{Path: a.Path, Real: real, Kind: Modified}, before, r)
}

func (w *Workspace) mismatches(err error, path, real string, content []byte) error {
	var list *EditsError
	if !errors.As(err, &list) {
		return fmt.Errorf("edit %s: %w", path, err)
	}
	list.Path = path
	unread, stale := w.standing(real, content)
	failures := w.failed(real)
	for _, e := range list.Errs {
		switch e := e.(type) {
		case *MatchError:
			e.Path, e.Content = path, unix(shown(content))
			e.Unread, e.Stale, e.Failures = unread, stale, failures
		case *OverlapError:
			e.Path = path
		}
	}
	return list
}

// atOnce finds every pair in the content as it is.
func (a Edits) atOnce(before []byte) (replaced, error) {
	t, err := openText(before)
	if err != nil {
		return replaced{}, err
	}
	type owned struct {
		span
		index int
	}
	var all []owned
	var errs []error
	r := replaced{level: levelExact}
	for i, p := range a.Pairs {
		spans, level, err := t.find(Edit{Path: a.Path, Old: p.Old, New: p.New, All: p.All})
		if err != nil {
			if _, ok := t.already(p.Old, p.New, err); !ok {
				errs = append(errs, indexed(err, i))
			}
			continue
		}
		r.level = max(r.level, level)
		for _, s := range spans {
			all = append(all, owned{s, i})
		}
	}
	if len(errs) > 0 {
		return replaced{}, &EditsError{Errs: errs}
	}
	slices.SortStableFunc(all, func(x, y owned) int { return x.start - y.start })
	spans := make([]span, len(all))
	for i, o := range all {
		if i > 0 && o.start < all[i-1].end {
			one, other := all[i-1].index, o.index
			return replaced{}, &EditsError{Errs: []error{&OverlapError{A: min(one, other), B: max(one, other)}}}
		}
		spans[i] = o.span
	}
	r.after, r.spots = t.splice(spans), len(spans)
	return r, nil
}

// inTurn applies each pair to what the one before left.
func (a Edits) inTurn(before []byte) (replaced, error) {
	r := replaced{after: before, level: levelExact}
	for i, p := range a.Pairs {
		next, err := replaceOne(r.after, Edit{Path: a.Path, Old: p.Old, New: p.New, All: p.All})
		if err != nil {
			return replaced{}, indexed(err, i)
		}
		if next.spots == 0 {
			return replaced{}, indexed(ErrAbsent, i) // a change made by an earlier pair is no proof of this one
		}
		r.after, r.spots, r.level = next.after, r.spots+next.spots, max(r.level, next.level)
	}
	return r, nil
}

// indexed makes any failure of one pair a *MatchError that names it.
func indexed(err error, index int) error {
	var me *MatchError
	if errors.As(err, &me) {
		me.Index = index
		return me
	}
	return &MatchError{Index: index, Err: err}
}
