package sandbox

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxFile bounds what a file action reads at once.
const maxFile = 256 << 20

// PlaceError says that a file action may not touch a path. A person may approve what is Outside or Guarded, never
// what is Forbidden.
type PlaceError struct {
	Path, Real string
	Place      Place
}

func (e *PlaceError) Error() string {
	name := e.Path
	if e.Real != "" && e.Real != e.Path {
		name += " (" + e.Real + ")"
	}
	switch e.Place {
	case Guarded:
		return name + " is protected: it holds settings or hooks that run later without review"
	case Forbidden:
		return name + " belongs to the agent itself and stays out of reach"
	}
	return name + " is outside the folders that may be written"
}

// ReadFile reads a regular file and returns its content and real path. A relative path starts at the policy's
// directory.
func (p Policy) ReadFile(path string) ([]byte, string, error) {
	real, place, err := p.Place(path)
	if err != nil {
		return nil, "", err
	}
	if place == Forbidden && p.hidden(real) {
		return nil, real, &PlaceError{path, real, Forbidden}
	}
	dir, err := openDir(filepath.Dir(real), false)
	if err != nil {
		return nil, real, fmt.Errorf("read %s: %w", path, plain(err))
	}
	defer dir.Close()
	base := filepath.Base(real)
	if real == filepath.Dir(real) {
		base = "."
	}
	info, err := dir.Lstat(base)
	if err != nil {
		return nil, real, fmt.Errorf("read %s: %w", path, plain(err))
	}
	if err := regular(info); err != nil {
		return nil, real, fmt.Errorf("read %s: %w", path, err)
	}
	if info.Size() > maxFile {
		return nil, real, fmt.Errorf("read %s: %d bytes are more than the %d that fit", path, info.Size(), maxFile)
	}
	f, err := dir.OpenFile(base, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, real, fmt.Errorf("read %s: %w", path, plain(err))
	}
	defer f.Close()
	now, err := f.Stat()
	if err != nil || !os.SameFile(info, now) {
		return nil, real, fmt.Errorf("read %s: it changed while it was opened", path)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return nil, real, fmt.Errorf("read %s: %w", path, plain(err))
	}
	return data, real, nil
}

// WriteFile replaces the content of a regular file, or creates it and the folders above it, and returns its real
// path. The file is whole at every moment, keeps its mode, and a symbolic link to it stays one. A file with several
// names is written under this name only.
func (p Policy) WriteFile(path string, data []byte) (string, error) {
	real, place, err := p.Place(path)
	if err != nil {
		return "", err
	}
	if place != Inside {
		return real, &PlaceError{path, real, place}
	}
	dir, err := openDir(filepath.Dir(real), true)
	if err != nil {
		return real, fmt.Errorf("write %s: %w", path, plain(err))
	}
	defer dir.Close()
	if err := replace(dir, filepath.Base(real), data); err != nil {
		return real, fmt.Errorf("write %s: %w", path, plain(err))
	}
	return real, nil
}

// Remove deletes a regular file, or a symbolic link and not what it points to.
func (p Policy) Remove(path string) error {
	abs := filepath.Clean(p.abs(path))
	parent, err := follow(filepath.Dir(p.abs(path)))
	if err != nil {
		return fmt.Errorf("remove %s: %w", path, err)
	}
	real := filepath.Join(parent, filepath.Base(abs))
	if place := p.placeReal(real); place != Inside {
		return &PlaceError{path, real, place}
	}
	dir, err := openDir(parent, false)
	if err != nil {
		return fmt.Errorf("remove %s: %w", path, plain(err))
	}
	defer dir.Close()
	base := filepath.Base(real)
	info, err := dir.Lstat(base)
	if err != nil {
		return fmt.Errorf("remove %s: %w", path, plain(err))
	}
	if info.Mode()&fs.ModeSymlink == 0 {
		if err := regular(info); err != nil {
			return fmt.Errorf("remove %s: %w", path, err)
		}
	}
	if err := dir.Remove(base); err != nil {
		return fmt.Errorf("remove %s: %w", path, plain(err))
	}
	return nil
}

// SetMode gives a regular file other permissions. A symbolic link is followed as WriteFile follows it, and not when it
// was put in the way since.
func (p Policy) SetMode(path string, mode fs.FileMode) error {
	real, place, err := p.Place(path)
	if err != nil {
		return err
	}
	if place != Inside {
		return &PlaceError{path, real, place}
	}
	dir, err := openDir(filepath.Dir(real), false)
	if err != nil {
		return fmt.Errorf("change the mode of %s: %w", path, plain(err))
	}
	defer dir.Close()
	base := filepath.Base(real)
	info, err := dir.Lstat(base)
	if err == nil {
		err = regular(info)
	}
	if err != nil {
		return fmt.Errorf("change the mode of %s: %w", path, plain(err))
	}
	if info.Mode().Perm() == mode.Perm() {
		return nil
	}
	if err := dir.Chmod(base, mode.Perm()); err != nil {
		return fmt.Errorf("change the mode of %s: %w", path, plain(err))
	}
	return nil
}

func (p Policy) hidden(real string) bool {
	for _, h := range p.Hidden {
		if within(real, h) {
			return true
		}
	}
	return false
}

// openDir opens a folder by its real path one component at a time and follows no symbolic link: one that was put in
// the way since the path was judged is an error. It makes missing folders if asked to.
func openDir(real string, create bool) (*os.Root, error) {
	top := filepath.VolumeName(real) + string(filepath.Separator)
	dir, err := os.OpenRoot(top)
	if err != nil {
		return nil, err
	}
	for part := range strings.SplitSeq(real[len(top):], string(filepath.Separator)) {
		if part == "" {
			continue
		}
		next, err := step(dir, part, create)
		dir.Close()
		if err != nil {
			return nil, err
		}
		dir = next
	}
	return dir, nil
}

func step(dir *os.Root, name string, create bool) (*os.Root, error) {
	info, err := dir.Lstat(name)
	if create && errors.Is(err, fs.ErrNotExist) {
		if err := dir.Mkdir(name, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		info, err = dir.Lstat(name)
	}
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is not a folder", filepath.Join(dir.Name(), name))
	}
	next, err := dir.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if now, err := next.Stat("."); err != nil || !os.SameFile(info, now) {
		next.Close()
		return nil, fmt.Errorf("%s changed while it was opened", filepath.Join(dir.Name(), name))
	}
	return next, nil
}

// replace writes a sibling and renames it over name.
func replace(dir *os.Root, name string, data []byte) error {
	mode, exists := fs.FileMode(0o666), false
	info, err := dir.Lstat(name)
	if err == nil {
		if err := regular(info); err != nil {
			return err
		}
		if mode, exists = info.Mode().Perm(), true; mode&0o200 == 0 && !opens(dir, name) {
			return errors.New("it is read-only")
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	temp := ".interpreter-" + rand.Text()[:12]
	f, err := dir.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if exists && err == nil {
		keepOwner(f, info)
		err = f.Chmod(mode)
	}
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

// opens tells whether this user may write a file whatever its mode says, as root may.
func opens(dir *os.Root, name string) bool {
	f, err := dir.OpenFile(name, os.O_WRONLY|nonblock, 0)
	if err != nil {
		return false
	}
	return f.Close() == nil
}

func regular(info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return errors.New("it is a folder")
	case mode&fs.ModeSymlink != 0:
		return errors.New("a symbolic link was put in its place")
	default:
		return errors.New("it is not a regular file")
	}
}

// plain drops the system call and the inner path from an error; the caller names the path a person knows.
func plain(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	var le *os.LinkError
	if errors.As(err, &le) {
		return le.Err
	}
	return err
}
