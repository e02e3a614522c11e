package minimal

import (
	"errors"
	"strings"

	"interpreter/harness"
)

// fault words arguments line by line, as small models read them best; the rest is plain.
func fault(tool string, err error) string {
	var bad *harness.ArgumentsError
	if !errors.As(err, &bad) {
		return harness.Plain(tool, err)
	}
	var b strings.Builder
	b.WriteString("Invalid arguments for " + bad.Tool + ":\n")
	for _, p := range bad.Problems {
		if p.Field == "" {
			b.WriteString("  - " + p.What + "\n")
		} else {
			b.WriteString("  - " + p.Field + ": " + p.What + "\n")
		}
	}
	b.WriteString("Expected: " + strings.Join(bad.Expected, ", "))
	if received := bad.Indented(500); received != "" {
		b.WriteString("\nReceived:\n" + received)
	}
	return b.String()
}
