package harness

import (
	"errors"
	"fmt"
	"strings"

	"interpreter/sandbox/action"
)

// TerseFault words arguments line by line, as small models read them best; the rest is plain.
func TerseFault(tool string, err error) string {
	var (
		bad     *ArgumentsError
		unknown *UnknownToolError
		overlap *action.OverlapError
		missing *action.MissingError
	)
	switch {
	case errors.As(err, &bad):
		return TerseArguments(bad)
	case errors.As(err, &unknown):
		text := "Tool " + unknown.Name + " not found. Tools: " + strings.Join(unknown.Known, ", ") + "."
		if len(unknown.Suggest) > 0 {
			text += " Closest: " + strings.Join(unknown.Suggest, ", ") + "."
		}
		return text
	case errors.As(err, &overlap):
		return fmt.Sprintf("%s: edits[%d] and edits[%d] overlap. Nothing was changed. Make one edit of the two.", overlap.Path, overlap.A, overlap.B)
	case errors.As(err, &missing) && missing.What == "edit":
		return missing.Error() + ". Nothing was changed; write makes a new file."
	case errors.As(err, &missing) && len(missing.Similar) == 0:
		return missing.Error() + "; look for it by its name before you try again"
	}
	return Plain(tool, err)
}

// TerseArguments lists what is wrong, what is expected, and what came.
func TerseArguments(e *ArgumentsError) string {
	var b strings.Builder
	b.WriteString("Invalid arguments for " + e.Tool + ":\n")
	for _, p := range e.Problems {
		if p.Field == "" {
			b.WriteString("  - " + p.What + "\n")
		} else {
			b.WriteString("  - " + p.Field + ": " + p.What + "\n")
		}
	}
	b.WriteString("Expected: " + strings.Join(e.Expected, ", "))
	if received := e.Indented(500); received != "" {
		b.WriteString("\nReceived:\n" + received)
	}
	return b.String()
}
