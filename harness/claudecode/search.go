package claudecode

import (
	"fmt"
	"path/filepath"
	"strings"

	"interpreter/harness"
	"interpreter/sandbox/action"
)

// filesMost is how many files a Glob names.
const filesMost = 100

func glob(p harness.GlobParams) action.Find {
	return action.Find{Pattern: p.Pattern, Path: p.Path, Limit: filesMost, Newest: true}
}

func sayFiles(f action.Found) string {
	if len(f.Hits) == 0 {
		return "No files found"
	}
	lines := make([]string, 0, len(f.Hits)+1)
	for _, h := range f.Hits {
		lines = append(lines, h.Path)
	}
	if f.More != 0 {
		lines = append(lines, fmt.Sprintf("(only the first %d files; a narrower pattern or path shows others)", len(f.Hits)))
	}
	return strings.Join(lines, "\n")
}

func grep(p harness.GrepParams) (harness.Step, error) {
	return harness.Do(p.Action(), func(f action.Found) string { return p.Words(f, absolute) }), nil
}

// absolute spells files as the other tools want them.
func absolute(path string) string { return path }

type listParams struct {
	Path   string   `json:"path,omitempty"`
	Ignore []string `json:"ignore,omitempty"`
}

func list(p listParams) action.List { return action.List{Path: p.Path, Ignore: p.Ignore, Limit: 500} }

func sayEntries(f action.Found) string {
	lines := []string{f.Where + "/"}
	for _, h := range f.Hits {
		name := "  - " + filepath.Base(h.Path)
		if h.Dir {
			name += "/"
		}
		lines = append(lines, name)
	}
	if f.More != 0 {
		lines = append(lines, fmt.Sprintf("(only the first %d entries are listed)", len(f.Hits)))
	}
	return strings.Join(lines, "\n")
}
