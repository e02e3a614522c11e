package harness

import (
	"fmt"
	"strings"

	"interpreter/sandbox/action"
)

// Page is a fetched page as a note and a body; the note of one that did not come begins with ERROR.
func Page(f action.Fetched) (note, body string) {
	body = strings.TrimRight(f.Text, "\n")
	switch {
	case f.Moved != "":
		return fmt.Sprintf("ERROR: %s has moved to another host, %s, and was not followed; fetch that address if you want it", f.URL, f.Moved), ""
	case body == "":
		return "The page has no text.", ""
	case f.Cut:
		return fmt.Sprintf("Shown: the first %d bytes of the page, which has %d.", len(f.Text), f.Bytes), body
	}
	return "Shown: the whole page, as text.", body
}
