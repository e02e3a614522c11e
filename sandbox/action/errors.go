package action

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"unicode"

	"interpreter/sandbox"
)

// What code may test of a failed action.
var (
	ErrAbsent      = errors.New("the text was not found in the file")
	ErrAmbiguous   = errors.New("the text is in several places")
	ErrSame        = errors.New("the old and the new text are identical")
	ErrEmptyOld    = errors.New("the text to replace is empty")
	ErrPlaceholder = errors.New("the text leaves out code")
	ErrExists      = errors.New("the file exists")
	ErrBinary      = errors.New("the file is binary, not text")
	ErrNoChange    = errors.New("this session made no change to it that can be taken back")
	ErrNoSession   = errors.New("no such running command")
	ErrNoStdin     = errors.New("its standard input is closed")
	ErrBadPatch    = errors.New("not a patch")
)

// MatchError is a replacement that did not find its one place. It wraps ErrAbsent or ErrAmbiguous, and ErrSame,
// ErrEmptyOld or ErrPlaceholder for one of several edits.
type MatchError struct {
	Path      string
	Index     int      // which of several edits, 0-based; -1 when there is one
	Count     int      // places found, of ErrAmbiguous
	Lines     []int    // their 1-based first lines, at most five
	Texts     []string // those lines
	Near      string   // the file's own lines closest to what was looked for, verbatim; "" when nothing is close
	NearAt    int      // 1-based line of Near
	Likeness  float64  // how close, 1 is equal
	Differs   string   // the first line that differs, when blanks are the cause: with visible white space
	Sent      string   // what was sent in its place, likewise
	DiffersAt int      // its 1-based line
	Short     bool     // blanks are all that differs, but there is too little text to be looked for so loosely
	Unread    bool     // the file was not read in this session
	Stale     bool     // it changed since it was read
	Failures  int      // edits of this file in a row that did not match, this one included
	Content   string   // the whole text of the file as a model sees it
	Err       error
}

func (e *MatchError) Error() string {
	var b strings.Builder
	b.WriteString("edit")
	if e.Path != "" {
		b.WriteString(" " + e.Path)
	}
	if e.Index >= 0 {
		fmt.Fprintf(&b, " [%d]", e.Index)
	}
	fmt.Fprintf(&b, ": %v", e.Err)
	switch {
	case errors.Is(e.Err, ErrAmbiguous):
		fmt.Fprintf(&b, ": %d of them, ", e.Count)
		for i, n := range e.Lines {
			if i > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, "line %d", n)
		}
		if e.Count > len(e.Lines) {
			b.WriteString(", …")
		}
	case e.Differs != "":
		fmt.Fprintf(&b, ": line %d is %s, sent was %s", e.DiffersAt, e.Differs, e.Sent)
	case e.Near != "":
		first, _, _ := strings.Cut(e.Near, "\n")
		fmt.Fprintf(&b, "; closest is line %d: %s", e.NearAt, strconv.Quote(cutRunes(first, 160)))
	}
	return b.String()
}

func (e *MatchError) Unwrap() error { return e.Err }

// PlaceholderError is new or old text with a line that stands for code left out. It wraps ErrPlaceholder.
type PlaceholderError struct {
	Text string // the line
}

func (e *PlaceholderError) Error() string { return fmt.Sprintf("%v: %q", ErrPlaceholder, e.Text) }
func (e *PlaceholderError) Unwrap() error { return ErrPlaceholder }

// EditsError is a list of edits of which none was made. Its Errs are a *MatchError for each that failed, or one
// *OverlapError.
type EditsError struct {
	Path string
	Errs []error
}

func (e *EditsError) Error() string   { return errors.Join(e.Errs...).Error() }
func (e *EditsError) Unwrap() []error { return e.Errs }

// OverlapError is two edits of one list that want the same text.
type OverlapError struct {
	Path string
	A, B int // their indexes, 0-based
}

func (e *OverlapError) Error() string {
	return fmt.Sprintf("edit %s: edits [%d] and [%d] overlap", e.Path, e.A, e.B)
}

// MissingError is a file or folder that is not there. It wraps fs.ErrNotExist.
type MissingError struct {
	What    string // "read", "edit", "list", …
	Path    string
	Similar []string // at most three names from the same folder, or of the same name elsewhere near; absolute
	Dir     string   // where relative paths start, absolute
}

func (e *MissingError) Error() string {
	text := fmt.Sprintf("%s %s: no such file or folder", e.What, e.Path)
	if len(e.Similar) > 0 {
		text += "; there is " + strings.Join(e.Similar, ", ")
	}
	return text
}
func (e *MissingError) Unwrap() error { return fs.ErrNotExist }

// IsDirectoryError is a folder where a file is needed.
type IsDirectoryError struct{ What, Path string }

func (e *IsDirectoryError) Error() string {
	return fmt.Sprintf("%s %s: it is a folder, not a file; list it instead", e.What, e.Path)
}

// NotDirectoryError is a file where a folder is needed.
type NotDirectoryError struct{ What, Path string }

func (e *NotDirectoryError) Error() string {
	return fmt.Sprintf("%s %s: it is a file, not a folder", e.What, e.Path)
}

// BinaryError is a file that is not text. It wraps ErrBinary.
type BinaryError struct {
	Path string
	Kind string // media type, as far as its first bytes tell
	Size int
}

func (e *BinaryError) Error() string {
	return fmt.Sprintf("read %s: %v: %s, %d bytes", e.Path, ErrBinary, e.Kind, e.Size)
}
func (e *BinaryError) Unwrap() error { return ErrBinary }

// OffsetError is a reading that starts behind the end of a file.
type OffsetError struct {
	Path          string
	Offset, Total int // lines
}

func (e *OffsetError) Error() string {
	return fmt.Sprintf("read %s: line %d is past the end, the file has %d lines", e.Path, e.Offset, e.Total)
}

// LineError is a line that a file does not have.
type LineError struct {
	What, Path  string
	Line, Total int // Total is the last line there is
}

func (e *LineError) Error() string {
	return fmt.Sprintf("%s %s: there is no line %d, the file has %d", e.What, e.Path, e.Line, e.Total)
}

// StaleError is a file that somebody else changed since this session did.
type StaleError struct{ What, Path string }

func (e *StaleError) Error() string {
	return fmt.Sprintf("%s %s: the file was changed by somebody else since; read it, and edit what is to change", e.What, e.Path)
}

// TooLargeError is a reading that would fill too much of a model's window.
type TooLargeError struct {
	Path         string
	Tokens, Most int // an estimate, by Tokens
	First, Last  int // the lines that were asked for
	Total        int // lines in the file
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("read %s: lines %d-%d of %d are about %d tokens, more than the %d that fit; read a part of them, or search", e.Path, e.First, e.Last, e.Total, e.Tokens, e.Most)
}

// PatternError is a search pattern that cannot be read.
type PatternError struct {
	Pattern string
	At      string // the part that is wrong, "" when unknown
	Why     string
	Instead string // the nearest pattern that can be read, "" when there is none
}

func (e *PatternError) Error() string {
	text := fmt.Sprintf("pattern %s: ", quoted(e.Pattern))
	if e.At != "" {
		text += fmt.Sprintf("at %s: ", quoted(e.At))
	}
	text += e.Why
	if e.Instead != "" {
		text += fmt.Sprintf("; the nearest that works is %s", quoted(e.Instead))
	}
	return text
}

// quoted puts a pattern between marks without doubling its backslashes: it is to be copied as it stands.
func quoted(pattern string) string {
	if strings.ContainsAny(pattern, "\"`") || strings.ContainsFunc(pattern, unicode.IsControl) {
		return strconv.Quote(pattern)
	}
	return `"` + pattern + `"`
}

// DeniedError is an action the policy does not allow.
type DeniedError struct {
	What  string // "write", "read", "run"
	Path  string
	Place sandbox.Place
	Why   string
}

// Outside reports whether the path is none of the workspace's, rather than one that is kept from being written.
func (e *DeniedError) Outside() bool { return e.Place == sandbox.Outside }

func (e *DeniedError) Error() string { return fmt.Sprintf("%s %s: %s", e.What, e.Path, e.Why) }
