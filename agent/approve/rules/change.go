package rules

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"go.starlark.net/syntax"
)

// Add appends to a file a rule that allows every command that begins with these words, unless the very rule is there
// already. Everything else in the file stays as it is, to the byte. The file, and a folder it needs, are made if they are
// not there, for their owner alone. A file that has a mistake in it is left alone, and the error says where. Others that
// change the same file wait meanwhile.
func Add(file string, prefix []string) error {
	if len(prefix) == 0 || prefix[0] == "" {
		return fmt.Errorf("keep a rule in %s: it has no words", file)
	}
	for _, word := range prefix {
		if !utf8.ValidString(word) || strings.IndexByte(word, 0) >= 0 {
			return fmt.Errorf("keep a rule in %s: %q is not text, so no file can hold it", file, word)
		}
	}
	added := allow(prefix)
	err := change(file, func(path, text string) (string, error) {
		before, err := parse(path, text)
		if err != nil {
			return "", err
		}
		if slices.ContainsFunc(before.set.prefixes, func(r Rule) bool { return r.Decision == Allow && sameWords(r, added) }) {
			return text, nil
		}
		ending := lineEnd(text)
		longer := text
		if longer != "" && !strings.HasSuffix(longer, "\n") {
			longer += ending
		}
		longer += added.String() + ending
		after, err := parse(path, longer)
		if err == nil && slices.Equal(after.lines(), append(before.lines(), added.String())) {
			return longer, nil
		}
		return "", &Error{File: path, Text: "ends in a way this program cannot add to", Try: "add this line by hand: " + added.String()}
	})
	if err != nil {
		return fmt.Errorf("keep a rule: %w", err)
	}
	return nil
}

// Remove takes out of a file the rule that begins on a line, with its comment on the same line. was is the rule as it was
// when the line was read, in the words of its String: when the file has changed since, nothing is removed. A rule that
// shares its line with others, or that a loop or a function makes, is left, and the error says so.
func Remove(file string, line int, was string) error {
	err := change(file, func(path, text string) (string, error) {
		before, err := parse(path, text)
		if err != nil {
			return "", err
		}
		from, to, err := statement(path, text, line)
		if err != nil {
			return "", err
		}
		there := before.at(line)
		if len(there) > 1 {
			return "", byHand(path, line)
		}
		if len(there) == 0 || there[0] != was {
			return "", &Error{File: path, Line: line, Text: "the rule is not there any more", Try: "interpreter approvals list"}
		}
		shorter := text[:from] + text[to:]
		after, err := parse(path, shorter)
		if want := without(before.lines(), was); err != nil || !slices.Equal(sorted(after.lines()), sorted(want)) {
			return "", byHand(path, line)
		}
		return shorter, nil
	})
	if err != nil {
		return fmt.Errorf("remove a rule: %w", err)
	}
	return nil
}

func byHand(path string, line int) error {
	return &Error{File: path, Line: line, Text: "the rule is written in a way this program does not edit", Try: fmt.Sprintf("take it out of %s by hand, it is on line %d", path, line)}
}

// lines is each rule of a file as a line, prefix rules first.
func (l *loading) lines() []string {
	var out []string
	for _, n := range l.set.networks {
		out = append(out, n.String())
	}
	for _, r := range l.set.prefixes {
		out = append(out, r.String())
	}
	return out
}

// at is what lines gives of the rules that stand on one line.
func (l *loading) at(line int) []string {
	var out []string
	for _, n := range l.set.networks {
		if n.Line == line {
			out = append(out, n.String())
		}
	}
	for _, r := range l.set.prefixes {
		if r.Line == line {
			out = append(out, r.String())
		}
	}
	return out
}

func sorted(lines []string) []string { return slices.Sorted(slices.Values(lines)) }

// without is a list less one of its lines.
func without(lines []string, line string) []string {
	if i := slices.Index(lines, line); i >= 0 {
		return slices.Delete(slices.Clone(lines), i, i+1)
	}
	return lines
}

func sameWords(a, b Rule) bool {
	return slices.EqualFunc(a.Pattern, b.Pattern, func(x, y []string) bool { return slices.Equal(x, y) })
}

// statement is where the lines of the call are that stands on a line, alone and at the top of the file.
func statement(path, text string, line int) (from, to int, err error) {
	tree, err := (&syntax.FileOptions{TopLevelControl: true}).Parse(path, text, 0)
	if err != nil {
		return 0, 0, mistake(path, err)
	}
	first, last, found := 0, 0, 0
	for _, s := range tree.Stmts {
		begin, end := s.Span()
		if int(begin.Line) > line || int(end.Line) < line {
			continue
		}
		found++
		one, ok := s.(*syntax.ExprStmt)
		if !ok {
			return 0, 0, byHand(path, line)
		}
		call, ok := one.X.(*syntax.CallExpr)
		if !ok {
			return 0, 0, byHand(path, line)
		}
		if name, ok := call.Fn.(*syntax.Ident); !ok || name.Name != "prefix_rule" && name.Name != "network_rule" {
			return 0, 0, byHand(path, line)
		}
		first, last = int(begin.Line), int(end.Line)
	}
	if found == 0 {
		return 0, 0, &Error{File: path, Line: line, Text: "no rule stands there any more", Try: "interpreter approvals list"}
	}
	for _, s := range tree.Stmts { // one that shares the first or the last line
		begin, end := s.Span()
		if int(begin.Line) <= last && int(end.Line) >= first {
			found--
		}
	}
	if found != 0 {
		return 0, 0, byHand(path, line)
	}
	return lineStart(text, first), lineStart(text, last+1), nil
}

// lineStart is where a line begins, counted from 1 and as the language counts: a lone carriage return ends one too.
func lineStart(text string, line int) int {
	at := 0
	for n := 1; n < line && at < len(text); n++ {
		end := strings.IndexAny(text[at:], "\r\n")
		if end < 0 {
			return len(text)
		}
		if at += end + 1; text[at-1] == '\r' && at < len(text) && text[at] == '\n' {
			at++
		}
	}
	return at
}

func lineEnd(text string) string {
	if strings.Contains(text, "\r\n") {
		return "\r\n"
	}
	return "\n"
}

// change edits a file while nobody else does and puts it back in one step. edit is handed the real path and the text, ""
// for a file that is not there; what it leaves as it was is not written.
func change(file string, edit func(path, text string) (string, error)) error {
	path := file
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // a file kept elsewhere stays there
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return &Error{File: file, Text: "make its folder", Err: err}
	}
	done, err := alone(path)
	if err != nil {
		return &Error{File: file, Text: "lock it", Err: err}
	}
	defer done()
	raw, err := readRaw(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	text, marked := strings.CutPrefix(string(raw), "\ufeff")
	if err := legible(path, text); err != nil {
		return err
	}
	edited, err := edit(path, text)
	if err != nil || edited == text && raw != nil {
		return err
	}
	if marked {
		edited = "\ufeff" + edited
	}
	if err := replace(path, edited); err != nil {
		return &Error{File: file, Text: "write it", Err: err}
	}
	return nil
}

// replace writes a file beside the old one and renames it, so that a reader sees one or the other.
func replace(path, text string) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".rules-*.tmp") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err == nil {
		err = f.Sync()
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// alone waits until nobody else changes the file. The lock is on a file beside it, since the file itself is replaced; it
// ends with the process at the latest.
func alone(path string) (done func(), err error) {
	beside, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := lock(beside); err != nil {
		beside.Close()
		return nil, err
	}
	return func() {
		unlock(beside)
		beside.Close()
	}, nil
}
