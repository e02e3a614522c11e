package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// A grant is a folder or file that the bearer of a name may write.
type grant struct {
	path   string
	who    sid
	opened bool // for one command, over what is protected
	file   bool
}

// wantACEs says which entries each place must carry, so that a command with the names of the grants can write below
// them and nowhere else, and leaves alone what is protected. By the path of the place.
//
// Windows asks for the right to delete a file at the file, or for deleteChild at its folder. The first is given to what
// is below a writable folder, the second to nobody: so the folder itself, and what must stay, can be neither deleted nor
// renamed by our leave, while everything else can. A person's own right to deleteChild still counts, which only a vault
// makes good.
func wantACEs(grants []grant, g *guards) map[string][]ace {
	want := map[string][]ace{}
	add := func(path string, e ace) {
		if !slices.ContainsFunc(want[path], e.same) {
			want[path] = append(want[path], e)
		}
	}
	for _, to := range grants {
		if to.file {
			add(to.path, ace{kind: allowedType, mask: grantedRights, who: to.who, first: to.opened})
			continue
		}
		add(to.path, ace{kind: allowedType, mask: grantedRights, who: to.who, first: to.opened})
		add(to.path, ace{kind: allowedType, flags: allBelow | onlyBelow, mask: grantedRights | deleteRight, who: to.who, first: to.opened})
	}
	readOnly := g.readOnly
	deny := func(path string, flags byte) {
		for _, to := range grants {
			if _, ok := below(path, to.path); ok {
				add(path, ace{kind: deniedType, flags: flags, mask: deniedRights, who: to.who})
			}
		}
	}
	for _, path := range readOnly {
		deny(path, allBelow)
	}
	for path := range g.links {
		deny(path, 0) // what nothing inherits does not reach what the link leads to
	}
	pins := slices.Clone(g.pins)
	for _, outer := range grants {
		for _, inner := range grants {
			pins = append(pins, between(outer.path, inner.path)...)
			if _, ok := below(inner.path, outer.path); ok {
				pins = append(pins, inner.path)
			}
		}
		for _, path := range slices.Concat(readOnly, slices.Collect(maps.Keys(g.links)), g.missing) {
			pins = append(pins, between(outer.path, path)...)
		}
	}
	for _, path := range pins {
		for _, to := range grants {
			if _, ok := below(path, to.path); ok && !slices.ContainsFunc(want[path], func(e ace) bool { return e.kind == deniedType && e.who == to.who }) {
				add(path, ace{kind: deniedType, mask: deleteRight, who: to.who})
			}
		}
	}
	return want
}

// accessRecord is what the agent's home remembers of the entries it put into access lists, so that they are written
// once and can be taken away again.
type accessRecord struct {
	Version int          `json:"version"`
	Device  sid          `json:"device"` // bearer of the right to write to the device NUL
	Roots   []accessRoot `json:"roots"`
	Places  []string     `json:"places"` // every path that may carry entries of ours
}

// accessRoot is a writable folder of a workspace, and who may write it.
type accessRoot struct {
	Workspace string `json:"workspace"`
	Path      string `json:"path"`
	Who       sid    `json:"sid"`
}

// accessName is the record's file in the agent's home.
func accessName(home string) string { return filepath.Join(home, "windows-access.json") }

// root is the name for a writable folder of a workspace, made up when it is new.
func (r *accessRecord) root(workspace, path string) sid {
	for _, known := range r.Roots {
		if same(known.Workspace, workspace) && same(known.Path, path) {
			return known.Who
		}
	}
	r.Roots = append(r.Roots, accessRoot{workspace, path, newSID()})
	return r.Roots[len(r.Roots)-1].Who
}

// note remembers the places of entries. It is false when all were known.
func (r *accessRecord) note(want map[string][]ace) bool {
	changed := false
	for _, path := range slices.Sorted(maps.Keys(want)) {
		if !slices.ContainsFunc(r.Places, func(known string) bool { return same(known, path) }) {
			r.Places, changed = append(r.Places, path), true
		}
	}
	return changed
}

// settled forgets places that carry no entries any more.
func (r *accessRecord) settled(paths []string) {
	r.Places = slices.DeleteFunc(r.Places, func(path string) bool {
		return slices.ContainsFunc(paths, func(p string) bool { return same(p, path) })
	})
}

// stale are the recorded places at or below writable folders that are to carry nothing any more.
func (r *accessRecord) stale(roots []string, want map[string][]ace) []string {
	var found []string
	for _, path := range r.Places {
		if _, ok := want[path]; !ok && slices.ContainsFunc(roots, func(root string) bool { return within(path, root) }) {
			found = append(found, path)
		}
	}
	return found
}

// readAccess reads the record of a home folder. A missing one is empty.
func readAccess(home string) (*accessRecord, error) {
	r := &accessRecord{Version: 1}
	data, err := os.ReadFile(accessName(home))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.Device = newSID()
		return r, nil
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", accessName(home), plain(err))
	}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("read %s: %w; it remembers which folders were opened to commands", accessName(home), err)
	}
	if r.Version != 1 {
		return nil, fmt.Errorf("read %s: version %d is not known here; a newer interpreter wrote it", accessName(home), r.Version)
	}
	who := []sid{r.Device}
	for _, root := range r.Roots {
		who = append(who, root.Who)
	}
	for _, s := range who {
		if !s.ours() { // a name of somebody else's would be opened to commands, or shut out of folders
			return nil, fmt.Errorf("read %s: the security identifier %q is none of ours", accessName(home), string(s))
		}
	}
	return r, nil
}

// write keeps the record, whole at every moment.
func (r *accessRecord) write(home string) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(home, 0o700); err != nil {
		return fmt.Errorf("write %s: %w", accessName(home), plain(err))
	}
	dir, err := os.OpenRoot(home)
	if err != nil {
		return fmt.Errorf("write %s: %w", accessName(home), plain(err))
	}
	defer dir.Close()
	if err := ownFile(dir, filepath.Base(accessName(home)), append(data, '\n')); err != nil {
		return fmt.Errorf("write %s: %w", accessName(home), plain(err))
	}
	return nil
}

// ownFile writes a file of the agent's home that nobody else may read.
func ownFile(dir *os.Root, name string, data []byte) error {
	temp := name + ".new"
	f, err := dir.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = dir.Rename(temp, name)
	}
	if err != nil {
		_ = dir.Remove(temp)
	}
	return err
}

// RemoveAccess takes away every entry that the sandbox put into access lists of Windows, so that no command can write
// to those places any more until a session opens them again, and returns where. home is the agent's own. On other
// systems there is never one. Of places that could not be changed the error tells; they stay on record.
func RemoveAccess(home string) ([]string, error) {
	unlock, err := lockAccess(home)
	if err != nil {
		return nil, err
	}
	defer unlock()
	r, err := readAccess(home)
	if err != nil {
		return nil, err
	}
	return r.remove(home, func(path string) error { return editACL(path, sid.ours, nil) })
}

// remove empties the record by clearing each place.
func (r *accessRecord) remove(home string, clear func(path string) error) ([]string, error) {
	var done, left []string
	var failed []error
	for _, path := range r.Places {
		switch err := clear(path); {
		case err == nil:
			done = append(done, path)
		case !errors.Is(err, fs.ErrNotExist):
			left, failed = append(left, path), append(failed, fmt.Errorf("remove access to %s: %w", path, plain(err)))
		}
	}
	if len(left) == 0 {
		if err := os.Remove(accessName(home)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return done, fmt.Errorf("remove %s: %w", accessName(home), plain(err))
		}
		return done, nil
	}
	r.Places = left
	return done, errors.Join(append(failed, r.write(home))...)
}
