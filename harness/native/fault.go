package native

import (
	"errors"

	"interpreter/harness"
	"interpreter/sandbox/action"
)

func fault(tool string, err error) string {
	switch {
	case errors.Is(err, action.ErrNoStdin):
		return "write_stdin: this command takes no input; one started with tty=true does"
	case errors.Is(err, action.ErrNoSession):
		return "write_stdin: unknown session; it has ended and was collected, or the number is wrong"
	case tool == "apply_patch" && !anyOf(err):
		return "Exit code: 1\nWall time: 0 seconds\nOutput:\n" + harness.Plain(tool, err)
	}
	return harness.Plain(tool, err)
}

// anyOf reports errors that have words of their own; others of a patch are failures while it was being written.
func anyOf(err error) bool {
	var (
		patch    *action.PatchError
		denied   *action.DeniedError
		declined *harness.DeclinedError
		bad      *harness.ArgumentsError
		aborted  *harness.AbortedError
	)
	return errors.As(err, &patch) || errors.As(err, &denied) || errors.As(err, &declined) || errors.As(err, &bad) || errors.As(err, &aborted)
}
