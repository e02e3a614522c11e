package harness

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"interpreter/sandbox/action"
)

// Secret reports whether a file is likely to hold keys or passwords, by its name. Families that were trained not to
// see such files are not shown them; it is manners, not protection: that is the sandbox's.
func Secret(file string) bool {
	file = strings.ToLower(filepath.ToSlash(file))
	name := path.Base(file)
	kind, ok := strings.CutPrefix(name, ".env")
	if ok && (kind == "" || kind[0] == '.') {
		return !slices.Contains([]string{".example", ".sample", ".template"}, kind)
	}
	switch name {
	case "id_rsa", "id_ed25519", "id_ecdsa", "credentials":
		return true
	}
	return false
}

// SecretNames are globs of names that Secret knows, for searches that are not even to read such files. Names that are
// as often those of harmless folders are not among them.
func SecretNames() []string {
	return []string{".env", ".env.*", "!.env.example", "!.env.sample", "!.env.template", "id_rsa", "id_ed25519", "id_ecdsa"}
}

// Public is what was found without what is in secret files, and how many such files there were or
// were never read.
func Public(f action.Found) (action.Found, int) {
	hidden := map[string]bool{}
	var kept []action.Hit
	for _, h := range f.Hits {
		if Secret(h.Path) {
			hidden[h.Path] = true
			f.Total -= h.Count
			continue
		}
		kept = append(kept, h)
	}
	f.Hits = kept
	return f, len(hidden) + f.Excluded
}

// Escapes reports whether a relative path leads out of the folder it starts in.
func Escapes(file string) bool {
	clean := path.Clean(strings.ReplaceAll(file, `\`, "/"))
	return clean == ".." || strings.HasPrefix(clean, "../")
}
