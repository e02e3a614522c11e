package rules

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// Ending is how the name of a file of rules ends.
const Ending = ".rules"

// mostBytes is how long a file of rules may be. One that remembers answers takes about 50 bytes for each.
const mostBytes = 1 << 20

// Source is a folder of rules files. A folder that is not there has none.
type Source struct {
	Dir     string
	Project bool // it belongs to a project
	System  bool // it belongs to who runs the machine
}

func (s Source) layer() Layer {
	switch {
	case s.System:
		return System
	case s.Project:
		return Project
	}
	return User
}

// Error is a mistake in a file of rules, or a file that cannot be used.
type Error struct {
	File string
	Line int // 1-based, 0 when the file as a whole is meant
	Text string
	Try  string // what a person can write instead; "" when the text says it
	Err  error
}

func (e *Error) Error() string {
	text := e.File
	if e.Line > 0 {
		text += fmt.Sprintf(":%d", e.Line)
	}
	text += ": " + e.Text
	if e.Err != nil {
		text += ": " + reason(e.Err)
	}
	return text
}

func (e *Error) Unwrap() error { return e.Err }

// Remedy is what a person can do.
func (e *Error) Remedy() string { return e.Try }

// reason is an error without the path it repeats.
func reason(err error) string {
	var at *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &at):
		return at.Err.Error()
	case errors.As(err, &link):
		return link.Err.Error()
	}
	return err.Error()
}

// Load reads the rules of some folders, of each the files that end in .rules, by name. Give the folders from low to high
// precedence; it orders the matches and nothing else.
//
// A mistake in a person's or a project's file drops all rules but the system's; one in the system's files drops every
// rule. Either is an *Error that names file and line, beside the set that stays.
func Load(sources []Source) (*Set, error) {
	system, all := &loading{}, &loading{}
	for _, s := range sources {
		err := all.folder(s)
		if s.System && err == nil {
			err = system.folder(s)
		}
		if err != nil && s.System {
			return &Set{}, err
		}
		if err != nil {
			return onlySystem(sources), err
		}
	}
	if err := system.examples(); err != nil {
		return &Set{}, err
	}
	if err := all.examples(); err != nil {
		return onlySystem(sources), err
	}
	return &all.set, nil
}

// onlySystem is what stays of the sources after a mistake in another one.
func onlySystem(sources []Source) *Set {
	l := &loading{}
	for _, s := range sources {
		if s.System && l.folder(s) != nil {
			return &Set{}
		}
	}
	if l.examples() != nil {
		return &Set{}
	}
	return &l.set
}

// Files lists the files of rules of a folder, by name. A folder that is not there has none.
func Files(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, &Error{File: dir, Text: "read the folder of rules", Err: err}
	}
	var files []string
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() || !strings.HasSuffix(name, Ending) || strings.HasPrefix(name, ".") {
			continue // a name with a dot in front is an editor's
		}
		files = append(files, filepath.Join(dir, name))
	}
	return files, nil
}

// Check gives what some files say of a command, as written and with no other rules. With resolve, a rule also matches an
// absolute path by its base name.
func Check(files, argv []string, resolve bool) (Ruling, error) {
	l := &loading{}
	for _, file := range files {
		if err := l.file(file, User); err != nil {
			return Ruling{}, err
		}
	}
	if err := l.examples(); err != nil {
		return Ruling{}, err
	}
	var everywhere func(string) bool
	if !resolve {
		everywhere = func(string) bool { return true }
	}
	return l.set.Match(argv, everywhere), nil
}

// loading is a set as it grows, and what has to be checked once it is whole.
type loading struct {
	set     Set
	pending []example
}

// example is a command that its rule must match, or must not.
type example struct {
	rule int // index in set.prefixes
	text string
	argv []string
	want bool
}

func (l *loading) folder(s Source) error {
	files, err := Files(s.Dir)
	if err != nil {
		return err
	}
	for _, file := range files {
		if err := l.file(file, s.layer()); err != nil {
			return err
		}
	}
	return nil
}

func (l *loading) file(path string, layer Layer) error {
	text, err := read(path)
	if err != nil {
		return err
	}
	return l.text(path, text, layer)
}

// text takes the rules of a file's text.
func (l *loading) text(path, text string, layer Layer) error {
	got, err := parse(path, text)
	if err != nil {
		return err
	}
	first := len(l.set.prefixes)
	for _, r := range got.set.prefixes {
		r.Layer = layer
		r.Void = r.void(r.Decision)
		l.set.prefixes = append(l.set.prefixes, r)
	}
	for _, n := range got.set.networks {
		n.Layer = layer
		n.Void = n.void(n.Decision)
		l.set.networks = append(l.set.networks, n)
	}
	for _, e := range got.set.hosts {
		e.Layer = layer
		l.set.hosts = append(l.set.hosts, e)
	}
	for _, e := range got.pending {
		e.rule += first
		l.pending = append(l.pending, e)
	}
	return nil
}

// examples checks what the rules say of themselves. It is done last: a host_executable may stand in a later file.
func (l *loading) examples() error {
	for _, e := range l.pending {
		r := &l.set.prefixes[e.rule]
		if got := r.holds(e.argv) || l.set.names(r, e.argv); got != e.want {
			text := "the rule for " + r.Words() + " does not match its example " + literal(e.text)
			try := "correct the pattern, or the example in match"
			if got {
				text = "the rule for " + r.Words() + " matches " + literal(e.text) + ", which not_match says it must not"
				try = "make the pattern longer, or take the example out of not_match"
			}
			return &Error{File: r.File, Line: r.Line, Text: text, Try: try}
		}
	}
	return nil
}

// read gives the text of a file, without a byte order mark.
func read(path string) (string, error) {
	raw, err := readRaw(path)
	if err != nil {
		return "", err
	}
	text := strings.TrimPrefix(string(raw), "\ufeff")
	return text, legible(path, text)
}

func readRaw(path string) ([]byte, error) {
	info, err := os.Stat(path) // to open a pipe would wait for who writes it
	if err != nil {
		return nil, &Error{File: path, Text: "read the rules", Err: err}
	}
	if !info.Mode().IsRegular() {
		return nil, &Error{File: path, Text: "is not a file that can be read"}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, &Error{File: path, Text: "read the rules", Err: err}
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, mostBytes+1))
	if err != nil {
		return nil, &Error{File: path, Text: "read the rules", Err: err}
	}
	return raw, nil
}

// legible refuses what is not plain text. A NUL counts: the language would take it for the end of the file, and what
// stands behind it for nothing.
func legible(path, text string) error {
	if len(text) > mostBytes {
		return &Error{File: path, Text: fmt.Sprintf("is longer than %d KiB", mostBytes>>10)}
	}
	if strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff") {
		return &Error{File: path, Text: "is UTF-16; save it as UTF-8"}
	}
	at := strings.IndexByte(text, 0)
	if at < 0 && !utf8.ValidString(text) {
		for at = 0; ; {
			r, size := utf8.DecodeRuneInString(text[at:])
			if r == utf8.RuneError && size == 1 {
				break
			}
			at += size
		}
	}
	if at < 0 {
		return nil
	}
	return &Error{File: path, Line: 1 + bytes.Count([]byte(text[:at]), []byte("\n")), Text: fmt.Sprintf("the byte 0x%02x is no text", text[at])}
}
