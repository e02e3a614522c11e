package project

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"interpreter/harness"
)

// DocOptions say where instruction files are looked for.
type DocOptions struct {
	Dir        string   // the nearest folder
	Root       string   // the farthest; Dir must be in it
	Home       string   // holds the global file; "" for none
	Fallbacks  []string // names tried where there is no AGENTS.md; nil: CLAUDE.md
	MaxBytes   int      // shared by the project's files; 0: 32 KiB. The global file does not count.
	GlobalOnly bool
}

const (
	override  = "AGENTS.override.md"
	agents    = "AGENTS.md"
	docBytes  = 32 << 10
	cutMark   = "\n[cut here: this file is longer than the room for project instructions]\n"
	cutMarkAt = 4 * len(cutMark) // with less room than this the text is worth more than the mark
)

// Docs reads instruction files, most general first. The nearest ones get the room first, so what is cut, with a
// mark and a warning, is the most general.
func Docs(o DocOptions) (docs []harness.Doc, warnings []string) {
	global, warned := globalDoc(o.Home)
	warnings = append(warnings, warned...)
	if o.GlobalOnly {
		return global, warnings
	}
	names := Names(o.Fallbacks)
	room := o.MaxBytes
	if room <= 0 {
		room = docBytes
	}
	limit := room
	var project []harness.Doc
	for _, dir := range folders(o.Root, o.Dir) { // nearest first
		path, text, warned := firstDoc(dir, names)
		warnings = append(warnings, warned...)
		if text == "" || path == "" {
			continue
		}
		if len(text) > room {
			warnings = append(warnings, fmt.Sprintf("%s: only %d of its %d bytes are used, project instructions may have %d in all",
				path, room, len(text), limit))
			text = cut(text, room)
		}
		room -= len(text)
		if text != "" {
			project = append(project, harness.Doc{Path: path, Text: text})
		}
	}
	slices.Reverse(project)
	return append(global, project...), warnings
}

// Names are those of the instruction files of a folder, of which the first that is there counts. fallbacks are as in
// DocOptions.
func Names(fallbacks []string) []string {
	if fallbacks == nil {
		fallbacks = []string{"CLAUDE.md"}
	}
	return append([]string{override, agents}, fallbacks...)
}

func globalDoc(home string) ([]harness.Doc, []string) {
	if home == "" {
		return nil, nil
	}
	path, text, warnings := firstDoc(home, []string{override, agents})
	if text == "" {
		return nil, warnings
	}
	return []harness.Doc{{Path: path, Text: text}}, warnings
}

// folders lists the folders from dir up to root.
func folders(root, dir string) []string {
	out := []string{dir}
	if rel, err := filepath.Rel(root, dir); root == "" || err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return out
	}
	for dir != root {
		up := filepath.Dir(dir)
		if up == dir {
			break
		}
		dir = up
		out = append(out, dir)
	}
	return out
}

// firstDoc reads the first of the named files that is there and says something.
func firstDoc(dir string, names []string) (path, text string, warnings []string) {
	for _, name := range names {
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
			continue
		}
		var raw []byte
		if err == nil {
			raw, err = os.ReadFile(path)
		}
		if err != nil {
			warnings = append(warnings, fmt.Sprintf("%s could not be read and is left out: %v", path, cause(err)))
			continue
		}
		text, warning := decode(raw)
		if warning != "" {
			warnings = append(warnings, path+": "+warning)
		}
		if strings.TrimSpace(text) != "" {
			return path, text, warnings
		}
	}
	return "", "", warnings
}

func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// decode makes UTF-8 text of a file in one of the encodings editors leave behind.
func decode(raw []byte) (text, warning string) {
	switch {
	case bytes.HasPrefix(raw, []byte{0xEF, 0xBB, 0xBF}):
		raw = raw[3:]
	case bytes.HasPrefix(raw, []byte{0xFF, 0xFE}):
		return decode16(raw[2:], 0, 1), ""
	case bytes.HasPrefix(raw, []byte{0xFE, 0xFF}):
		return decode16(raw[2:], 1, 0), ""
	}
	if !utf8.Valid(raw) {
		return string(bytes.ToValidUTF8(raw, []byte("\uFFFD"))), "it is not valid UTF-8; what could not be read is shown as \uFFFD"
	}
	return string(raw), ""
}

func decode16(raw []byte, low, high int) string {
	units := make([]uint16, len(raw)/2)
	for i := range units {
		units[i] = uint16(raw[2*i+low]) | uint16(raw[2*i+high])<<8
	}
	return string(utf16.Decode(units))
}

// cut shortens text to at most size bytes, between characters, with a mark where there is room for one.
func cut(text string, size int) string {
	mark := ""
	if size >= cutMarkAt {
		mark = cutMark
	}
	if mark == "" && size >= 2*len(shortMark) {
		mark = shortMark
	}
	size -= len(mark)
	for size > 0 && !utf8.RuneStart(text[size]) {
		size--
	}
	return text[:max(size, 0)] + mark
}

const shortMark = "\n[cut here]\n"
