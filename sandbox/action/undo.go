package action

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

const (
	undoVersions = 10      // of one file
	undoBytes    = 1 << 20 // of one version; a larger one is not kept, nor what came before it
	undoAll      = 64 << 20
)

// Undo takes back the last change that this session made to a file.
type Undo struct{ Path string }

// Title is the action in a line.
func (a Undo) Title() string { return one("undo the last change of %s", a.Path) }

// Need asks to write the file.
func (a Undo) Need() Need { return Need{Effect: Writes, Paths: []string{a.Path}} }

// version is a file as it was before a change.
type version struct {
	data  []byte // nil: there was no file
	after [sha256.Size]byte
	gone  bool // the change deleted the file
}

// past is what files were before this session changed them, by real path, the oldest first.
type past struct {
	versions map[string][]version
	bytes    int
}

// remember notes the file as it is about to be replaced; after is nil when it is about to be deleted.
func (p *past) remember(real string, before, after []byte) {
	list := p.versions[real]
	if len(before) > undoBytes {
		p.forget(real, len(list))
		return
	}
	if p.versions == nil {
		p.versions = map[string][]version{}
	}
	if len(list) >= undoVersions {
		p.forget(real, len(list)-undoVersions+1)
	}
	p.versions[real] = append(p.versions[real], version{before, sha256.Sum256(after), after == nil})
	for p.bytes += len(before); p.bytes > undoAll; {
		oldest := real
		for path := range p.versions { // any other file's versions go first
			if path != real {
				oldest = path
				break
			}
		}
		p.forget(oldest, 1)
	}
}

// forget drops the first n versions of a file.
func (p *past) forget(real string, n int) {
	list := p.versions[real]
	for _, v := range list[:n] {
		p.bytes -= len(v.data)
	}
	if n == len(list) {
		delete(p.versions, real)
		return
	}
	p.versions[real] = list[n:]
}

// last gives the version before the latest change of a file, and drop takes it away.
func (p *past) last(real string) (version, bool) {
	list := p.versions[real]
	if len(list) == 0 {
		return version{}, false
	}
	return list[len(list)-1], true
}

func (p *past) drop(real string) {
	list := p.versions[real]
	if len(list) == 0 {
		return
	}
	last := len(list) - 1
	p.bytes -= len(list[last].data)
	if p.versions[real] = list[:last]; last == 0 {
		delete(p.versions, real)
	}
}

// Do takes the change back; a file that the change made is deleted. ErrNoChange: this session did not change the file,
// or it was too long ago. A file that somebody changed since is a *StaleError and stays.
func (a Undo) Do(ctx context.Context, w *Workspace) (Changed, error) {
	if strings.TrimSpace(a.Path) == "" {
		return Changed{}, errors.New("undo: the path is empty")
	}
	real, err := w.mayWrite(ctx, a.Path)
	if err != nil {
		return Changed{}, err
	}
	w.mu.Lock()
	v, ok := w.past.last(real)
	w.mu.Unlock()
	if !ok {
		return Changed{}, fmt.Errorf("undo %s: %w", a.Path, ErrNoChange)
	}
	now, _, err := w.readFor(ctx, "undo", a.Path)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return Changed{}, err
	}
	if missing != v.gone || !missing && sha256.Sum256(now) != v.after {
		return Changed{}, &StaleError{What: "undo", Path: a.Path}
	}
	change := FileChange{Path: a.Path, Real: real, Kind: Modified}
	switch {
	case v.data == nil:
		change.Kind = Deleted
		err = w.removeFile(ctx, a.Path, false)
	case missing:
		change.Kind, now = Added, nil
		_, err = w.put(ctx, a.Path, v.data, false)
	default:
		_, err = w.put(ctx, a.Path, v.data, false)
	}
	if err != nil {
		return Changed{}, err
	}
	w.unchanged(real)
	w.matched(real)
	return Changed{Files: []FileChange{change.completed(now, v.data)}, Spots: 1}, nil
}
