// Package minisweagent is the harness of mini-swe-agent: one tool, a shell without memory, and the way of working in the
// first message. Variant is the same for models that cannot call tools.
package minisweagent

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"interpreter/harness"
	"interpreter/local/chat"
	"interpreter/sandbox/action"
)

//go:embed *.md text/*.md
var prose embed.FS

// Harness is the value.
var Harness = harness.Harness{
	Name:   "mini-swe-agent",
	About:  "models trained to work with a shell alone; generalists that call one tool well",
	Prose:  prose,
	Tools:  []harness.Tool{harness.Choice("bash", bash(sayJSON))},
	Join:   true,
	Tries:  tries,
	Open:   func(env harness.Environment) []chat.Message { return open(env, "reply.md") },
	Wrap:   wrap,
	Nudge:  nudge,
	Repeat: repeated(func(r result) string { return harness.IndentedJSON(r) }),
	Fault:  fault,
}

// tries is how many replies in a row may hold no command that can be run.
const tries = 3

// submission is what a command prints first to end the task.
const submission = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"

// open begins the first message of the user: how to work, where, and what the project asks for. The task follows.
func open(env harness.Environment, reply string) []chat.Message {
	var b strings.Builder
	b.WriteString(page("workflow.md") + "\n\n## Rules\n\n" + page(reply) + "\n" + page("rules.md"))
	if env.OS == "darwin" {
		b.WriteString("\n- This is macOS, where sed -i takes a suffix, '' for none: sed -i '' 's/a/b/' FILE.")
	}
	if env.Sandbox == "read-only" {
		b.WriteString("\n- Files cannot be written in this session: look and answer, change nothing.")
	}
	fmt.Fprintf(&b, "\n\n<system_information>\n%s\nShell: %s\nWorking directory: %s\n</system_information>", strings.TrimSpace(env.OS+" "+env.OSVersion), env.Shell, env.Dir)
	for _, d := range env.Docs {
		fmt.Fprintf(&b, "\n\n<instructions path=%q>\n%s\n</instructions>", d.Path, strings.TrimSpace(d.Text))
	}
	return []chat.Message{{Role: chat.User, Text: b.String()}}
}

func page(name string) string {
	text, err := fs.ReadFile(prose, name)
	if err != nil {
		panic("mini-swe-agent: " + err.Error()) // it is in the program
	}
	return strings.TrimSpace(string(text))
}

// wrap marks what is to be done.
func wrap(_ harness.Environment, _ harness.Turn, prompt string) string {
	return "<task>\n" + strings.TrimSpace(prompt) + "\n</task>"
}

// nudge sends back a reply without a command. One that ends the work in words is taken as its end, as long as something
// was run.
func nudge(p harness.Pause) string {
	switch {
	case p.Finish == chat.CutShort:
		return complaint("The reply was cut off at its length limit before it came to a command. Be brief, and write long files in parts.")
	case p.Calls > 0 && p.Why == "":
		return ""
	}
	return complaint("The reply has no call of bash.")
}

// complaint is what is said about a reply that cannot be used.
func complaint(what string) string {
	return "<error>\n" + strings.TrimSpace(what) + "\n</error>\n\n" +
		"Give your reasoning and at least one call of the tool bash with its argument command. When the task is done, run this alone: echo " + submission
}

// repeated words a command that was not run once more, as a result of its own.
func repeated(say func(result) string) func(harness.Repeated, string) string {
	return func(r harness.Repeated, plain string) string {
		if r.Ran {
			return ""
		}
		return say(result{Code: -1, Output: new(string), Exception: strings.TrimSpace(plain)})
	}
}

func fault(tool string, err error) string {
	if what, ok := misformed(err); ok {
		return complaint(what)
	}
	return harness.IndentedJSON(result{Code: -1, Output: new(string), Exception: failure(tool, err)})
}

// misformed words a call that is none.
func misformed(err error) (what string, ok bool) {
	var (
		unknown *harness.UnknownToolError
		bad     *harness.ArgumentsError
	)
	switch {
	case errors.As(err, &unknown):
		return fmt.Sprintf("Unknown tool %s: bash is the only one.", unknown.Name), true
	case errors.As(err, &bad):
		return "The arguments of bash cannot be used. " + strings.TrimSpace(problems(bad)), true
	}
	return "", false
}

func problems(e *harness.ArgumentsError) string {
	var b strings.Builder
	for _, p := range e.Problems {
		b.WriteString(strings.TrimSpace(p.Field+" "+p.What) + ". ")
	}
	return b.String()
}

// failure words an action that was not carried out. Of an interruption the lines that other families get are one.
func failure(tool string, err error) string {
	var aborted *harness.AbortedError
	if errors.As(err, &aborted) {
		return aborted.Error()
	}
	return harness.Plain(tool, err)
}

// ends reports whether a command submitted the work: the first line that is not blank says so, and it ended well. What
// it printed below is the last word; without that what the model said last is.
func ends(o action.Outcome) (final string, ended bool) {
	r, ok := o.(action.Ran)
	if !ok || r.Exit.Code != 0 || r.Session != 0 {
		return "", false
	}
	first, rest, _ := strings.Cut(strings.TrimLeft(r.Output, " \t\r\n"), "\n")
	if strings.TrimSpace(first) != submission {
		return "", false
	}
	return strings.TrimSpace(rest), true
}
