package config

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
)

// Folder is one of our folders inside a project, from its root down to where the work is. What it holds counts only when
// it is trusted.
type Folder struct {
	Path  string // of the folder itself, which is there
	Trust Trust
}

// Inert says why the files of a folder do not count; "" when they do.
func (f Folder) Inert() string {
	switch f.Trust {
	case Trusted:
		return ""
	case Untrusted:
		return "the project is not trusted"
	}
	return "nobody decided whether to trust the project"
}

// folderAt is our folder in a directory, if it is there.
func folderAt(dir string, trust Trust) []Folder {
	path := filepath.Join(dir, folder)
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return nil
	}
	return []Folder{{path, trust}}
}

// ForgetTrust takes the decision about a folder out of the user's file; path is the folder as the file spells it.
// Everything else in the file stays as it is, but for a table that would be left empty.
func ForgetTrust(home, path string) error {
	err := rewrite(home, func(file, text string) (string, error) { return forget(file, text, path) })
	if err != nil {
		return fmt.Errorf("forget the trust of %s: %w", path, err)
	}
	return nil
}

func forget(file, text, path string) (string, error) {
	key := []string{"projects", path, "trust_level"}
	before, _, err := parse(file, text)
	if err != nil {
		return "", err
	}
	if _, there := lookup(before, key); !there {
		return "", fmt.Errorf("%s says nothing of it", file)
	}
	byHand := fmt.Errorf("%s is written in a way this program does not edit; take %s out by hand", file, dotted(key))
	at := places{text: text}
	m, ok := at.find(key)
	if !ok {
		return "", byHand
	}
	if table, ok := at.find(key[:2]); ok && !table.header { // an inline table, which goes as a whole
		m = table
	}
	from, to := linesOf(text, m.at, m.to)
	if rest := strings.TrimSpace(text[m.to:to]); strings.TrimSpace(text[from:m.at]) != "" || rest != "" && rest[0] != '#' {
		return "", byHand
	}
	edited := text[:from] + text[to:]
	left := places{text: edited}
	if h, ok := left.find(key[:2]); ok && h.header { // nothing but blanks up to the next table: it goes too
		start, end := linesOf(edited, h.at, h.at)
		rest := strings.TrimLeft(edited[end:], " \t\r\n")
		if bare := strings.HasSuffix(strings.TrimSpace(edited[start:end]), "]"); bare && (rest == "" || rest[0] == '[') {
			above := edited[:start]
			if rest == "" { // the blank line before it was put there for it
				text := strings.TrimRight(above, " \t\r\n")
				above = text + above[len(text):len(text)+lineBreak(above[len(text):])]
			}
			edited = above + rest
		}
	}
	after, _, err := parse(file, edited)
	want := clone(before)
	projects := want["projects"].(map[string]any)
	delete(projects[path].(map[string]any), "trust_level")
	if err != nil || !reflect.DeepEqual(pruned(want), pruned(after)) {
		return "", byHand
	}
	return edited, nil
}

// lineBreak is how long the line break is that a text begins with.
func lineBreak(text string) int {
	switch {
	case strings.HasPrefix(text, "\r\n"):
		return 2
	case strings.HasPrefix(text, "\n"):
		return 1
	}
	return 0
}

// linesOf is where the lines begin and end that a part of a text stands on.
func linesOf(text string, from, to int) (int, int) {
	from = strings.LastIndexByte(text[:from], '\n') + 1
	if end := strings.IndexByte(text[to:], '\n'); end >= 0 {
		return from, to + end + 1
	}
	return from, len(text)
}

// pruned is a tree without its empty tables.
func pruned(tree map[string]any) map[string]any {
	for key, value := range tree {
		if table, ok := value.(map[string]any); ok && len(pruned(table)) == 0 {
			delete(tree, key)
		}
	}
	return tree
}
