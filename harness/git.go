package harness

import (
	"cmp"
	"fmt"
	"strings"
)

// GitBlock is the snapshot of the repository that several families find at the end of their instructions: the branch,
// the branch that pull requests go to, the user, the changes and the last commits. "" outside a repository. A template
// writes {{.GitBlock}}.
func (e Environment) GitBlock() string {
	if !e.Git {
		return ""
	}
	var b strings.Builder
	b.WriteString("gitStatus: how things stood at the beginning; later changes are not in it.\n\n")
	fmt.Fprintf(&b, "Current branch: %s\n\n", cmp.Or(e.Branch, "(detached)"))
	fmt.Fprintf(&b, "Main branch (pull requests go there): %s\n\n", cmp.Or(e.Status.Main, "main"))
	if e.Status.User != "" {
		fmt.Fprintf(&b, "Git user: %s\n\n", e.Status.User)
	}
	b.WriteString("Status:\n")
	if len(e.Status.Changes) == 0 {
		b.WriteString("(clean)")
	}
	b.WriteString(strings.Join(e.Status.Changes, "\n"))
	if e.Status.More > 0 {
		fmt.Fprintf(&b, "\n(%d more)", e.Status.More)
	}
	if len(e.Status.Commits) > 0 {
		b.WriteString("\n\nRecent commits:\n" + strings.Join(e.Status.Commits, "\n"))
	}
	return b.String()
}
