package probes

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// FreeAt measures the file system that holds path, or would hold it: a folder that does not exist yet, or is closed to
// this account, is looked for at its nearest parent that answers. Free is what this account may use, reserves left out.
func FreeAt(path string) (Volume, error) {
	if path == "" {
		return Volume{}, errors.New("measure a disk: no folder is named")
	}
	asked, err := filepath.Abs(path)
	if err != nil {
		return Volume{}, fmt.Errorf("measure the disk of %s: %w", path, err)
	}
	var first error
	for at := asked; ; at = filepath.Dir(at) {
		_, err := os.Stat(at)
		if err == nil {
			var total, free uint64
			if total, free, err = statfs(at); err == nil {
				return Volume{Path: asked, Total: int64(min(total, 1<<62)), Free: int64(min(free, 1<<62))}, nil
			}
		}
		if first == nil {
			first = err
		}
		if at == filepath.Dir(at) {
			return Volume{}, fmt.Errorf("measure the disk of %s: %w", asked, first)
		}
	}
}

// volume fills in a folder that was asked for; one that cannot be measured leaves a note.
func volume(asked Volume) finding {
	v, err := FreeAt(asked.Path)
	return func(m *Machine) {
		if err != nil {
			m.note("disk", err.Error())
			return
		}
		v.What = asked.What
		m.Disks = append(m.Disks, v)
	}
}
