package harness

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"interpreter/sandbox/action"
)

// ErrorFirst words a failed call for the families that read the reason in a tag of the system, then the details. edit
// names the parameter with the text to replace, all the one that replaces every place, read the tool that shows a file.
func ErrorFirst(tool string, err error, edit, all, read string) string {
	reason, details := failing(tool, err, edit, all, read)
	return strings.TrimRight("<system>ERROR: "+reason+"</system>\n"+details, "\n")
}

func failing(tool string, err error, edit, all, read string) (reason, details string) {
	var (
		unknown  *UnknownToolError
		bad      *ArgumentsError
		refused  *RefusedError
		match    *action.MatchError
		list     *action.EditsError
		missing  *action.MissingError
		folder   *action.IsDirectoryError
		binary   *action.BinaryError
		offset   *action.OffsetError
		denied   *action.DeniedError
		declined *DeclinedError
		aborted  *AbortedError
		status   *action.StatusError
	)
	switch {
	case errors.As(err, &unknown):
		details = "The tools are: " + strings.Join(unknown.Known, ", ") + "."
		if len(unknown.Suggest) > 0 {
			details = "Did you mean " + strings.Join(unknown.Suggest, ", ") + "? " + details
		}
		return fmt.Sprintf("Tool %q not found", unknown.Name), details
	case errors.As(err, &bad):
		return "the arguments of " + bad.Tool + " do not fit its schema", badArguments(bad)
	case errors.As(err, &refused):
		return "not done", refused.Words
	case errors.As(err, &list):
		return "the edits do not match " + list.Path, PlainEdits(list)
	case errors.As(err, &match) && errors.Is(err, action.ErrAbsent):
		return fmt.Sprintf("%s was not found in %s", edit, match.Path), "Nothing was changed. What you remember of the file may be out of date: read it again with " + read + " if this does not show enough." + Nearest(match)
	case errors.As(err, &match) && errors.Is(err, action.ErrAmbiguous):
		return fmt.Sprintf("%s is in %d places of %s", edit, match.Count, match.Path), fmt.Sprintf("Nothing was changed.%s Add lines around the one you mean, or set %s.", found(match), all)
	case errors.Is(err, action.ErrSame):
		return "the old and the new text are identical", "Nothing was changed. If the change is there already, go on."
	case errors.Is(err, action.ErrEmptyOld):
		return edit + " is empty", "Nothing was changed. Give the text to replace; a new file is written whole."
	case errors.As(err, &missing):
		if len(missing.Similar) > 0 {
			details = "There is: " + strings.Join(missing.Similar, ", ") + "."
		}
		return missing.Path + " does not exist", strings.TrimSpace(details + homeOf(missing))
	case errors.As(err, &folder):
		return folder.Path + " is a folder, not a file", "List what is in it, or name a file."
	case errors.As(err, &binary):
		return binary.Path + " is not text", fmt.Sprintf("It is %s, %d bytes. Use a program that understands this kind of file.", binary.Kind, binary.Size)
	case errors.As(err, &offset):
		return fmt.Sprintf("line %d is past the end of %s", offset.Offset, offset.Path), fmt.Sprintf("It has %d lines.", offset.Total)
	case errors.Is(err, action.ErrNoSession):
		return "no such task runs", "It has ended and its end was told, or the id is wrong."
	case errors.As(err, &status):
		return fmt.Sprintf("the server answered %d", status.Status), cmp.Or(status.Text, "There is no text with it. The address was "+status.URL+".")
	case errors.Is(err, action.ErrNotText):
		return "the page is not text", err.Error()
	case errors.As(err, &denied):
		return fmt.Sprintf("denied by the sandbox: %s %s", denied.What, denied.Path), fmt.Sprintf("Nothing was done, because %s. %s", denied.Why, Instead(denied))
	case errors.As(err, &declined):
		return "not permitted", PlainDeclined(declined)
	case errors.As(err, &aborted):
		return "interrupted by the user", fmt.Sprintf("It was stopped after %.1f seconds; what it did until then is done.", aborted.After.Seconds())
	}
	return "the call failed", Plain(tool, err)
}

// badArguments names each argument that does not fit, what was expected and what came.
func badArguments(e *ArgumentsError) string {
	var b strings.Builder
	for _, p := range e.Problems {
		b.WriteString("- " + strings.TrimSpace(p.Field+" "+p.What) + "\n")
	}
	b.WriteString("expected: " + strings.Join(e.Expected, ", "))
	if names := e.Names(); len(names) > 0 {
		b.WriteString("\nreceived: " + strings.Join(names, ", "))
	}
	return b.String()
}

func found(e *action.MatchError) string {
	if places := Places(e); places != "" {
		return " Found at " + strings.TrimSuffix(strings.TrimPrefix(places, " ("), ")") + "."
	}
	return ""
}
