// Package sweagent is the harness of SWE-agent for models without tool calls: a discussion and one command in a fenced
// block, a shell that remembers, an editor that is called like a program, and a submission that is looked at twice. It
// refuses programs that wait for a person to type, and no others.
package sweagent

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"

	"interpreter/harness"
	"interpreter/local/chat"
	"interpreter/sandbox/action"
)

//go:embed *.md
var prose embed.FS

// Harness is the value.
var Harness = harness.Harness{
	Name:   "swe-agent",
	About:  "models trained on SWE-agent's trajectories, and any that cannot call tools: a discussion and one command a reply; only by name",
	Prose:  prose,
	Tools:  rows(),
	Text:   true,
	Join:   true,
	Tries:  3,
	Open:   open,
	Wrap:   wrap,
	Decode: decode,
	Fault:  fault,
}

// rows are the tools of the original's other variant. They are not offered; commands become calls of them.
func rows() []harness.Tool {
	all := []harness.Tool{
		harness.Choice("bash", bash).Hide(),
		harness.Choice("str_replace_editor", edit).Hide(),
		harness.Choice("submit", submit).Hide(),
	}
	for i, t := range all {
		plan := t.Plan
		all[i].Plan = func(args json.RawMessage) (harness.Step, error) {
			step, err := plan(args)
			return begun(step), err
		}
	}
	return all
}

// open begins the first message of the user: where the project is, how to reply, what there is, what the project asks
// for. The task follows.
func open(env harness.Environment) []chat.Message {
	var b strings.Builder
	fmt.Fprintf(&b, "<uploaded_files>\n%s\n</uploaded_files>\n\n%s", env.Dir, page("instance.md"))
	if env.OS == "darwin" {
		b.WriteString("\n- This is macOS: sed -i needs an empty argument behind it, sed -i '' 's/old/new/' FILE.")
	}
	if env.Sandbox == "read-only" {
		b.WriteString("\n- Files cannot be written in this session: look and answer, change nothing.")
	}
	for _, d := range env.Docs {
		fmt.Fprintf(&b, "\n\n<instructions path=%q>\n%s\n</instructions>", d.Path, strings.TrimSpace(d.Text))
	}
	return []chat.Message{{Role: chat.User, Text: b.String()}}
}

// wrap puts the first task between its marks, with the way of working behind it. What is said later goes as it is.
func wrap(_ harness.Environment, t harness.Turn, prompt string) string {
	if t.Number != 1 {
		return prompt
	}
	return "<pr_description>\n" + strings.TrimSpace(prompt) + "\n</pr_description>\n\n" + page("steps.md")
}

func page(name string) string {
	text, err := fs.ReadFile(prose, name)
	if err != nil {
		panic("swe-agent: " + err.Error()) // it is in the program
	}
	return strings.TrimSpace(string(text))
}

// observation is what a command came to, as the model reads it.
func observation(text string) string {
	if strings.TrimSpace(text) == "" {
		return "The command ran and printed nothing."
	}
	return "OBSERVATION:\n" + strings.TrimSuffix(text, "\n")
}

// noted puts remarks behind a text, a line in brackets each.
func noted(text string, notes ...string) string {
	for _, n := range notes {
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		text += "[" + n + "]"
	}
	return text
}

// notesOf are the remarks of a command.
func notesOf(r action.Ran) []string {
	var all []string
	for _, d := range r.Denied {
		all = append(all, "refused by the sandbox: "+d)
	}
	return append(all, r.Notes...)
}
