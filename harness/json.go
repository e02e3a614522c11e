package harness

import (
	"bytes"
	"encoding/json"
)

// JSON is a value as it goes to a model: without HTML escaping and without a final line break. A value that has no JSON
// is a broken invariant.
func JSON(v any) []byte { return quoted(v) }

// IndentedJSON is the same with two blanks for each level.
func IndentedJSON(v any) string {
	var b bytes.Buffer
	if err := json.Indent(&b, quoted(v), "", "  "); err != nil {
		panic("harness: indent JSON: " + err.Error())
	}
	return b.String()
}
