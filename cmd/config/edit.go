package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// SetTrust records a decision about a folder in the user's file. Comments, order and everything else stay as they are.
func SetTrust(home, path string, level Trust) error {
	if level != Trusted && level != Untrusted {
		return fmt.Errorf("record trust of %s: %q is neither trusted nor untrusted", path, level)
	}
	if err := change(home, []string{"projects", path, "trust_level"}, string(level)); err != nil {
		return fmt.Errorf("record trust of %s: %w", path, err)
	}
	return nil
}

// change sets one string of the user's file and puts the file back in one step, readable by its owner only.
func change(home string, key []string, value string) error {
	path := UserPath(home)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // a file kept elsewhere stays there
	}
	raw, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	bom := ""
	if text, ok := strings.CutPrefix(string(raw), "\ufeff"); ok {
		bom, raw = "\ufeff", []byte(text)
	} else if len(raw) > 1 && (raw[0] == 0xFF || raw[0] == 0xFE) {
		return fmt.Errorf("%s is UTF-16; save it as UTF-8", path)
	}
	text, err := assign(path, string(raw), key, value)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return replace(path, bom+text)
}

// assign returns text with key set to value. It touches one line, or adds a table at the end, and proves by reading
// the result that it says what was meant.
func assign(path, text string, key []string, value string) (string, error) {
	if _, _, err := parse(path, text); err != nil {
		return "", err
	}
	ending := "\n"
	if strings.Contains(text, "\r\n") {
		ending = "\r\n"
	}
	at := places{text: text}
	table, name := key[:len(key)-1], key[len(key)-1]
	edited := ""
	if m, ok := at.find(key); ok {
		edited = text[:m.from] + quote(value) + text[m.to:]
	} else if m, ok := at.find(table); ok && m.header {
		end := len(text)
		if n := strings.IndexByte(text[m.at:], '\n'); n >= 0 {
			end = m.at + n + 1
		}
		head := text[:end]
		if !strings.HasSuffix(head, "\n") {
			head += ending
		}
		edited = head + name + " = " + quote(value) + ending + text[end:]
	} else if ok && strings.HasPrefix(text[m.from:], "{") { // an inline table
		inner := strings.TrimSpace(text[m.from+1 : m.to-1])
		if inner != "" {
			inner = ", " + inner
		}
		edited = text[:m.from] + "{ " + name + " = " + quote(value) + inner + " }" + text[m.to:]
	} else if m, ok := at.find(table[:1]); !ok || m.header { // an inline table above cannot be added to
		if text != "" {
			if !strings.HasSuffix(text, "\n") {
				text += ending
			}
			text += ending
		}
		edited = text + "[" + dotted(table) + "]" + ending + name + " = " + quote(value) + ending
	}
	tree, _, err := parse(path, edited)
	if err == nil && edited != "" {
		if now, ok := lookup(tree, key); ok && now == value {
			return edited, nil
		}
	}
	return "", fmt.Errorf("%s is written in a way this program does not edit; add %s = %s by hand", path, dotted(key), quote(value))
}

// replace writes a file beside the old one and renames it, so that a reader sees one or the other.
func replace(path, text string) error {
	file, err := os.CreateTemp(filepath.Dir(path), ".config-*.toml") // mode 0600
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	if err == nil {
		err = file.Sync()
	}
	if closing := file.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		os.Remove(file.Name())
	}
	return err
}
