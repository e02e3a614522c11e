package action

import (
	"context"
	"errors"
	"fmt"

	"interpreter/sandbox"
)

// Host is what an action needs from the conversation around it; agent implements it.
type Host interface {
	// Ask puts questions to a person and returns the answers by question id.
	Ask(ctx context.Context, questions []Question) (map[string]string, error)
}

// Workspace is where actions happen. Its fields are set once, before the first action; the zero value of each
// unexported one is ready. Actions of one turn that only read may use it from several goroutines.
type Workspace struct {
	Dir   string // working directory, real and absolute; relative paths of actions start here
	Box   sandbox.Box
	Env   []string // whole environment of child processes
	Shell string   // absolute path of the shell that runs scripts
	Spill string   // folder that keeps outputs too long for a model; "" keeps none
	Host  Host     // nil when nobody can be asked

	state
}

// state is what a workspace remembers of a session: files seen, commands running, the plan.
type state struct{}

// Question is one thing to ask a person.
type Question struct {
	ID      string
	Header  string
	Text    string
	Options []string
	Several bool
}

// What code may test of a failed action.
var (
	ErrAbsent    = errors.New("the text is not in the file")
	ErrAmbiguous = errors.New("the text is in several places")
	ErrSame      = errors.New("the old and the new text are the same")
	ErrEmptyOld  = errors.New("the text to replace is empty")
	ErrExists    = errors.New("the file exists")
	ErrBinary    = errors.New("the file is not text")
	ErrNoSession = errors.New("no such running command")
	ErrNoStdin   = errors.New("its standard input is closed")
	ErrBadPatch  = errors.New("not a patch")
)

// MatchError is a replacement that did not find its one place. It wraps ErrAbsent or ErrAmbiguous.
type MatchError struct {
	Path    string
	Index   int    // which of several edits, 0-based; -1 when there is one
	Count   int    // places found, of ErrAmbiguous
	Lines   []int  // their 1-based first lines, at most five
	Near    string // the file's own lines closest to what was looked for, verbatim; "" when nothing is close
	NearAt  int    // 1-based line of Near
	Differs string // the first line that differs, when blanks are the cause: with visible white space
	Err     error
}

func (e *MatchError) Error() string { return fmt.Sprintf("edit %s: %v", e.Path, e.Err) }
func (e *MatchError) Unwrap() error { return e.Err }

// DeniedError is an action the policy does not allow.
type DeniedError struct {
	What  string // "write", "read", "run"
	Path  string
	Place sandbox.Place
	Why   string
}

func (e *DeniedError) Error() string { return fmt.Sprintf("%s %s: %s", e.What, e.Path, e.Why) }
