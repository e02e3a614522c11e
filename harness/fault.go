package harness

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"interpreter/sandbox/action"
)

// RefusedError is a call that a row itself turns down; its words go to the model as they are.
type RefusedError struct{ Words string }

func (e *RefusedError) Error() string { return e.Words }

// AbortedError is a call that a person interrupted.
type AbortedError struct{ After time.Duration }

func (e *AbortedError) Error() string {
	return fmt.Sprintf("aborted by user after %.1fs", e.After.Seconds())
}

func (e *AbortedError) Unwrap() error { return context.Canceled }

// DeclinedError is an action that needed a yes and did not get it.
type DeclinedError struct {
	Title string // of the action
	Asked bool   // a person said no; else the approval policy forbids asking
	Never bool   // nobody's yes could allow it: a rule forbids it
	Why   string // it needed one, a clause; "" when that is not to be told
	Note  string // what the person wants instead
}

func (e *DeclinedError) Error() string {
	if e.Asked {
		return e.Title + ": declined by the user"
	}
	if e.Never {
		return e.Title + ": forbidden by a rule"
	}
	return e.Title + ": needs an approval, and the policy forbids asking for one"
}

// Say words a failed call for the model: the harness's Fault, or the plain way. tool may be what the model wrote.
func (h Harness) Say(tool string, err error) string {
	var bad *ArgumentsError
	alias := errors.As(err, &bad) && bad.Called != ""
	if alias {
		tool = bad.Tool
	}
	words := ""
	if h.Fault != nil {
		words = h.Fault(h.canonical(tool), err)
	} else {
		words = Plain(tool, err)
	}
	if alias {
		words = strings.TrimSuffix(words, "\n") + fmt.Sprintf("\n[there is no tool %s here; %s does this]", bad.Called, bad.Tool)
	}
	return words
}

// Plain words any failure: what happened, the fact needed for the next call, one thing to do.
func Plain(tool string, err error) string {
	var (
		unknown  *UnknownToolError
		bad      *ArgumentsError
		refused  *RefusedError
		list     *action.EditsError
		patch    *action.PatchError
		match    *action.MatchError
		denied   *action.DeniedError
		declined *DeclinedError
		aborted  *AbortedError
	)
	switch {
	case errors.As(err, &unknown):
		return PlainUnknown(unknown)
	case errors.As(err, &bad):
		return PlainArguments(bad)
	case errors.As(err, &refused):
		return refused.Words
	case errors.As(err, &list):
		return PlainEdits(list)
	case errors.As(err, &patch):
		return PlainPatch(patch)
	case errors.As(err, &match):
		return PlainMatch(match)
	case errors.Is(err, action.ErrPlaceholder):
		return err.Error() + ". Nothing was changed. Write every line out, or change fewer lines."
	case errors.Is(err, action.ErrSame), errors.Is(err, action.ErrEmptyOld):
		return err.Error() + ". Nothing was changed."
	case errors.As(err, &denied):
		return fmt.Sprintf("Denied by the sandbox policy: %s %s (%s). Nothing was done. %s", denied.What, denied.Path, denied.Why, Instead(denied))
	case errors.As(err, &declined):
		return PlainDeclined(declined)
	case errors.As(err, &aborted) && commands(tool):
		return fmt.Sprintf("Wall time: %.1f seconds\naborted by user", aborted.After.Seconds())
	case errors.As(err, &aborted):
		return aborted.Error()
	case errors.Is(err, action.ErrNobody):
		return action.ErrNobody.Error() + ". Decide by yourself and say what you assumed."
	case errors.Is(err, context.Canceled):
		return "aborted by user"
	case errors.Is(err, context.DeadlineExceeded):
		return "timed out"
	}
	return err.Error()
}

// Instead says what to do about something that the sandbox does not allow.
func Instead(e *action.DeniedError) string {
	if e.What == "fetch" || e.What == string(action.Connect) {
		return "Do without it, or tell the user what is needed."
	}
	return "Work inside the writable folders, or tell the user what is needed."
}

// commands reports whether a tool runs commands or talks to one that runs.
func commands(tool string) bool {
	role := roleOf(tool, nil)
	return role == "shell" || role == "input"
}

// PlainUnknown lists the tools there are.
func PlainUnknown(e *UnknownToolError) string {
	text := "unsupported call: " + e.Name + ". Tools: " + strings.Join(e.Known, ", ") + "."
	if len(e.Suggest) > 0 {
		text += " Closest: " + strings.Join(e.Suggest, ", ") + "."
	}
	return text
}

// PlainArguments says what was wrong, what was expected and what came.
func PlainArguments(e *ArgumentsError) string {
	text := "could not parse the " + e.Error() + ".\nexpected: " + strings.Join(e.Expected, ", ")
	switch names := e.Names(); {
	case e.Raw != "":
	case len(names) == 0:
		text += "\nreceived: nothing"
	default:
		text += "\nreceived: " + strings.Join(names, ", ")
	}
	return text
}

// PlainDeclined says who said no, and what they want instead.
func PlainDeclined(e *DeclinedError) string {
	why := ""
	if e.Why != "" {
		why = ": " + strings.TrimSuffix(e.Why, ".")
	}
	switch {
	case e.Asked:
	case e.Never:
		return "Rejected: \"" + e.Title + "\" is forbidden here, and no approval changes that" + why + ". It was not done; find another way or report it."
	default:
		return "Rejected: \"" + e.Title + "\" needs an approval and nobody may be asked" + why + ". It was not done; find another way or report it."
	}
	text := "The user declined: " + e.Title + ". It was not done."
	if e.Note != "" {
		return text + " They say: " + e.Note
	}
	return text + " Do not try it another way; ask or continue with something else."
}
