package opencode

import (
	"errors"
	"fmt"
	"strings"

	"interpreter/harness"
	"interpreter/sandbox/action"
)

func fault(tool string, err error) string {
	var (
		unknown *harness.UnknownToolError
		bad     *harness.ArgumentsError
		missing *action.MissingError
		offset  *action.OffsetError
		binary  *action.BinaryError
		match   *action.MatchError
		aborted *harness.AbortedError
	)
	switch {
	case errors.As(err, &unknown):
		return sayUnknown(unknown)
	case errors.As(err, &bad):
		return sayInvalid(bad)
	case errors.As(err, &match) && errors.Is(err, action.ErrAbsent):
		return fmt.Sprintf("oldString is nowhere in %s. Nothing was changed.%s%s", match.Path, standing(match), harness.Nearest(match))
	case errors.As(err, &match) && errors.Is(err, action.ErrAmbiguous):
		return fmt.Sprintf("oldString is in %d places of %s%s. Nothing was changed. Add lines around the one you mean, or set replaceAll.", match.Count, match.Path, harness.Places(match))
	case errors.Is(err, action.ErrSame):
		return "oldString and newString are identical. Nothing was changed."
	case errors.Is(err, action.ErrExists):
		return "oldString is empty, which creates a file, but the file exists. Nothing was changed. Give the text to replace, or use write to replace all of it."
	case errors.As(err, &missing):
		return sayMissing(missing)
	case errors.As(err, &offset):
		return fmt.Sprintf("There is nothing at offset %d: %s has %s.", offset.Offset, offset.Path, count(offset.Total, "line", "lines"))
	case errors.As(err, &binary):
		return fmt.Sprintf("%s is no text (%s, %d bytes). Use a command that understands it.", binary.Path, binary.Kind, binary.Size)
	case errors.As(err, &aborted) && tool == "bash":
		return metadata(strings.Split(harness.Plain(tool, err), "\n")...)
	}
	return harness.Plain(tool, err)
}

// standing says what the model may not know of a file it tried to change.
func standing(e *action.MatchError) string {
	switch {
	case e.Stale:
		return " The file has changed since you read it."
	case e.Unread && (e.Content == "" || len(e.Content) > 4000):
		return " You have not seen this file so far."
	}
	return ""
}

func sayUnknown(e *harness.UnknownToolError) string {
	text := fmt.Sprintf("There is no tool %s here. Tools: %s.", e.Name, strings.Join(e.Known, ", "))
	if len(e.Suggest) > 0 {
		text += " Closest: " + strings.Join(e.Suggest, ", ") + "."
	}
	return text
}

// sayInvalid names the tool, what does not fit, and what would.
func sayInvalid(e *harness.ArgumentsError) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Invalid arguments for %s; it did not run:\n", e.Tool)
	for _, p := range e.Problems {
		if p.Field == "" {
			b.WriteString("- " + p.What + "\n")
		} else {
			b.WriteString("- " + p.Field + " " + p.What + "\n")
		}
	}
	b.WriteString("Call it again with: " + strings.Join(e.Expected, ", "))
	return b.String()
}

func sayMissing(e *action.MissingError) string {
	text := "There is no file " + e.Path
	if e.What == "edit" {
		text += ". Nothing was changed; to create it, use write"
	}
	if len(e.Similar) > 0 {
		return text + "\n\nNames like it:\n" + strings.Join(e.Similar, "\n")
	}
	if e.What == "edit" {
		return text
	}
	return text + ". Look for its name with glob."
}

// repeated words what other products call the doom loop. What was said about the call stays: it may hold facts.
func repeated(r harness.Repeated, plain string) string {
	if r.Ran || plain == "" {
		return ""
	}
	return fmt.Sprintf("Doom loop: %s was called %d times in a row with identical input.\n", r.Tool, r.Row) + strings.TrimLeft(plain, "\n")
}
