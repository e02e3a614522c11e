package sweagent

import (
	"fmt"
	"strconv"
	"strings"

	"interpreter/harness"
	"interpreter/sandbox/action"
)

// usage are the forms of the editor's commands.
var usage = map[string]string{
	"view":        "view PATH [--view_range FIRST LAST]",
	"create":      "create PATH --file_text TEXT",
	"str_replace": "str_replace PATH --old_str TEXT [--new_str TEXT]",
	"insert":      "insert PATH --insert_line N --new_str TEXT",
	"undo_edit":   "undo_edit PATH",
}

// misused is a command line of the editor's that cannot be understood.
func misused(command, format string, args ...any) error {
	words := "The command was not run: " + fmt.Sprintf(format, args...) + "."
	if form, ok := usage[command]; ok {
		return &harness.RefusedError{Words: words + " It goes: " + editor + " " + form}
	}
	return &harness.RefusedError{Words: words + " The editor's commands are view, create, str_replace, insert and undo_edit."}
}

// editorLine reads a call of the editor as a line of words. alone is false of a script that has more in it. A text may be
// quoted in any way the shell knows, or be the next here-document; what a shell would put in for variables stands as it
// is written, because that is what is meant.
func editorLine(command string) (p *editParams, alone bool, err error) {
	all, err := action.Simples(command)
	if err != nil {
		return nil, true, badSyntax(err)
	}
	if len(all) == 0 {
		return nil, false, nil
	}
	s := all[0]
	if !s.Whole {
		return nil, false, nil
	}
	r := lineReader{words: s.Words[1:], docs: s.Docs}
	p, err = r.read()
	return p, true, err
}

// lineReader goes through the words behind the editor's name.
type lineReader struct {
	words []action.Word
	docs  []string
	p     editParams
	bare  []string // texts without an option
}

func (r *lineReader) next() (string, bool) {
	if len(r.words) == 0 {
		return "", false
	}
	text := r.words[0].Text
	r.words = r.words[1:]
	return text, true
}

func (r *lineReader) read() (*editParams, error) {
	r.p.Command, _ = r.next()
	if _, ok := usage[r.p.Command]; !ok {
		if r.p.Command == "" {
			return nil, misused("", "%s needs a command and a path", editor)
		}
		return nil, misused("", "%s has no command %q", editor, r.p.Command)
	}
	for len(r.words) > 0 {
		text, _ := r.next()
		option, ok := r.option(text)
		if !ok {
			r.bare = append(r.bare, text)
			continue
		}
		if err := r.value(option); err != nil {
			return nil, err
		}
	}
	if err := r.unnamed(); err != nil {
		return nil, err
	}
	if r.p.Path == "" {
		return nil, misused(r.p.Command, "the path is missing")
	}
	return &r.p, nil
}

// option reads --name and --name=value; the value goes back to the words.
func (r *lineReader) option(text string) (string, bool) {
	name, ok := strings.CutPrefix(text, "--")
	if !ok {
		return "", false
	}
	name, value, given := strings.Cut(name, "=")
	if name = strings.ReplaceAll(name, "-", "_"); !optionNames[name] {
		return "", false
	}
	if given {
		r.words = append([]action.Word{{Text: value, Fixed: true}}, r.words...)
	}
	return name, true
}

// text is the value of an option: the next word, unless that is an option again and a here-document is there.
func (r *lineReader) text(option string) (string, error) {
	if len(r.words) > 0 {
		again := false
		if name, ok := strings.CutPrefix(r.words[0].Text, "--"); ok && len(r.docs) > 0 {
			again = optionNames[name]
		}
		if !again {
			text, _ := r.next()
			return text, nil
		}
	}
	if len(r.docs) == 0 {
		return "", misused(r.p.Command, "--%s has no value", option)
	}
	doc := r.docs[0]
	r.docs = r.docs[1:]
	if option == "file_text" {
		return doc, nil
	}
	return strings.TrimSuffix(doc, "\n"), nil
}

var optionNames = map[string]bool{"path": true, "file_text": true, "old_str": true, "new_str": true, "insert_line": true, "view_range": true}

func (r *lineReader) value(option string) error {
	switch option {
	case "insert_line":
		text, err := r.text(option)
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil {
			return misused(r.p.Command, "--insert_line is %q, which is no number", text)
		}
		r.p.Line = &n
		return nil
	case "view_range":
		return r.lines()
	}
	text, err := r.text(option)
	if err != nil {
		return err
	}
	switch option {
	case "path":
		r.p.Path = text
	case "file_text":
		r.p.Text = &text
	case "old_str":
		r.p.Old = &text
	case "new_str":
		r.p.New = &text
	}
	return nil
}

// lines reads two numbers: 1 20, [1, 20] or 1,20.
func (r *lineReader) lines() error {
	var parts []string
	for len(r.words) > 0 && len(parts) < 2 && !strings.HasPrefix(r.words[0].Text, "--") {
		text, _ := r.next()
		parts = append(parts, strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune("[](), \t", c) })...)
	}
	for _, part := range parts {
		n, err := strconv.Atoi(part)
		if err != nil {
			return misused(r.p.Command, "--view_range has %q, which is no number", part)
		}
		r.p.Range = append(r.p.Range, n)
	}
	if len(r.p.Range) != 2 {
		return misused(r.p.Command, "--view_range wants two numbers, the first line and the last")
	}
	return nil
}

// unnamed gives the words and here-documents without an option their place: the path, then the texts in order.
func (r *lineReader) unnamed() error {
	if r.p.Path == "" && len(r.bare) > 0 {
		r.p.Path, r.bare = r.bare[0], r.bare[1:]
	}
	var places []**string
	switch r.p.Command {
	case "create":
		places = []**string{&r.p.Text}
	case "str_replace":
		places = []**string{&r.p.Old, &r.p.New}
	case "insert":
		if r.p.Line == nil && len(r.bare) > 0 {
			n, err := strconv.Atoi(r.bare[0])
			if err != nil {
				return misused(r.p.Command, "the line is %q, which is no number", r.bare[0])
			}
			r.p.Line, r.bare = &n, r.bare[1:]
		}
		places = []**string{&r.p.New}
	case "view":
		if r.p.Range == nil && len(r.bare) > 0 {
			for _, word := range r.bare {
				r.words = append(r.words, action.Word{Text: word, Fixed: true})
			}
			r.bare = nil
			return r.lines()
		}
	}
	docs := r.docs
	for _, place := range places {
		switch {
		case *place != nil:
		case len(r.bare) > 0:
			text := r.bare[0]
			*place, r.bare = &text, r.bare[1:]
		case len(docs) > 0:
			text := docs[0]
			if r.p.Command != "create" {
				text = strings.TrimSuffix(text, "\n")
			}
			*place, docs = &text, docs[1:]
		}
	}
	if len(r.bare) > 0 {
		return misused(r.p.Command, "%q is one word too many; a text with blanks in it stands between quotes", r.bare[0])
	}
	return nil
}
