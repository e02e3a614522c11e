// Package claudecodebare is the harness of DeepSeek models and of small contexts: three tools of the claude-code
// surface and next to no instructions. Tools of the larger surface that such models call from habit are understood
// without being offered.
package claudecodebare

import (
	"embed"
	"fmt"
	"path/filepath"
	"strings"

	"interpreter/harness"
	"interpreter/sandbox/action"
)

//go:embed *.md
var prose embed.FS

// Harness is the value.
var Harness = harness.Harness{
	Name:  "claude-code-bare",
	About: "DeepSeek, small contexts, models that handle few tools well",
	Suits: harness.Suits{
		Models:        []string{"*deepseek*"},
		Vendors:       []string{"deepseek"},
		Addresses:     []string{"api.deepseek.com"},
		Architectures: []string{"deepseek"},
		Templates:     []string{"<｜tool▁calls▁begin｜>"},
	},
	Prose:    prose,
	Tools:    tools,
	Parallel: true,
	Git:      true,
	Messages: true,
	Join:     true,
	Open:     harness.Begun,
	Wrap:     harness.Dated,
	Remind:   remind,
	Ended:    harness.TaskEnded,
	Digest:   harness.SummaryDigest,
	Retain:   harness.Retained(read),
	Fault:    fault,
}

var tools = []harness.Tool{
	harness.Row("Bash", bash, harness.BashWords),
	harness.Choice("Edit", harness.EditParams.Step),
	harness.Choice("Read", read),
	harness.Choice("Write", harness.WriteParams.Step).Asked(),
	harness.Row("Glob", glob, sayFiles).Hide(),
	harness.Choice("Grep", grep).Hide(),
	harness.Row("LS", list, sayEntries).Hide(),
	harness.Choice("TaskOutput", harness.TaskOutput).Hide(),
	harness.Choice("TaskStop", harness.TaskStop).Hide(),
}

type bashParams struct {
	harness.BashParams
	Outside bool `json:"dangerouslyDisableSandbox,omitempty" hidden:"yes"`
}

// outputMost bounds what a command may say, in bytes: head and tail stay, and lines from between that tell what went
// wrong.
const outputMost = 30_000

func bash(p bashParams) action.Run {
	run := p.Action(outputMost)
	run.Escalate = p.Outside
	return run
}

func read(p harness.ReadParams) (harness.Step, error) {
	return p.Step(p.Action(), harness.ByteTokens, harness.ReadWords, func(err error) string { return fault("Read", err) }), nil
}

func remind(p harness.Progress) string {
	if len(p.Touched) == 0 {
		return ""
	}
	return harness.ChangedReminder(p.Touched)
}

func fault(tool string, err error) string { return harness.FileFault(tool, err, "tool_use_error") }

func glob(p harness.GlobParams) action.Find {
	return action.Find{Pattern: p.Pattern, Path: p.Path, Limit: 100, Newest: true}
}

func sayFiles(f action.Found) string {
	if len(f.Hits) == 0 {
		return "No files found"
	}
	lines := make([]string, 0, len(f.Hits))
	for _, h := range f.Hits {
		lines = append(lines, h.Path)
	}
	return strings.Join(lines, "\n") + more(f)
}

func more(f action.Found) string {
	if f.More == 0 {
		return ""
	}
	return fmt.Sprintf("\n(only the first %d are listed; narrow the search)", len(f.Hits))
}

func grep(p harness.GrepParams) (harness.Step, error) {
	same := func(path string) string { return path }
	return harness.Do(p.Action(), func(f action.Found) string { return p.Words(f, same) }), nil
}

type listParams struct {
	Path   string   `json:"path,omitempty"`
	Ignore []string `json:"ignore,omitempty"`
}

func list(p listParams) action.List { return action.List{Path: p.Path, Ignore: p.Ignore, Limit: 500} }

func sayEntries(f action.Found) string {
	if len(f.Hits) == 0 {
		return f.Where + " is empty"
	}
	lines := make([]string, 0, len(f.Hits))
	for _, h := range f.Hits {
		name := filepath.Base(h.Path)
		if h.Dir {
			name += "/"
		}
		lines = append(lines, name)
	}
	return strings.Join(lines, "\n") + more(f)
}
