package harness

import (
	"fmt"
	"path/filepath"
	"strings"

	"interpreter/local/chat"
	"interpreter/sandbox/action"
)

// Reminded marks a text as one that comes from the client and not from the user, as several families know it.
func Reminded(text string) string {
	return "<system-reminder>\n" + strings.Trim(text, "\n") + "\n</system-reminder>"
}

// Begun is Open for the families whose first user message begins with a reminder: project instructions, then the date.
func Begun(env Environment) []chat.Message {
	var b strings.Builder
	b.WriteString("To know before you begin:\n")
	if len(env.Docs) > 0 {
		b.WriteString("# claudeMd\nWhat the user and the project lay down. Your own habits come second.\n\n")
		for _, d := range env.Docs {
			fmt.Fprintf(&b, "From %s (%s):\n\n%s\n\n", d.Path, kindOf(env.Dir, d.Path), strings.TrimSpace(d.Text))
		}
	}
	fmt.Fprintf(&b, "# currentDate\nToday's date is %s.\n\n", env.Date.Format("2006-01-02"))
	b.WriteString("      Use what helps with the task; none of it needs an answer.")
	return []chat.Message{{Role: chat.User, Text: Reminded(b.String())}}
}

// Dated is Wrap for the same families: a prompt of another day than the session began on says so before it begins.
func Dated(env Environment, t Turn, prompt string) string {
	const day = "2006-01-02"
	if t.Now.IsZero() {
		return prompt
	}
	now := t.Now.In(env.Date.Location()).Format(day)
	if now == env.Date.Format(day) {
		return prompt
	}
	return Reminded("Another day has begun: it is "+now+" now. This needs no answer.") + "\n\n" + prompt
}

// kindOf tells whose instructions a file holds.
func kindOf(dir, path string) string {
	switch folder := filepath.ToSlash(filepath.Dir(path)); {
	case strings.Contains(filepath.Base(path), ".local."):
		return "the user's, for this project"
	case strings.HasPrefix(filepath.ToSlash(dir)+"/", strings.TrimSuffix(folder, "/")+"/"):
		return "of the project"
	}
	return "the user's, for every project"
}

// TodoReminder brings back a list of steps that was not touched for a while; writer is the tool that changes it.
func TodoReminder(plan []action.PlanItem, writer string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "The list of steps has rested for a while. Where one helps, bring it up to date with %s; where not, work on. The user need not hear of this.", writer)
	if len(plan) > 0 {
		b.WriteString("\n\nIt reads:\n\n[")
		for i, item := range plan {
			if i > 0 {
				b.WriteString("\n")
			}
			fmt.Fprintf(&b, "%d. [%s] %s", i+1, item.Status, item.Text)
		}
		b.WriteString("]")
	}
	return Reminded(b.String())
}

// ChangedReminder tells of files that others changed since the model read them.
func ChangedReminder(paths []string) string {
	return Reminded("Somebody else has written to " + strings.Join(paths, ", ") +
		" since you read it. Keep what they did, and read again what you need of it.")
}
