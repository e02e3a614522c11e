// Package terminus2 is the harness of Terminus 2: one JSON object a reply, with keys that are typed into a real terminal.
// Programs that want a person at the keys are welcome here. It runs nothing of a reply that it cannot read.
package terminus2

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"strings"

	"interpreter/harness"
	"interpreter/local/chat"
)

//go:embed *.md
var prose embed.FS

// Harness is the value.
var Harness = harness.Harness{
	Name:   "terminus-2",
	About:  "models trained or measured on terminal benchmarks, and any that cannot call tools: keys for a terminal, as JSON; only by name",
	Prose:  prose,
	Tools:  rows(),
	Text:   true,
	Join:   true,
	Tries:  3,
	Open:   open,
	Wrap:   wrap,
	Shape:  alone,
	Decode: decode,
	Fault:  fault,
}

// rows are what replies become calls of. They are not offered.
func rows() []harness.Tool { return []harness.Tool{harness.Choice("terminal", terminal).Hide()} }

// open begins the first message of the user: the terminal, the form of a reply, what the project asks for. The task
// follows.
func open(env harness.Environment) []chat.Message {
	var b strings.Builder
	fmt.Fprintf(&b, "The terminal has 160 columns and 40 rows; %s runs in it, in %s. %s", cmp.Or(env.Shell, "a shell"), env.Dir, page("replies.md"))
	if env.OS == "darwin" {
		b.WriteString("\n- This is macOS: sed -i needs an empty argument behind it, sed -i '' 's/old/new/' FILE.")
	}
	if env.Sandbox == "read-only" {
		b.WriteString("\n- Files cannot be written in this session: look and answer, change nothing.")
	}
	b.WriteString("\n\n" + page("end.md"))
	for _, d := range env.Docs {
		fmt.Fprintf(&b, "\n\n<instructions path=%q>\n%s\n</instructions>", d.Path, strings.TrimSpace(d.Text))
	}
	return []chat.Message{{Role: chat.User, Text: b.String()}}
}

func page(name string) string {
	text, err := fs.ReadFile(prose, name)
	if err != nil {
		panic("terminus-2: " + err.Error()) // it is in the program
	}
	return strings.TrimSpace(string(text))
}

// wrap says how the terminal is when the session begins.
func wrap(_ harness.Environment, t harness.Turn, prompt string) string {
	if t.Number != 1 {
		return prompt
	}
	return "## Task\n\n" + strings.TrimSpace(prompt) + "\n\n## Terminal\n\nIt was opened just now, and shows the prompt of the shell."
}

// alone makes one message of the instructions and the first words of the user: this family knows no system message.
func alone(_ harness.Environment, req *chat.Request) {
	all := req.Messages
	if len(all) == 0 || all[0].Role != chat.System {
		return
	}
	first := all[0]
	first.Role = chat.User
	if all = all[1:]; len(all) > 0 && all[0].Role == chat.User {
		first.Text += "\n\n" + all[0].Text
		first.Images = all[0].Images
		all = all[1:]
	}
	req.Messages = append([]chat.Message{first}, all...)
}
