package project

import (
	"bufio"
	"bytes"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Git is what the files of a repository tell.
type Git struct {
	Root       string // top of the work tree
	Main       string // top of the main work tree; Root itself, except in a linked one
	Branch     string // "" when HEAD is detached
	Commit     string // "" before the first commit, or when it could not be read
	Repository string // address of the remote "origin", without credentials
}

// Root finds the project root: the nearest folder from dir upwards that holds one of the markers. nil markers
// mean ".git"; without a hit the root is dir.
func Root(dir string, markers []string) string {
	if markers == nil {
		markers = []string{".git"}
	}
	for at := dir; ; {
		if slices.ContainsFunc(markers, func(m string) bool { _, err := os.Lstat(filepath.Join(at, m)); return err == nil }) {
			return at
		}
		up := filepath.Dir(at)
		if up == at {
			return dir
		}
		at = up
	}
}

// FindGit reads the facts of the work tree that dir is in. ok is false when it is in none.
func FindGit(dir string) (g Git, ok bool) {
	for at := filepath.Clean(dir); ; {
		if store, found := gitDir(filepath.Join(at, ".git")); found {
			return read(at, store), true
		}
		up := filepath.Dir(at)
		if up == at {
			return Git{}, false
		}
		at = up
	}
}

// gitDir resolves a .git entry: a folder, or a file that points to one.
func gitDir(path string) (string, bool) {
	info, err := os.Stat(path)
	if err != nil {
		return "", false
	}
	if info.IsDir() {
		_, err := os.Lstat(filepath.Join(path, "HEAD"))
		return path, err == nil
	}
	raw, err := os.ReadFile(path)
	if err != nil || len(raw) > 4096 {
		return "", false
	}
	target, found := strings.CutPrefix(strings.TrimSpace(string(raw)), "gitdir:")
	target = strings.TrimSpace(target)
	if !found || target == "" {
		return "", false
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(filepath.Dir(path), target)
	}
	_, err = os.Lstat(filepath.Join(target, "HEAD"))
	return target, err == nil
}

func read(root, store string) Git {
	g := Git{Root: root, Main: root}
	common := store
	if raw, err := os.ReadFile(filepath.Join(store, "commondir")); err == nil {
		if common = strings.TrimSpace(string(raw)); !filepath.IsAbs(common) {
			common = filepath.Join(store, common)
		}
		if filepath.Base(common) == ".git" {
			g.Main = filepath.Dir(common)
		}
	}
	head, err := os.ReadFile(filepath.Join(store, "HEAD"))
	if err != nil {
		return g
	}
	name := strings.TrimSpace(string(head))
	if ref, symbolic := strings.CutPrefix(name, "ref:"); symbolic {
		ref = strings.TrimSpace(ref)
		g.Branch = strings.TrimPrefix(ref, "refs/heads/")
		g.Commit = resolve(ref, store, common)
	} else if hash(name) {
		g.Commit = name
	}
	g.Repository = origin(filepath.Join(common, "config"))
	return g
}

// resolve reads a ref from its file, or from the packed ones.
func resolve(ref, store, common string) string {
	if !filepath.IsLocal(filepath.FromSlash(ref)) {
		return ""
	}
	for _, dir := range []string{store, common} {
		raw, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(ref)))
		if id := strings.TrimSpace(string(raw)); err == nil && hash(id) {
			return id
		}
	}
	packed, err := os.ReadFile(filepath.Join(common, "packed-refs"))
	if err != nil {
		return ""
	}
	for line := range bytes.Lines(packed) {
		id, name, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
		if name == ref && hash(id) {
			return id
		}
	}
	return ""
}

func hash(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

// origin reads the address of the remote "origin" from a git configuration file.
func origin(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	inside := false
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		if strings.HasPrefix(line, "[") {
			inside = strings.HasPrefix(strings.ReplaceAll(line, " ", ""), `[remote"origin"]`)
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		if inside && strings.EqualFold(strings.TrimSpace(key), "url") {
			return withoutSecrets(strings.Trim(strings.TrimSpace(value), `"`))
		}
	}
	return ""
}

// withoutSecrets drops a user and password from an address with a scheme; git@host:path carries none.
func withoutSecrets(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.User == nil || u.Scheme == "ssh" {
		return address
	}
	u.User = nil
	return u.String()
}
