package sweagent

import (
	"errors"
	"fmt"
	"strings"

	"interpreter/harness"
	"interpreter/harness/textcall"
	"interpreter/sandbox/action"
)

// skeleton is the shape of a reply.
const skeleton = "A reply is one discussion and one command in a fenced block:\n\nDISCUSSION\nWhat you know so far, and why this command comes next.\n\n" + fence + "\nthe command\n" + fence

// fault words a reply that was sent back, and a command that failed.
func fault(tool string, err error) string {
	var (
		count    *CountError
		unknown  *harness.UnknownToolError
		bad      *harness.ArgumentsError
		refused  *harness.RefusedError
		denied   *action.DeniedError
		declined *harness.DeclinedError
		aborted  *harness.AbortedError
	)
	switch {
	case errors.As(err, &count) && count.Open:
		return "The reply was not run: exactly one command block expected, and its closing fence is missing.\n\n" + skeleton
	case errors.As(err, &count) && count.Count > 1:
		return fmt.Sprintf("The reply was not run: exactly one command block expected, got %d. Put what belongs together into one block, and leave the rest for later replies.\n\n%s", count.Count, skeleton)
	case errors.As(err, &count):
		return fmt.Sprintf("Nothing was run: exactly one command block expected, got %d. When the work is done, the command is submit.\n\n%s", count.Count, skeleton)
	case errors.Is(err, errCut), errors.Is(err, textcall.ErrCut):
		return "The reply was cut off at its length limit, so nothing of it was run. Reply again, shorter: less discussion, and a long file in parts, created first and then inserted into.\n\n" + skeleton
	case errors.Is(err, textcall.ErrText):
		return "The reply was not run: the call in it cannot be told from text.\n\n" + skeleton
	case errors.As(err, &unknown):
		return fmt.Sprintf("The reply was not run: there is no command %s. There are bash, str_replace_editor and submit.\n\n%s", unknown.Name, skeleton)
	case errors.As(err, &bad):
		return "The command was not run: " + problems(bad) + " Expected: " + strings.Join(bad.Expected, ", ") + "."
	case errors.As(err, &refused):
		return refused.Words
	case errors.As(err, &denied):
		return observation(fmt.Sprintf("Denied by the sandbox: %s %s, because %s. Nothing was done. Work inside the directories that may be written, or say in the discussion what is needed.", denied.What, denied.Path, denied.Why))
	case errors.As(err, &declined):
		return observation(harness.PlainDeclined(declined))
	case errors.As(err, &aborted):
		return observation(fmt.Sprintf("The user interrupted the command after %.1f seconds. What it did until then is done.", aborted.After.Seconds()))
	}
	return observation(failed(tool, err))
}

func problems(e *harness.ArgumentsError) string {
	var b strings.Builder
	for _, p := range e.Problems {
		b.WriteString(strings.TrimSpace(p.Field+" "+p.What) + ". ")
	}
	return strings.TrimSpace(b.String())
}

// failed words an edit or a look that came to nothing.
func failed(tool string, err error) string {
	var (
		match   *action.MatchError
		missing *action.MissingError
		row     *action.LineError
		offset  *action.OffsetError
		stale   *action.StaleError
	)
	switch {
	case errors.As(err, &match) && errors.Is(match.Err, action.ErrAmbiguous):
		return fmt.Sprintf("Nothing was changed: old_str is in %d places of %s%s. Add lines around the one you mean until it is there only once.", match.Count, match.Path, harness.Places(match))
	case errors.As(err, &match) && errors.Is(match.Err, action.ErrAbsent):
		return fmt.Sprintf("Nothing was changed: old_str is not in %s as it was given.%s", match.Path, harness.Nearest(match))
	case errors.Is(err, action.ErrSame):
		return "Nothing was changed: old_str and new_str are the same."
	case errors.Is(err, action.ErrExists):
		return "Nothing was written: the file exists already. Change it with str_replace or insert, or write it anew with the shell if all of it is to go."
	case errors.Is(err, action.ErrEmptyOld):
		return "Nothing was changed: old_str is empty. To add lines use insert."
	case errors.As(err, &missing):
		text := missing.Path + " does not exist."
		if len(missing.Similar) > 0 {
			text += " There is " + strings.Join(missing.Similar, ", ") + "."
		}
		return text
	case errors.As(err, &row):
		return fmt.Sprintf("Nothing was changed: insert_line is %d, and %s has lines 1 to %d; 0 is before the first.", row.Line, row.Path, row.Total)
	case errors.As(err, &offset):
		return fmt.Sprintf("view_range begins with line %d, and %s has %d lines.", offset.Offset, offset.Path, offset.Total)
	case errors.Is(err, action.ErrNoChange):
		return "There is no change of this file that could be taken back."
	case errors.As(err, &stale):
		return "Nothing was taken back: " + stale.Path + " was changed in another way since. Edit what is to change."
	}
	return harness.Plain(tool, err)
}
