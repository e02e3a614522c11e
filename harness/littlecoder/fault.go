package littlecoder

import (
	"errors"
	"fmt"

	"interpreter/harness"
	"interpreter/sandbox/action"
)

// fault words a failure and adds the card of the tool that failed.
func fault(tool string, err error) string {
	var (
		guard   *action.GuardError
		match   *action.MatchError
		bad     *harness.ArgumentsError
		missing *action.MissingError
	)
	words := harness.TerseEditsFault(tool, err)
	switch {
	case errors.As(err, &guard):
		return sayGuard(guard)
	case errors.As(err, &bad) && bad.Raw != "":
		return words + cardJSON
	case errors.As(err, &match) && errors.Is(err, action.ErrAbsent) && match.Failures < 2: // later the file itself is shown
		return words + cardEdit
	case errors.As(err, &missing) && missing.What != "edit" && len(missing.Similar) == 0:
		return missing.Error() + cardPath
	}
	return words
}

// The cards: advice on one thing, given where it went wrong, so that the prompt stays short and never changes. What a
// failed command wants said, the loop says for every harness.
const (
	cardEdit = "\n[Card edit: read the lines first, then copy two or three of them exactly, with their indentation, as oldText. Never write oldText from memory.]"
	cardJSON = "\n[Card arguments: one JSON object. Inside a text write a line break as \\n and a quote as \\\". Send long texts in several smaller calls.]"
	cardPath = "\n[Card paths: find the file with glob, such as **/NAME, and use the path it shows.]"
)

// sayGuard refuses to replace a file, with an edit of it that only wants its texts.
func sayGuard(e *action.GuardError) string {
	why := fmt.Sprintf("%s already exists (%d lines). Use edit:", e.Path, e.Lines)
	switch e.Why {
	case action.GuardShrinks:
		why = fmt.Sprintf("%s has %d lines and would have %d. If the rest is meant to go, make the same call again. Otherwise use edit:", e.Path, e.Lines, e.New)
	case action.GuardPlaceholder:
		why = fmt.Sprintf("%s has %d lines, and the line %q of the new content stands for some that are left out. Use edit:", e.Path, e.Lines, e.Text)
	}
	return why + "\nedit {\"path\":" + string(harness.JSON(e.Path)) + `,"edits":[{"oldText":"<exact lines now in the file>","newText":"<replacement>"}]}`
}
