package action

import (
	"crypto/sha256"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"
)

// touchedMost bounds the files whose content is compared; larger ones are not looked at.
const touchedMost = 4 << 20

// stamp is when a file was last looked at by Touched, and what came of it.
type stamp struct {
	size int64
	time time.Time
	sum  [sha256.Size]byte
}

// Touched lists files that were read or written in this session and whose content on disk is another since, each
// change once, as paths below Dir. A file is opened only when its size or time has changed since the last look. Files
// that are gone are not listed.
func (w *Workspace) Touched() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stamps == nil {
		w.stamps = map[string]stamp{}
	}
	var touched []string
	for real, known := range w.files {
		info, err := os.Stat(real)
		if err != nil || !info.Mode().IsRegular() || info.Size() > touchedMost {
			continue
		}
		last, looked := w.stamps[real]
		if looked && last.size == info.Size() && last.time.Equal(info.ModTime()) && last.sum == known.sum {
			continue
		}
		data, err := os.ReadFile(real)
		if err != nil {
			continue
		}
		now := stamp{info.Size(), info.ModTime(), sha256.Sum256(data)}
		if now.sum != known.sum && (!looked || now.sum != last.sum) {
			touched = append(touched, w.relative(real))
		}
		w.stamps[real] = now
	}
	sort.Strings(touched)
	return touched
}

// Which finds a program on the PATH that commands are given. It is for advice: the sandbox decides what may run.
func (w *Workspace) Which(program string) (path string, ok bool) {
	if program == "" || strings.ContainsAny(program, `/\`) {
		return "", false
	}
	for _, v := range w.Env {
		list, ok := strings.CutPrefix(v, "PATH=")
		if !ok {
			continue
		}
		for _, dir := range filepath.SplitList(list) {
			path := filepath.Join(dir, program)
			info, err := fs.Stat(os.DirFS(dir), program)
			if err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
				return path, true
			}
		}
	}
	return "", false
}
