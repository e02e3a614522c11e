package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// single are opened entries of a folder that stays closed. The command sees the folder through a layer; afterwards the
// entries alone are kept of what it wrote there. So a program may write the file in place, or write another and rename
// it, and its neighbours still stay as they are.
type single struct {
	parent string
	names  []string
	top    string // folder of the layer, ours
}

func (s single) upper() string { return filepath.Join(s.top, "upper") }
func (s single) work() string  { return filepath.Join(s.top, "work") }

// newSingle makes the folder of a layer, outside the folder that the layer covers: one cannot lie in the other.
func newSingle(parent string, names []string, home string) (single, error) {
	s := single{parent: parent, names: names}
	info, err := os.Stat(parent)
	if err != nil {
		return s, plain(err)
	}
	var last error
	for _, dir := range []string{home, "/var/tmp", "/dev/shm", os.TempDir()} {
		if dir == "" {
			continue
		}
		dir = mustFollow(dir)
		if within(dir, parent) || dir == home && os.MkdirAll(dir, 0o700) != nil {
			continue
		}
		if s.top, last = os.MkdirTemp(dir, "opened-"); last != nil {
			continue
		}
		if last = errors.Join(os.Mkdir(s.upper(), 0o700), os.Mkdir(s.work(), 0o700), os.Chmod(s.upper(), info.Mode().Perm())); last == nil {
			return s, nil
		}
		s.drop()
	}
	if last == nil {
		last = errors.New("there is no folder for a layer beside it")
	}
	return s, last
}

func (s single) drop() {
	if s.top != "" {
		_ = removeLayers(s.top)
	}
}

// keep moves the entries from the layer to their places. What else was written there goes.
func (s single) keep() []Refusal {
	defer s.drop()
	var lost []Refusal
	for _, name := range s.names {
		if err := s.move(name); err != nil {
			path := filepath.Join(s.parent, name)
			lost = append(lost, Refusal{Text: fmt.Sprintf("%s was approved, but what was written to it is lost: %v", path, plain(err)), Path: path, Undone: true})
		}
	}
	return lost
}

func (s single) move(name string) error {
	if real, err := realDir(s.parent); err != nil || real != s.parent {
		return fmt.Errorf("%s changed on disk", s.parent)
	}
	from, to := filepath.Join(s.upper(), name), filepath.Join(s.parent, name)
	info, err := os.Lstat(from)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode()&fs.ModeCharDevice != 0: // how a layer says that an entry was removed
		if err := os.Remove(to); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	case info.IsDir():
		if err := os.Rename(from, to); err == nil {
			return nil
		}
		return os.CopyFS(to, os.DirFS(from))
	case !info.Mode().IsRegular():
		return errors.New("it is neither a file nor a folder")
	}
	if err := os.Rename(from, to); err == nil {
		return nil
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	dir, err := openDir(s.parent, false)
	if err != nil {
		return err
	}
	defer dir.Close()
	return replace(dir, name, data)
}
