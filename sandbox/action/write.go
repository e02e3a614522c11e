package action

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// Write replaces or creates a file, with the folders above it.
type Write struct {
	Path    string
	Content string
	Append  bool // add to the end instead, in the file's own encoding
	Guard   bool `json:",omitempty"` // refuse to replace a long file of which most would stay; see GuardError
}

// Title is the action in a line.
func (a Write) Title() string {
	if a.Append {
		return one("append to %s", a.Path)
	}
	return one("write %s", a.Path)
}

// Need asks for the file.
func (a Write) Need() Need { return Need{Effect: Writes, Paths: []string{a.Path}} }

// Do writes. A file that has the content already is left alone, and Same is set. One that would lose most of itself, or
// code that a placeholder stands for, is a *GuardError.
func (a Write) Do(ctx context.Context, w *Workspace) (Changed, error) {
	if strings.TrimSpace(a.Path) == "" {
		return Changed{}, errors.New("write: the path is empty")
	}
	if _, err := w.mayWrite(ctx, a.Path); err != nil {
		return Changed{}, err
	}
	before, real, err := w.readFor(ctx, "write", a.Path)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return Changed{}, err
	}
	after := []byte(a.Content)
	if a.Append && !missing {
		if after, err = appended(before, a.Content); err != nil {
			return Changed{}, fmt.Errorf("append to %s: %w", a.Path, err)
		}
	}
	change := FileChange{Path: a.Path, Kind: Modified}
	var out Changed
	if missing {
		change.Kind, before = Added, nil
	} else {
		out.Unread, out.Stale = w.standing(real, before)
		out.Same = string(before) == string(after)
		if !a.Append {
			if err := w.guarded(a, real, before); err != nil {
				return Changed{}, err
			}
		}
	}
	if !out.Same {
		if real, err = w.WriteFile(ctx, a.Path, after); err != nil {
			return Changed{}, err
		}
	}
	w.matched(real)
	change.Real = real
	out.Files = []FileChange{change.completed(before, after)}
	return out.withSyntax(a.Path, before, after), nil
}

func appended(before []byte, text string) ([]byte, error) {
	decoded, c, err := decode(before)
	if err != nil {
		return nil, err
	}
	if strings.Contains(decoded, "\r\n") {
		text = breaks(unix(text), "", decoded, "")
	}
	return c.encode(decoded + c.spell(text)), nil
}

// standing tells what a session knows of a file it is about to change.
func (w *Workspace) standing(real string, data []byte) (unread, stale bool) {
	read, stale := w.known(real, data)
	return !read, stale
}
