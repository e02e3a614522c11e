package sandbox

import (
	"context"
	"fmt"
	"os"
	"strings"
)

// RefusedError says that commands cannot be confined as asked. Nothing runs then; there is no weaker way that is
// taken silently.
type RefusedError struct {
	Mode   Mode
	Tried  []Attempt
	Remedy string // what a person can do
}

// Attempt is a back end that did not work.
type Attempt struct {
	Backend string
	What    string // the step that failed
	Err     error
	Cause   string // the likely reason, "" when none is known
}

func (a Attempt) String() string {
	text := a.Backend + ": "
	if a.What != "" {
		text += a.What + ": "
	}
	text += a.Err.Error()
	if a.Cause != "" {
		text += " (" + a.Cause + ")"
	}
	return text
}

func (e *RefusedError) Error() string {
	var lines []string
	for _, a := range e.Tried {
		lines = append(lines, a.String())
	}
	return fmt.Sprintf("confine commands in mode %s: %s", e.Mode, strings.Join(lines, "; "))
}

// Unwrap gives the system's reasons.
func (e *RefusedError) Unwrap() []error {
	var errs []error
	for _, a := range e.Tried {
		errs = append(errs, a.Err)
	}
	return errs
}

// RunForeground runs a command with standard files of the caller's and tells how it ended. Ending ctx ends the command
// and all it started.
func RunForeground(ctx context.Context, b Box, c Command, in, out, errs *os.File) (Exit, error) {
	c.Stdio = []*os.File{in, out, errs}
	p, err := b.Start(ctx, c)
	if err != nil {
		return Exit{}, err
	}
	<-p.Done()
	return p.Exit(), nil
}
