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
	if err := change(home, edit{[]string{"projects", path, "trust_level"}, string(level)}); err != nil {
		return fmt.Errorf("record trust of %s: %w", path, err)
	}
	return nil
}

// Value is what a key at the top of the user's file is to say. Text counts unless Number is set.
type Value struct {
	Key    string
	Text   string
	Number int
}

// Line is the value as a line of the file.
func (v Value) Line() string { return v.edit().line() }

func (v Value) edit() edit {
	if v.Number != 0 {
		return edit{[]string{v.Key}, int64(v.Number)}
	}
	return edit{[]string{v.Key}, v.Text}
}

// Set writes values at the top of the user's file, all of them or none. Comments, order and everything else stay as
// they are.
func Set(home string, values ...Value) error {
	var edits []edit
	for _, v := range values {
		edits = append(edits, v.edit())
	}
	if err := change(home, edits...); err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	return nil
}

// edit is one value, a string or an int64, and where it goes.
type edit struct {
	key   []string
	value any
}

func (e edit) literal() string {
	if text, ok := e.value.(string); ok {
		return quote(text)
	}
	return fmt.Sprint(e.value)
}

// line is the edit as it stands below its table.
func (e edit) line() string { return e.key[len(e.key)-1] + " = " + e.literal() }

// change makes edits in the user's file.
func change(home string, edits ...edit) error {
	return rewrite(home, func(path, text string) (string, error) {
		var err error
		for _, e := range edits {
			if text, err = assign(path, text, e); err != nil {
				return "", err
			}
		}
		return text, nil
	})
}

// rewrite edits the user's file and puts it back in one step, readable by its owner only.
func rewrite(home string, edit func(path, text string) (string, error)) error {
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
	text, err := edit(path, string(raw))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return replace(path, bom+text)
}

// assign returns text with an edit made. It touches one line, or adds a table at the end, and proves by reading
// the result that it says what was meant.
func assign(path, text string, e edit) (string, error) {
	if _, _, err := parse(path, text); err != nil {
		return "", err
	}
	ending := "\n"
	if strings.Contains(text, "\r\n") {
		ending = "\r\n"
	}
	at := places{text: text}
	table := e.key[:len(e.key)-1]
	edited := ""
	if m, ok := at.find(e.key); ok {
		edited = text[:m.from] + e.literal() + text[m.to:]
	} else if len(table) == 0 {
		edited = atTop(text, e.line(), ending)
	} else if m, ok := at.find(table); ok && m.header {
		end := len(text)
		if n := strings.IndexByte(text[m.at:], '\n'); n >= 0 {
			end = m.at + n + 1
		}
		edited = closed(text[:end], ending) + e.line() + ending + text[end:]
	} else if ok && strings.HasPrefix(text[m.from:], "{") { // an inline table
		inner := strings.TrimSpace(text[m.from+1 : m.to-1])
		if inner != "" {
			inner = ", " + inner
		}
		edited = text[:m.from] + "{ " + e.line() + inner + " }" + text[m.to:]
	} else if m, ok := at.find(table[:1]); !ok || m.header { // an inline table above cannot be added to
		if text != "" {
			text = closed(text, ending) + ending
		}
		edited = text + "[" + dotted(table) + "]" + ending + e.line() + ending
	}
	tree, _, err := parse(path, edited)
	if err == nil && edited != "" {
		if now, ok := lookup(tree, e.key); ok && now == e.value {
			return edited, nil
		}
	}
	return "", fmt.Errorf("%s is written in a way this program does not edit; add %s = %s by hand", path, dotted(e.key), e.literal())
}

// atTop is the text with a line added below the last key that stands in no table; where there is none, above the first
// table and the comment that belongs to it.
func atTop(text, line, ending string) string {
	first, after := len(text), -1
	for _, m := range scan(text) {
		if m.header {
			first = m.at
			break
		}
		after = max(after, m.to)
	}
	if after >= 0 {
		end := len(text)
		if n := strings.IndexByte(text[after:], '\n'); n >= 0 {
			end = after + n + 1
		}
		return closed(text[:end], ending) + line + ending + text[end:]
	}
	if first == len(text) {
		return closed(text, ending) + line + ending
	}
	at := strings.LastIndexByte(text[:first], '\n') + 1
	for at > 0 {
		above := strings.LastIndexByte(text[:at-1], '\n') + 1
		if !strings.HasPrefix(strings.TrimSpace(text[above:at]), "#") {
			break
		}
		at = above
	}
	return text[:at] + line + ending + ending + text[at:]
}

// closed ends the last line of a text.
func closed(text, ending string) string {
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += ending
	}
	return text
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
