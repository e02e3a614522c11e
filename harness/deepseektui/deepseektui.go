// Package deepseektui is the harness of DeepSeek models that were tuned in the DeepSeek terminal program: its names and
// shapes, in the subset of tools that runs here. It keeps what the model is told of a turn in the prompt of that turn.
package deepseektui

import (
	"embed"
	"fmt"
	"strings"

	"interpreter/harness"
	"interpreter/local/chat"
	"interpreter/sandbox/action"
)

//go:embed *.md
var prose embed.FS

// Harness is the value.
var Harness = harness.Harness{
	Name:     "deepseek-tui",
	About:    "DeepSeek V3.2, V4 and R models; only on request",
	Prose:    prose,
	Tools:    tools,
	Parallel: true,
	Wrap:     wrap,
	Shape:    shape,
	Repeat:   repeat,
	Ended:    sayEnded,
	Fault:    fault,
}

var tools = []harness.Tool{
	harness.Choice("apply_patch", patch).If(harness.Large),
	harness.Row("checklist_add", addItem, sayChecklist).Hide(),
	harness.Row("checklist_list", listItems, sayChecklist).Hide(),
	harness.Row("checklist_update", updateItem, sayChecklist).Hide(),
	harness.Choice("checklist_write", checklist),
	harness.Choice("edit_file", edit),
	harness.Choice("exec_interact", interact).Hide(),
	harness.Choice("exec_shell", shell),
	harness.Choice("exec_shell_cancel", cancel).If(harness.Background),
	harness.Choice("exec_shell_interact", interact).If(harness.Background),
	harness.Choice("exec_shell_wait", wait),
	harness.Choice("exec_wait", wait).Hide(),
	harness.Choice("fetch_url", fetch).If(harness.Fetch),
	harness.Choice("file_search", search),
	harness.Choice("git_blame", gitBlame).If(harness.Large),
	harness.Choice("git_diff", gitDiff).If(harness.Large),
	harness.Choice("git_log", gitLog).If(harness.Large),
	harness.Choice("git_show", gitShow).If(harness.Large),
	harness.Choice("git_status", gitStatus).If(harness.Large),
	harness.Choice("grep_files", grep),
	harness.Row("list_dir", list, sayEntries),
	harness.Choice("read_file", read),
	harness.Choice("request_user_input", ask).If(harness.Interactive),
	harness.Choice("task_gate_run", gate).Hide(),
	harness.Choice("task_shell_start", startTask).Hide(),
	harness.Choice("task_shell_wait", waitTask).Hide(),
	harness.Row("todo_add", addItem, sayChecklist).Hide(),
	harness.Row("todo_list", listItems, sayChecklist).Hide(),
	harness.Row("todo_update", updateItem, sayChecklist).Hide(),
	harness.Choice("todo_write", checklist).Hide(),
	harness.Choice("write_file", write),
}

// budget bounds one result, in bytes.
const budget = 12_000

// omitted stands where a call came without thoughts. These models were trained to find thoughts at every call.
const omitted = "(reasoning omitted)"

// shape looks at each message by itself, so that what was sent stays as it was.
func shape(_ harness.Environment, req *chat.Request) {
	for i := range req.Messages {
		if m := &req.Messages[i]; m.Role == chat.Assistant && len(m.Calls) > 0 && m.Thinking == "" {
			m.Thinking = omitted
		}
	}
}

// wrap puts the facts of the turn before the prompt, where they stay.
func wrap(_ harness.Environment, t harness.Turn, prompt string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<turn_meta>\nDate: %s\n", t.Now.Format("2006-01-02"))
	if len(t.Paths) > 0 {
		b.WriteString("Working set:\n")
		for _, path := range t.Paths[:min(len(t.Paths), 8)] {
			b.WriteString("- " + path + "\n")
		}
	}
	return b.String() + "</turn_meta>\n\n" + prompt
}

// repeat tells that a call was blocked. The facts in the plain words stay.
func repeat(r harness.Repeated, plain string) string {
	if r.Ran || r.Row < 3 {
		return ""
	}
	text := fmt.Sprintf("Error: identical call blocked: %s was called %d times in a row with the same arguments. Change the arguments, use another tool, or finish with what is known.", r.Tool, r.Row)
	if plain = strings.TrimSpace(plain); plain != "" {
		text += "\n" + plain
	}
	return text
}

func sayEnded(r action.Ran) string {
	ended := r
	ended.Session = 0
	text := fmt.Sprintf("<task_completed task_id=%q status=%q exit_code=\"%d\">\nCommand: %s\n", harness.JobID(kind, r.Session), harness.JobState(ended), r.Exit.Code, r.Script)
	if out := strings.TrimRight(capped(r.Output, 2000), "\n"); out != "" {
		text += "Output:\n" + out + "\n"
	}
	if r.Full != "" {
		text += "All output: " + r.Full + "\n"
	}
	return text + "</task_completed>"
}

// capped shortens a text, keeping two thirds from its start, and says by how much.
func capped(text string, most int) string {
	short, cut := harness.Clip(text, most, 0, 2./3)
	if cut.Bytes == 0 {
		return text
	}
	return fmt.Sprintf("%s[TRUNCATED] %d of %d characters are left out here\n%s", short[:cut.At], cut.Bytes, len(text), short[cut.At:])
}
