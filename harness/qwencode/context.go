package qwencode

import (
	"fmt"
	"path"
	"strings"

	"interpreter/harness"
	"interpreter/local/chat"
)

// acknowledged is the assistant's constant answer to the startup message.
const acknowledged = "Understood. I know where I am; what shall I do?"

// open tells where the session takes place, in a message pair that never changes.
func open(env harness.Environment) []chat.Message {
	var b strings.Builder
	b.WriteString("This is the setting of the session, for orientation; it needs no answer.\n")
	fmt.Fprintf(&b, "Today is %s.\n", env.Date.Format("Monday, January 2, 2006"))
	fmt.Fprintf(&b, "Operating system: %s\n", env.OS)
	fmt.Fprintf(&b, "Working directory: %s\n", env.Dir)
	if len(env.Listing) > 0 {
		fmt.Fprintf(&b, "Its folders and files, as they were at the start:\n\n%s", tree(env.Dir, env.Listing))
	}
	return []chat.Message{
		{Role: chat.User, Text: strings.TrimRight(b.String(), "\n")},
		{Role: chat.Assistant, Text: acknowledged},
	}
}

// tree draws a listing, which comes breadth first, as a tree.
func tree(root string, entries []harness.Entry) string {
	below := map[string][]harness.Entry{}
	for _, e := range entries {
		below[path.Dir(e.Path)] = append(below[path.Dir(e.Path)], e)
	}
	var b strings.Builder
	b.WriteString(root + "/\n")
	var draw func(folder, indent string)
	draw = func(folder, indent string) {
		for i, e := range below[folder] {
			branch, deeper := "├───", "│   "
			if i == len(below[folder])-1 {
				branch, deeper = "└───", "    "
			}
			name := path.Base(e.Path)
			if e.Dir {
				name += "/"
			}
			if e.Skipped {
				name += "..."
			}
			b.WriteString(indent + branch + name + "\n")
			if e.Dir {
				draw(e.Path, indent+deeper)
			}
		}
	}
	draw(".", "")
	return b.String()
}
