package action

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"interpreter/sandbox"
)

// Patch changes several files at once, all or none. The text is in the apply_patch format or a unified diff.
type Patch struct {
	Text   string
	Dir    string      // where the paths of the patch start; "" is the workspace's
	Path   string      `json:",omitempty"` // the file, instead of the one that a diff of one file names
	Fuzz   int         `json:",omitempty"` // lines of context at the ends of a block that need not fit; one line must
	Create bool        `json:",omitempty"` // an update that only adds lines may make its file
	Whole  []WholeFile `json:",omitempty"` // whole files, besides or instead of Text
}

// WholeFile is a file with all of its new content.
type WholeFile struct{ Path, Content string }

// parse reads the text and adds what the other fields say.
func (a Patch) parse() (Parsed, error) {
	var p Parsed
	if len(a.Whole) == 0 || strings.TrimSpace(a.Text) != "" {
		var err error
		if p, err = parsePatch(a.Text, a.Path); err != nil {
			return p, err
		}
	}
	for i := range p.Hunks {
		p.Hunks[i].Fuzz = max(0, a.Fuzz)
		p.Hunks[i].create = p.Hunks[i].create || a.Create
	}
	for _, f := range a.Whole {
		if strings.TrimSpace(f.Path) == "" {
			return p, fmt.Errorf("patch: the path of a file is empty")
		}
		p.Hunks = append(p.Hunks, Hunk{Kind: Added, Path: f.Path, whole: &f.Content})
	}
	return p, nil
}

// Title is the action in a line.
func (a Patch) Title() string {
	paths := a.Need().Paths
	if len(paths) == 0 {
		return "patch"
	}
	return one("patch %s", strings.Join(paths, ", "))
}

// Need asks for every file the patch names.
func (a Patch) Need() Need {
	n := Need{Effect: Writes}
	parsed, err := a.parse()
	if err != nil {
		return n
	}
	for _, h := range parsed.Hunks {
		for _, path := range []string{h.Path, h.To} {
			if path != "" {
				n.Paths = append(n.Paths, a.join(path))
			}
		}
	}
	return n
}

func (a Patch) join(path string) string {
	if a.Dir == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(a.Dir, path)
}

// PatchedFile is one file of an applied patch, still in memory.
type PatchedFile struct {
	Path   string // as spelled, without a prefix that was resolved away
	To     string // of Moved
	Kind   ChangeKind
	Before []byte // nil when the file did not exist
	After  []byte // nil when it is deleted

	replaced bool // all of a file that exists gives way
}

// ApplyPatch resolves a whole patch against what read gives and writes nothing. read answers a missing file with an
// error that wraps fs.ErrNotExist. The error is a *PatchError.
func ApplyPatch(read func(path string) ([]byte, error), p Parsed) ([]PatchedFile, error) {
	if len(p.Hunks) == 0 {
		return nil, &PatchError{Kind: NoHunks}
	}
	touched := map[string]bool{}
	var out []PatchedFile
	for _, h := range p.Hunks {
		if i := updated(out, h); i >= 0 {
			after, err := applyBlocks(out[i].After, h)
			if err != nil {
				return nil, err
			}
			out[i].After = after
			continue
		}
		if touched[filepath.Clean(h.Path)] {
			return nil, &PatchError{Kind: Twice, Path: h.Path, Line: h.Line}
		}
		path, before, err := readPatched(read, h)
		if err != nil {
			return nil, err
		}
		if before == nil && h.Kind == Modified {
			h.Kind, h.Lines = Added, addedLines(h.Blocks)
		}
		f := PatchedFile{Path: path, To: h.To, Kind: h.Kind, Before: before}
		from, to := filepath.Clean(path), filepath.Clean(h.To)
		if touched[from] || h.To != "" && touched[to] {
			return nil, &PatchError{Kind: Twice, Path: h.Path, Line: h.Line}
		}
		touched[from] = true
		if h.To != "" {
			touched[to] = true
		}
		switch h.Kind {
		case Added:
			f.After = []byte(strings.Join(h.Lines, "\n"))
			if len(h.Lines) > 0 && !h.NoEnd {
				f.After = append(f.After, '\n')
			}
			if h.whole != nil {
				f.After = []byte(*h.whole)
			}
			if before != nil {
				f.Kind, f.replaced = Modified, true
			}
		case Modified, Moved:
			if f.After, err = applyBlocks(before, h); err != nil {
				return nil, err
			}
			if f.Kind == Moved && filepath.Clean(f.To) == filepath.Clean(f.Path) {
				f.Kind, f.To = Modified, ""
			}
		}
		out = append(out, f)
	}
	return out, nil
}

// updated finds the file that an update goes on with, -1 when it is the first of its file.
func updated(out []PatchedFile, h Hunk) int {
	return slices.IndexFunc(out, func(f PatchedFile) bool {
		return h.Kind == Modified && f.Kind == Modified && f.To == "" && filepath.Clean(f.Path) == filepath.Clean(h.Path)
	})
}

// readPatched reads the file of a hunk. A git-style prefix goes when only the path without it exists.
func readPatched(read func(string) ([]byte, error), h Hunk) (string, []byte, error) {
	data, err := read(h.Path)
	if err == nil {
		if data == nil {
			data = []byte{}
		}
		return h.Path, data, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", nil, &PatchError{Kind: Unreadable, Path: h.Path, Line: h.Line, Err: err}
	}
	if h.Kind == Added {
		return h.Path, nil, nil
	}
	if h.other != "" {
		if data, err := read(h.other); err == nil {
			return h.other, data, nil
		}
	}
	for _, prefix := range []string{"a/", "b/"} {
		if bare, ok := strings.CutPrefix(h.Path, prefix); ok && bare != "" {
			if data, err := read(bare); err == nil {
				return bare, data, nil
			}
		}
	}
	if h.Kind == Modified && h.create && h.onlyAdds() {
		return h.Path, nil, nil
	}
	return "", nil, &PatchError{Kind: Unreadable, Path: h.Path, Line: h.Line, Err: err}
}

// onlyAdds tells whether every line of an update is an addition.
func (h Hunk) onlyAdds() bool {
	for _, b := range h.Blocks {
		if len(oldLines(b.Lines)) > 0 {
			return false
		}
	}
	return true
}

func applyBlocks(before []byte, h Hunk) ([]byte, error) {
	if len(h.Blocks) == 0 {
		return before, nil // a plain move
	}
	f, err := newPatched(before)
	if err != nil {
		return nil, &PatchError{Kind: Unreadable, Path: h.Path, Line: h.Line, Err: err}
	}
	cursor, drift := 0, 0
	var edits []patchEdit
	for i, b := range h.Blocks {
		hint := b.Hint
		if hint > 0 {
			b.Hint = max(1, hint+drift)
		}
		e, err := f.placeFuzzy(b, cursor, h.Fuzz)
		if err != nil {
			var pe *PatchError
			if errors.As(err, &pe) {
				pe.Path, pe.Hunk, pe.Hunks, pe.Hint = h.Path, i+1, len(h.Blocks), hint
			}
			return nil, err
		}
		if hint > 0 && e.old > 0 {
			drift = e.at + 1 - (hint + e.fuzz)
		}
		edits = append(edits, e)
		cursor = e.at + e.old
	}
	var lines []fileLine
	at := 0
	for _, e := range edits {
		lines = append(lines, f.lines[at:e.at]...)
		lines = append(lines, f.replacement(e)...)
		at = e.at + e.old
	}
	f.lines = append(lines, f.lines[at:]...)
	return f.bytes(h.Unified, h.NoEnd), nil
}

// Do checks the whole patch first and then writes it. When a write fails, what was written is put back.
func (a Patch) Do(ctx context.Context, w *Workspace) (Changed, error) {
	parsed, err := a.parse()
	if err != nil {
		return Changed{}, err
	}
	for _, h := range parsed.Hunks {
		for _, path := range []string{h.Path, h.To} {
			if err := a.allowed(ctx, w, path); err != nil {
				return Changed{}, err
			}
		}
	}
	read := func(path string) ([]byte, error) {
		data, _, err := w.readFor(ctx, "patch", a.join(path))
		return data, err
	}
	files, err := ApplyPatch(read, parsed)
	if err != nil {
		return Changed{}, err
	}
	if err := ctx.Err(); err != nil {
		return Changed{}, fmt.Errorf("patch: %w", err)
	}
	for _, f := range files {
		if !f.replaced {
			continue
		}
		if err := w.guarded(Write{Path: f.Path, Content: string(f.After)}, w.Abs(a.join(f.Path)), f.Before); err != nil {
			return Changed{}, err
		}
	}
	out := Changed{Notes: parsed.Notes, Same: true}
	for _, h := range parsed.Hunks {
		out.Spots += len(h.Blocks)
	}
	var undo journal
	for _, f := range files {
		change, err := a.write(ctx, w, f, &undo)
		if err != nil {
			if failed := undo.restore(ctx, w); failed != nil {
				err = fmt.Errorf("%w; and what was written before could not be put back: %w", err, failed)
			}
			return Changed{}, err
		}
		out.Same = out.Same && change.Diff == "" && change.Kind == Modified
		out.Files = append(out.Files, change)
		if f.Kind != Deleted {
			out = out.withSyntax(cmp.Or(f.To, f.Path), f.Before, f.After)
		}
	}
	return out, nil
}

// allowed refuses what a patch may not name, before anything is read. A relative path that leads out of the working
// folder, by climbing or through a link, needs a root of its own: one around the folder, such as /tmp, is for scratch files and not for its siblings.
func (a Patch) allowed(ctx context.Context, w *Workspace, path string) error {
	if path == "" {
		return nil
	}
	joined := a.join(path)
	real, err := w.mayWrite(ctx, joined)
	if err != nil {
		return err
	}
	p := w.Box.Policy()
	if filepath.IsAbs(path) || p.Mode == sandbox.FullAccess || below(w.Dir, real) {
		return nil
	}
	approved, _ := ctx.Value(approvedKey{}).([]string)
	own := func(root string) bool { return below(root, real) && !below(root, w.Dir) }
	if w.named(approved, joined) || slices.ContainsFunc(p.Roots, own) {
		return nil
	}
	return &DeniedError{What: "write", Path: path, Place: sandbox.Outside, Why: "it is outside the working folder"}
}

// named tells whether a path is one of those approved.
func (w *Workspace) named(approved []string, path string) bool {
	for _, p := range approved {
		if w.Abs(p) == w.Abs(path) {
			return true
		}
	}
	return false
}

func (a Patch) write(ctx context.Context, w *Workspace, f PatchedFile, undo *journal) (FileChange, error) {
	c := FileChange{Path: f.Path, To: f.To, Kind: f.Kind}
	path, to := a.join(f.Path), a.join(f.To)
	if f.Kind == Modified && f.Before != nil && bytes.Equal(f.Before, f.After) {
		c.Real = w.Abs(path)
		return c.completed(f.Before, f.After), nil
	}
	if err := undo.keep(w, ctx, path); err != nil {
		return c, err
	}
	var err error
	switch f.Kind {
	case Deleted:
		c.Real = w.Abs(path)
		err = w.removeFile(ctx, path, true)
	case Moved:
		mode := (*undo)[len(*undo)-1].mode
		if err := undo.keep(w, ctx, to); err != nil {
			return c, err
		}
		if c.Real, err = w.WriteFile(ctx, to, f.After); err != nil {
			return c, err
		}
		w.unchanged(c.Real) // the content is elsewhere already: Undo of the new path alone would lose it
		if err = w.setMode(ctx, to, mode); err == nil {
			err = w.removeFile(ctx, path, true)
		}
	default:
		c.Real, err = w.WriteFile(ctx, path, f.After)
	}
	if err != nil {
		return c, err
	}
	w.matched(c.Real)
	return c.completed(f.Before, f.After), nil
}
