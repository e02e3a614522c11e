package action

import (
	"fmt"
	"strings"
)

// PatchErrorKind says what is wrong with a patch.
type PatchErrorKind string

// The kinds, in the order in which they can happen.
const (
	BadBegin    PatchErrorKind = "begin"   // the first line is not the begin marker
	BadEnd      PatchErrorKind = "end"     // the end marker is missing, or something follows it
	BadHeader   PatchErrorKind = "header"  // a line that is no file header
	EmptyUpdate PatchErrorKind = "update"  // an update of a file changes nothing
	EmptyBlock  PatchErrorKind = "block"   // a block has no lines
	BadLine     PatchErrorKind = "line"    // a line of a block has no prefix and is not in the file
	NoAnchor    PatchErrorKind = "anchor"  // a block should begin here
	NoHunks     PatchErrorKind = "none"    // the patch touches no file
	Twice       PatchErrorKind = "twice"   // two operations on one file
	Unreadable  PatchErrorKind = "file"    // a file cannot be read; Err says why
	NoContext   PatchErrorKind = "context" // an anchor is not in the file
	NoLines     PatchErrorKind = "lines"   // the old lines are not in the file
	BadHunk     PatchErrorKind = "hunk"    // a line of a unified diff that is in no hunk
	BinaryPart  PatchErrorKind = "binary"  // a unified diff of a binary file
	OnePath     PatchErrorKind = "path"    // a path was given besides a diff of several files
)

// PatchError is a patch that cannot be read or does not fit. Nothing was written. It wraps ErrBadPatch when the text
// is at fault, ErrAbsent when it does not fit the file, else Err.
type PatchError struct {
	Kind   PatchErrorKind
	Path   string // the file, when it is about one
	Line   int    // 1-based line of the patch
	Block  string // the line, anchor or old lines it is about
	Near   string // at most 20 lines of the file where Block fits best
	NearAt int    // their 1-based first line
	Want   string // the first line that differs, as the patch has it
	Have   string // as the file has it
	HaveAt int    // its 1-based line; 0 when the file has no such line
	Hunk   int    // which block of the file does not fit, 1-based
	Hunks  int    // of how many
	Hint   int    // the line at which the patch expects it; 0 when it does not say
	Err    error
}

var patchWhy = map[PatchErrorKind]string{
	BadBegin:    "the first line must be '" + beginMark + "'",
	BadEnd:      "the last line must be '" + endMark + "'",
	BadHeader:   "expected '" + addMark + "PATH', '" + deleteMark + "PATH' or '" + updateMark + "PATH'",
	EmptyUpdate: "the update has no changes",
	EmptyBlock:  "the block has no lines",
	BadLine:     "a line must start with ' ', '-' or '+'",
	NoAnchor:    "expected a line with '@@'",
	NoHunks:     "no file is changed",
	Twice:       "several operations on one file",
	NoContext:   "context not found",
	NoLines:     "expected lines not found",
	BadHunk:     "expected '--- PATH' and '+++ PATH', or a hunk that begins with '@@ -LINE,COUNT +LINE,COUNT @@'",
	BinaryPart:  "a binary file cannot be patched",
	OnePath:     "a path beside the diff needs a diff of one file",
}

func (e *PatchError) Error() string {
	var b strings.Builder
	b.WriteString("patch")
	if e.Line > 0 {
		fmt.Fprintf(&b, " line %d", e.Line)
	}
	if e.Path != "" {
		b.WriteString(": " + e.Path)
	}
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	} else {
		b.WriteString(": " + patchWhy[e.Kind])
	}
	switch {
	case e.HaveAt > 0:
		fmt.Fprintf(&b, ": line %d of the file is %q, the patch has %q", e.HaveAt, e.Have, e.Want)
	case e.Block != "":
		first, _, _ := strings.Cut(e.Block, "\n")
		fmt.Fprintf(&b, ": %q", cutRunes(first, 160))
	}
	return b.String()
}

func (e *PatchError) Unwrap() error {
	switch e.Kind {
	case NoContext, NoLines:
		return ErrAbsent
	case Unreadable:
		return e.Err
	}
	return ErrBadPatch
}
