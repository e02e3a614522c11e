package exec

import (
	"strings"

	"interpreter/agent/event"
	"interpreter/sandbox/action"
)

// What people see goes through one of these: clean for a model's text and what commands print, strict for what must not
// deceive, single for that on one line.
func clean(text string) string  { return action.Plain(text) }
func strict(text string) string { return action.Shown(text) }
func single(text string) string { return action.ShownLine(text) }

// whole is strict for what is done: it spells out what strict leaves out, because a command could hide a part of itself in
// an escape sequence.
func whole(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = event.Shown(strings.TrimSuffix(line, "\r"))
	}
	return strings.Join(lines, "\n")
}

// Harmless is strict for what is printed beside a run: names, errors and lists that servers and files tell.
func Harmless(text string) string { return action.Shown(text) }
