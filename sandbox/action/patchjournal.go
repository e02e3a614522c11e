package action

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
)

// journal is what stood in the place of files that a patch wrote, oldest first.
type journal []former

type former struct {
	path string
	data []byte // nil: there was no file
	mode fs.FileMode
}

// keep notes a file before it is written.
func (j *journal) keep(w *Workspace, ctx context.Context, path string) error {
	data, real, err := w.readFor(ctx, "patch", path)
	if errors.Is(err, fs.ErrNotExist) {
		*j = append(*j, former{path: path})
		return nil
	}
	if err != nil {
		return err
	}
	info, err := os.Stat(real)
	if err != nil {
		return err
	}
	*j = append(*j, former{path, append([]byte{}, data...), info.Mode().Perm()})
	return nil
}

// restore puts everything back, the latest first. It goes on although the patch was cancelled.
func (j journal) restore(ctx context.Context, w *Workspace) error {
	ctx = context.WithoutCancel(ctx)
	var errs []error
	for i := len(j) - 1; i >= 0; i-- {
		f := j[i]
		if f.data == nil {
			real := w.Abs(f.path)
			if err := w.removeFile(ctx, f.path, false); err == nil {
				w.unchanged(real)
			} else if !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, err)
			}
			continue
		}
		if now, _, err := w.readFor(ctx, "patch", f.path); err == nil && bytes.Equal(now, f.data) {
			continue // it was not written
		}
		real, err := w.put(ctx, f.path, f.data, false)
		if err == nil {
			w.unchanged(real)
			err = w.setMode(ctx, f.path, f.mode)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
