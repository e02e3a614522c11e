package exec

import "interpreter/sandbox/action"

// What people see goes through one of these: clean for a model's text and what commands print, strict for what must not
// deceive, single for that on one line.
func clean(text string) string  { return action.Plain(text) }
func strict(text string) string { return action.Shown(text) }
func single(text string) string { return action.ShownLine(text) }

// Harmless is strict for what is printed beside a run: names, errors and lists that servers and files tell.
func Harmless(text string) string { return action.Shown(text) }
