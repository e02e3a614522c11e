package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Names in the agent's home.
const (
	cacheFolder = "build-cache"
	lockName    = "lock"    // of a layer: held by the command that writes it
	readersName = "readers" // of a layer: shared by commands that see it below one of their own
)

// stale is the age at which a folder that a command left in the agent's home, because the agent was killed, goes.
const stale = 7 * 24 * time.Hour

// Cleaned tells what CleanCaches did.
type Cleaned struct {
	Freed  int64    // bytes
	Layers int      // how many are gone
	Busy   []string // those that stay because a command uses them
}

// CleanCaches removes what commands wrote to build caches: of one workspace, by its folder, or with dir "" of every
// one. The person's own caches are not touched, and neither is a layer that a command uses now.
func CleanCaches(home, dir string) (Cleaned, error) {
	var done Cleaned
	top := filepath.Join(home, cacheFolder)
	var spaces []string
	if dir != "" {
		real, err := realDir(dir)
		if err != nil {
			return done, fmt.Errorf("clean the build caches of %s: %w", dir, err)
		}
		spaces = []string{filepath.Join(top, WorkspaceID(real))}
	} else {
		spaces = folders(top, -1)
	}
	for _, space := range spaces {
		for _, layer := range folders(space, -1) {
			bytes, busy, err := dropLayer(layer)
			switch {
			case err != nil:
				return done, fmt.Errorf("clean the build cache %s: %w", layer, plain(err))
			case busy:
				done.Busy = append(done.Busy, layer)
			default:
				done.Freed += bytes
				done.Layers++
			}
		}
		_ = os.Remove(space) // fails while something is left in it
	}
	return done, nil
}

// dropLayer removes a layer that nobody uses. It moves it aside first: whoever comes meanwhile starts a new one.
func dropLayer(layer string) (freed int64, busy bool, err error) {
	unlock, ok := lockLayer(layer)
	if !ok {
		return 0, true, nil
	}
	defer unlock()
	freed = weigh(layer, nil)
	gone := filepath.Join(filepath.Dir(layer), ".gone-"+filepath.Base(layer))
	if strings.HasPrefix(filepath.Base(layer), ".gone-") {
		gone = layer
	} else {
		_ = removeLayers(gone)
		if err := os.Rename(layer, gone); err != nil {
			return 0, false, err
		}
	}
	return freed, false, removeLayers(gone)
}

// lockLayer keeps commands from a layer, unless one has it.
func lockLayer(layer string) (unlock func(), ok bool) {
	var held []*os.File
	unlock = func() {
		for _, f := range held {
			f.Close()
		}
	}
	for _, name := range []string{lockName, readersName} {
		f, ok := lockFile(filepath.Join(layer, name), true)
		if !ok {
			unlock()
			return nil, false
		}
		held = append(held, f)
	}
	return unlock, true
}

// removeLayers is os.RemoveAll for folders without rights, as overlays leave them.
func removeLayers(dir string) error {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir)
}

// aged is a file of a layer.
type aged struct {
	path    string
	size    int64
	changed time.Time
}

// weigh is the size of the files below a folder in bytes, and lists them if asked to.
func weigh(dir string, list *[]aged) int64 {
	total := int64(0)
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return nil
		}
		total += info.Size()
		if list != nil {
			*list = append(*list, aged{path, info.Size(), info.ModTime()})
		}
		return nil
	})
	return total
}

// trim keeps the layers of a workspace within a limit, oldest files first, down to nine tenths of it so that it is not
// back at once. Layers in use are left as they are. It also removes what killed agents left in their home.
func trim(home, space string, limit int64) {
	for _, pattern := range []string{"opened-*", "scratch-*"} {
		left, _ := filepath.Glob(filepath.Join(home, pattern))
		for _, dir := range left {
			if info, err := os.Lstat(dir); err == nil && info.IsDir() && time.Since(info.ModTime()) > stale {
				_ = removeLayers(dir)
			}
		}
	}
	var files []aged
	total := int64(0)
	for _, layer := range folders(space, -1) {
		if strings.HasPrefix(filepath.Base(layer), ".gone-") {
			_, _, _ = dropLayer(layer)
			continue
		}
		total += weigh(layer, &files)
	}
	if total <= limit {
		return
	}
	slices.SortFunc(files, func(a, b aged) int { return a.changed.Compare(b.changed) })
	locked := map[string]func(){}
	defer func() {
		for _, unlock := range locked {
			if unlock != nil {
				unlock()
			}
		}
	}()
	for _, f := range files {
		if total <= limit-limit/10 {
			return
		}
		rel, ok := below(f.path, space)
		if !ok {
			continue
		}
		name, rest, _ := strings.Cut(rel, string(filepath.Separator))
		if rest == lockName || rest == readersName || strings.HasPrefix(rest, "work"+string(filepath.Separator)) {
			continue
		}
		layer := filepath.Join(space, name)
		unlock, known := locked[layer]
		if !known {
			unlock, _ = lockLayer(layer)
			locked[layer] = unlock
		}
		if unlock == nil {
			continue
		}
		if err := os.Remove(f.path); err == nil || errors.Is(err, fs.ErrNotExist) {
			total -= f.size
		}
	}
}
