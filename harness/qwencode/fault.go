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
		offset  *action.OffsetError
	)
	switch {
	case errors.As(err, &unknown):
		return sayUnknown(unknown)
	case errors.As(err, &match) && errors.Is(err, action.ErrAbsent):
		return fmt.Sprintf("old_string is nowhere in %s. Nothing was changed.%s", match.Path, harness.Nearest(match))
	case errors.As(err, &match) && errors.Is(err, action.ErrAmbiguous):
		return fmt.Sprintf("old_string stands in %d places of %s%s. Nothing was changed. Add lines around the one you mean, or set replace_all.", match.Count, match.Path, harness.Places(match))
	case errors.Is(err, action.ErrSame):
		return "old_string and new_string do not differ. Nothing was changed."
	case errors.Is(err, action.ErrExists):
		return "An empty old_string makes a file, but this one is there. Give the text to replace, or use write_file to replace all of it."
	case errors.Is(err, action.ErrNoSession):
		return "There is no such background task; it has ended, or its name is wrong."
	case errors.As(err, &offset): // these models count from 0
		return fmt.Sprintf("Nothing is at offset %d of %s: it has %d lines, so the last offset is %d.", offset.Offset-1, offset.Path, offset.Total, offset.Total-1)
	case errors.As(err, &missing):
		return sayMissing(tool, missing)
	case errors.Is(err, fs.ErrNotExist):
		return "There is no such file: " + err.Error()
	}
	return harness.Plain(tool, err)
}

func sayUnknown(e *harness.UnknownToolError) string {
	text := fmt.Sprintf("There is no tool \"%s\". Names must be spelled exactly as offered.", e.Name)
	if len(e.Suggest) > 0 {
		text += fmt.Sprintf(" Closest: \"%s\".", strings.Join(e.Suggest, "\", \""))
	}
	return text + " Offered: " + strings.Join(e.Known, ", ") + "."
}

func sayMissing(tool string, e *action.MissingError) string {
	what := "file"
	if e.What == "list" {
		what = "folder"
	}
	text := "There is no " + what + " " + e.Path + "."
	if tool == "edit" || tool == "replace" {
		text += " Nothing was changed. To create it, use an empty old_string."
	}
	if len(e.Similar) > 0 {
		return text + " The nearest names: " + strings.Join(e.Similar, ", ") + "."
	}
	switch e.What {
	case "edit":
		return text
	case "list":
		return text + " List the folder above it."
	}
	return text + " Search for it with glob."
}
