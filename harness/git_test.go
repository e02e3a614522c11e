package harness

import (
	"strings"
	"testing"
)

func TestGitBlock(t *testing.T) {
	env := Environment{Git: true, Branch: "feat/x", Status: GitStatus{Main: "trunk", User: "Dana", Changes: []string{" M run.go", "?? n.txt"}, More: 3, Commits: []string{"1a2b3c4 add"}}}
	want := "Current branch: feat/x\n\nMain branch (pull requests go there): trunk\n\nGit user: Dana\n\nStatus:\n M run.go\n?? n.txt\n(3 more)\n\nRecent commits:\n1a2b3c4 add"
	if got := env.GitBlock(); !strings.HasPrefix(got, "gitStatus: ") || !strings.HasSuffix(got, want) {
		t.Errorf("the block is\n%s", got)
	}
	if got := (Environment{Git: true}).GitBlock(); !strings.HasSuffix(got, "Current branch: (detached)\n\nMain branch (pull requests go there): main\n\nStatus:\n(clean)") {
		t.Errorf("a new repository is\n%s", got)
	}
	if got := (Environment{}).GitBlock(); got != "" {
		t.Errorf("no repository is %q", got)
	}
}

func TestKindOf(t *testing.T) {
	for path, want := range map[string]string{
		"/home/ada/.config/AGENTS.md":       "every project",
		"/home/ada/habits/AGENTS.md":        "of the project",
		"/home/ada/habits/cmd/AGENTS.md":    "of the project",
		"/home/ada/habits/CLAUDE.local.md":  "for this project",
		"/home/ada/habits/cmd2/AGENTS.md":   "every project",
		"/home/ada/habits/cmd/x/CLAUDE.md":  "every project",
		"/home/ada/habits/cmd/AGENTS.md.md": "of the project",
	} {
		if got := kindOf("/home/ada/habits/cmd", path); !strings.Contains(got, want) {
			t.Errorf("%s is %q, want …%s…", path, got, want)
		}
	}
}
