package harness

import (
	"strings"

	"interpreter/sandbox/action"
)

// Apart takes the & from the end of a command that is put into the background as a whole. A shell that ends with its
// command would take what it started along: whoever runs it must let it go on.
func Apart(command string) (script string, ok bool) {
	command = strings.TrimSpace(command)
	if script, whole, _ := action.InBackground(command); whole {
		return script, true
	}
	return command, false
}
