package action

import (
	"context"
	"os"
	"path/filepath"
	"slices"
)

// Guide is an instruction file that holds for one folder and what is below it.
type Guide struct {
	Path string `json:"path"` // from the working folder, slash-separated
	Text string `json:"text"`
}

// guideBytes bounds the text of one instruction file.
const guideBytes = 8000

// Guided is a Read that brings instruction files along: those of the folders between the working folder and the file
// that were not shown in this session, or have changed since. Their names are Workspace.Guides.
type Guided struct{ Read }

// Do reads.
func (a Guided) Do(ctx context.Context, w *Workspace) (Seen, error) {
	out, err := a.Read.Do(ctx, w)
	if err != nil || len(w.Guides) == 0 || !below(w.Dir, out.Real) {
		return out, err
	}
	var folders []string // nearest first; what holds for the working folder itself is known already
	for dir := filepath.Dir(out.Real); dir != w.Dir && below(w.Dir, dir); dir = filepath.Dir(dir) {
		folders = append(folders, dir)
	}
	slices.Reverse(folders)
	for _, dir := range folders {
		g, err := w.guide(ctx, dir)
		if err != nil {
			return out, err
		}
		if g.Text != "" {
			out.Guides = append(out.Guides, g)
		}
	}
	return out, nil
}

// guide reads the instruction file of a folder; the zero value when there is none to show. A file that cannot be read
// has nothing to say. The error is the end of ctx.
func (w *Workspace) guide(ctx context.Context, dir string) (Guide, error) {
	for _, name := range w.Guides {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			continue
		}
		data, real, err := w.ReadFile(ctx, path)
		if ctx.Err() != nil {
			return Guide{}, context.Cause(ctx)
		}
		if err != nil {
			return Guide{}, nil
		}
		decoded, _, err := decode(data)
		if err != nil || w.saw(real, data, true) {
			return Guide{}, nil
		}
		text := unix(readable(decoded))
		if short := cutRunes(text, guideBytes); short != text {
			text = short + "…"
		}
		return Guide{Path: w.relative(path), Text: text}, nil
	}
	return Guide{}, nil
}
