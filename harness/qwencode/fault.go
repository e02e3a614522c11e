package qwencode

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"interpreter/harness"
	"interpreter/sandbox/action"
)

func fault(tool string, err error) string {
	var (
		unknown *harness.UnknownToolError
		missing *action.MissingError
		match   *action.MatchError
	)
	switch {
	case errors.As(err, &unknown):
		return sayUnknown(unknown)
	case errors.As(err, &match) && errors.Is(err, action.ErrAbsent):
		return fmt.Sprintf("Edit failed, 0 occurrences found for old_string in %s. Nothing was changed.%s", match.Path, harness.Nearest(match))
	case errors.As(err, &match) && errors.Is(err, action.ErrAmbiguous):
		return fmt.Sprintf("Edit failed, expected 1 occurrence but found %d for old_string in %s%s. Nothing was changed. Add lines around the one you mean, or set replace_all.", match.Count, match.Path, harness.Places(match))
	case errors.Is(err, action.ErrSame):
		return "No changes to apply: old_string and new_string are identical. Nothing was changed."
	case errors.Is(err, action.ErrExists):
		return "Edit failed: old_string is empty, which creates a file, but the file exists. Give the text to replace, or use write_file to replace all of it."
	case errors.Is(err, action.ErrNoSession):
		return "There is no such background task; it has ended, or its name is wrong."
	case errors.As(err, &missing):
		return sayMissing(tool, missing)
	case errors.Is(err, fs.ErrNotExist):
		return "File not found: " + err.Error()
	}
	return harness.Plain(tool, err)
}

func sayUnknown(e *harness.UnknownToolError) string {
	text := fmt.Sprintf("Tool \"%s\" not found. Use exact names of registered tools.", e.Name)
	if len(e.Suggest) > 0 {
		text += fmt.Sprintf(" Did you mean \"%s\"?", strings.Join(e.Suggest, "\", \""))
	}
	return text + " Registered: " + strings.Join(e.Known, ", ") + "."
}

func sayMissing(tool string, e *action.MissingError) string {
	text := "File not found: " + e.Path + "."
	if tool == "edit" || tool == "replace" {
		text += " Nothing was changed. To create it, use an empty old_string."
	}
	if len(e.Similar) > 0 {
		text += " There is: " + strings.Join(e.Similar, ", ") + "."
	}
	return text
}
