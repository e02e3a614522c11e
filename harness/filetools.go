package harness

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"interpreter/sandbox/action"
)

// Read, Edit and Write as several families share them: file_path, old_string, new_string, content; a reading has a
// number and a tab before each line.

// ReadParams are the parameters of Read.
type ReadParams struct {
	Path   string `json:"file_path"`
	Offset int    `json:"offset,omitempty" min:"0"`
	Limit  int    `json:"limit,omitempty" min:"1"`
	Pages  string `json:"pages,omitempty" hidden:"yes"`
	Large  bool   `json:"allow_large,omitempty" hidden:"yes"`
}

const (
	readColumns = 2000   // characters of a line
	readTokens  = 25_000 // of one reading
)

// Action reads lines from Offset, which counts from 1; 0 is the first as well.
func (p ReadParams) Action() action.Read {
	return action.Read{Path: p.Path, Offset: max(p.Offset, 1), Limit: max(p.Limit, 0), Columns: readColumns}
}

// Step carries out a reading, and refuses to give more at once than 25 000 tokens as tokens counts them. say words what is given.
func (p ReadParams) Step(a action.Read, tokens func(string) int, say func(s action.Seen, limit int) string, fault func(error) string) Step {
	refuse := func(o action.Outcome) error {
		s, ok := o.(action.Seen)
		if !ok {
			return nil
		}
		if n := tokens(s.Text); n > readTokens {
			return &RefusedError{Words: fmt.Sprintf("That is %d tokens, and one Read gives at most %d. Take a stretch of it with offset and limit, or search it.", n, readTokens)}
		}
		return nil
	}
	return Do(a, func(s action.Seen) string { return say(s, p.Limit) }).Unless(refuse, fault)
}

// readLines are the lines of a reading with their numbers. A file that ends with a line break shows the empty line behind
// it, unless the limit that was asked for ends before.
func readLines(s action.Seen, limit int) string {
	text := strings.TrimSuffix(Numbered(s.Text, s.First, "%d\t"), "\n")
	if !s.Cut && strings.HasSuffix(s.Text, "\n") && (limit <= 0 || s.Last-s.First+1 < limit) {
		text += fmt.Sprintf("\n%d\t", s.Last+1)
	}
	return text
}

// readRest says what of a file a reading did not show, "" when nothing is missing that was asked for.
func readRest(s action.Seen) string {
	var said []string
	if s.Cut && !s.ByLimit {
		said = append(said, fmt.Sprintf("Lines %d-%d of %d are shown; go on with offset %d.", s.First, s.Last, s.Total, s.Last+1))
	}
	if len(s.Longer) > 0 {
		numbers := strings.Trim(strings.Join(strings.Fields(fmt.Sprint(s.Longer[:min(len(s.Longer), 10)])), ", "), "[]")
		if more := len(s.Longer) - 10; more > 0 {
			numbers += fmt.Sprintf(" and %d more", more)
		}
		said = append(said, fmt.Sprintf("Longer than %d characters, and cut there: line %s.", readColumns, numbers))
	}
	return strings.Join(said, " ")
}

// ReadWords are a reading as these families see it: the lines, and below them what is missing.
func ReadWords(s action.Seen, limit int) string {
	switch {
	case s.MIME != "":
		return fmt.Sprintf("[image %s, %s, %d bytes]", s.Path, s.MIME, s.Bytes)
	case s.Total == 0:
		return Reminded("Nothing is in this file.")
	}
	text := readLines(s, limit)
	if rest := readRest(s); rest != "" {
		text += "\n\n" + Reminded(rest)
	}
	return text
}

// ByteTokens is a rough count of tokens, at four bytes each.
func ByteTokens(text string) int { return (len(text) + 3) / 4 }

// EditParams are the parameters of Edit. Several edits of one file are understood as well.
type EditParams struct {
	Path  string        `json:"file_path"`
	Old   string        `json:"old_string" unless:"edits"`
	New   string        `json:"new_string" unless:"edits"`
	All   bool          `json:"replace_all,omitempty" default:"false"`
	Edits []ReplacePair `json:"edits,omitempty" hidden:"yes" min:"1"`
}

// ReplacePair is one of several edits.
type ReplacePair struct {
	Old string `json:"old_string"`
	New string `json:"new_string"`
	All bool   `json:"replace_all,omitempty" default:"false"`
}

// Step edits; an empty Old creates a file.
func (p EditParams) Step() (Step, error) {
	if len(p.Edits) == 0 {
		return Do(action.Edit{Path: p.Path, Old: p.Old, New: p.New, All: p.All, Create: true, Lines: true}, EditWords), nil
	}
	a := action.Edits{Path: p.Path}
	for _, e := range p.Edits {
		a.Pairs = append(a.Pairs, action.Pair{Old: e.Old, New: e.New, All: e.All})
	}
	return Do(a, EditWords), nil
}

const (
	editAround = 3  // lines shown around a change
	editMost   = 30 // lines shown in all
)

// EditWords say that a file was edited, what was noticed on the way, and how the place reads now.
func EditWords(c action.Changed) string {
	f := c.Files[0]
	switch {
	case c.Same:
		return fmt.Sprintf("%s reads as the edit wants it already; nothing was changed.", f.Path) + ChangeNotes(c)
	case f.Kind == action.Added:
		return fmt.Sprintf("%s has been created as you gave it; to read it again would show nothing new.", f.Path) + ChangeNotes(c)
	}
	text := fmt.Sprintf("%s has been updated", f.Path)
	if c.Spots > 1 {
		text += fmt.Sprintf(" in %d places", c.Spots)
	}
	text += "." + standing(c) + Loosely(c) + ChangeNotes(c)
	if e := ChangedLines(f, editAround, editMost); e.To > 0 {
		text += "\n" + strings.TrimSuffix(Numbered(e.Text, e.From, "%d\t"), "\n")
	}
	return text
}

// standing says what a model knows of a file it has edited.
func standing(c action.Changed) string {
	switch {
	case c.Stale:
		return " It had changed on disk since you read it: the edit was made to what is there now, and the rest may differ from what you know."
	case c.Unread:
		return " You have not read it; this is all you know of it."
	}
	return " Nothing else in it is different from what you know."
}

// WriteParams are the parameters of Write.
type WriteParams struct {
	Path    string `json:"file_path"`
	Content string `json:"content"`
	Mode    string `json:"mode,omitempty" enum:"overwrite,append" hidden:"yes"`
}

// Step writes the whole file, or appends to it when a call asks for that.
func (p WriteParams) Step() (Step, error) {
	a := action.Write{Path: p.Path, Content: p.Content, Append: p.Mode == "append"}
	return Do(a, func(c action.Changed) string {
		if f := c.Files[0]; a.Append && !c.Same && f.Kind != action.Added {
			return fmt.Sprintf("%s has been updated: %s appended, %d in all.", f.Path, counted(LineCount(a.Content), "line", "lines"), LineCount(f.After)) + ChangeNotes(c)
		}
		return WriteWords(c)
	}), nil
}

// WriteWords say whether a file was created or updated.
func WriteWords(c action.Changed) string {
	f := c.Files[0]
	switch {
	case c.Same:
		return fmt.Sprintf("%s has this content already; nothing was changed.", f.Path) + ChangeNotes(c)
	case f.Kind == action.Added:
		return fmt.Sprintf("%s has been created as you gave it; to read it again would show nothing new.", f.Path) + ChangeNotes(c)
	}
	return fmt.Sprintf("%s has been updated and is now as you gave it; to read it again would show nothing new.", f.Path) + ChangeNotes(c) + replacedUnseen(c)
}

func replacedUnseen(c action.Changed) string {
	switch {
	case c.Stale:
		return "\n[It had changed on disk since you read it, and that is overwritten.]"
	case c.Unread:
		return fmt.Sprintf("\n[It was there and you had not read it: %d line(s) were replaced. If that was not intended, restore them from version control.]", LineCount(c.Files[0].Before))
	}
	return ""
}

// FileFault words a failure of the tools above, and any other as Plain does. tag is put around what the tool layer
// says, but not around interruptions: "tool_use_error"; "" puts nothing.
func FileFault(tool string, err error, tag string) string {
	text := fileFault(tool, err)
	var aborted *AbortedError
	if tag == "" || errors.As(err, &aborted) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return text
	}
	return "<" + tag + ">" + text + "</" + tag + ">"
}

func fileFault(tool string, err error) string {
	var (
		match     *action.MatchError
		missing   *action.MissingError
		directory *action.IsDirectoryError
		binary    *action.BinaryError
		offset    *action.OffsetError
		status    *action.StatusError
	)
	switch {
	case errors.As(err, &match) && errors.Is(err, action.ErrAbsent):
		return fmt.Sprintf("old_string is nowhere in %s. Nothing was changed.%s%s", match.Path, staleFault(match), Nearest(match))
	case errors.As(err, &match) && errors.Is(err, action.ErrAmbiguous):
		return fmt.Sprintf("old_string stands in %d places of %s%s. Nothing was changed. Add lines around the one you mean, or set replace_all.", match.Count, match.Path, Places(match))
	case errors.Is(err, action.ErrSame):
		return "old_string and new_string do not differ, so there is nothing to do."
	case errors.Is(err, action.ErrExists):
		return "An empty old_string makes a file, but this one is there and has content. Give the text to replace."
	case errors.Is(err, action.ErrNoSession):
		return "There is no such task: it has ended and was reported, or the ID is wrong."
	case errors.As(err, &missing):
		text := "There is no file " + missing.Path + "."
		if missing.What == "grep" || missing.What == "find" || missing.What == "list" {
			text = "There is nothing at " + missing.Path + "."
		}
		if missing.What == "edit" {
			text += " Nothing was changed. An empty old_string creates it."
		}
		if len(missing.Similar) > 0 {
			text += " The nearest names: " + strings.Join(missing.Similar, ", ") + "."
		}
		return text + homeOf(missing)
	case errors.As(err, &directory):
		return directory.Path + " is a folder; list it instead."
	case errors.As(err, &binary):
		return fmt.Sprintf("%s is not text: %s, %d bytes. Look at it with a program for such files.", binary.Path, binary.Kind, binary.Size)
	case errors.As(err, &offset):
		return fmt.Sprintf("%s has %d lines; there is none at offset %d.", offset.Path, offset.Total, offset.Offset)
	case errors.As(err, &status):
		return strings.TrimRight(fmt.Sprintf("HTTP status %d from %s.\n\n%s", status.Status, status.URL, status.Text), "\n")
	}
	return Plain(tool, err)
}

// homeOf says where a search for something that is missing began, "" when that is not known.
func homeOf(e *action.MissingError) string {
	if e.Dir == "" {
		return ""
	}
	return " The working directory is " + e.Dir + "."
}

func staleFault(e *action.MatchError) string {
	if e.Stale {
		return " Somebody else has written to it since you read it."
	}
	return ""
}
