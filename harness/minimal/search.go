package minimal

import (
	"fmt"
	"path/filepath"
	"strings"

	"interpreter/harness"
	"interpreter/sandbox/action"
)

type grepParams struct {
	Pattern string  `json:"pattern"`
	Path    string  `json:"path,omitempty"`
	Glob    string  `json:"glob,omitempty"`
	Fold    bool    `json:"ignoreCase,omitempty" default:"false"`
	Literal bool    `json:"literal,omitempty" default:"false"`
	Context float64 `json:"context,omitempty" default:"0"`
	Limit   float64 `json:"limit,omitempty" default:"100"`
}

func grep(p grepParams) action.Grep {
	return action.Grep{Pattern: p.Pattern, Path: p.Path, Glob: p.Glob, Fold: p.Fold, Literal: p.Literal, Context: max(0, int(p.Context)), Limit: limit(p.Limit, 100)}
}

func limit(asked float64, otherwise int) int {
	if asked < 1 {
		return otherwise
	}
	return int(asked)
}

// widest is the most of one matching line that is shown, in characters.
const widest = 500

func sayLines(f action.Found) string {
	if len(f.Hits) == 0 {
		return "No matches found."
	}
	lines := make([]string, 0, len(f.Hits))
	for _, h := range f.Hits {
		text := []rune(strings.TrimRight(h.Text, "\r\n"))
		if len(text) > widest {
			text = append(text[:widest], []rune("… [cut]")...)
		}
		between := ":"
		if h.Context {
			between = "-"
		}
		lines = append(lines, fmt.Sprintf("%s%s%d%s %s", shown(f, h), between, h.Line, between, string(text)))
	}
	return listed(lines, f)
}

type findParams struct {
	Pattern string  `json:"pattern"`
	Path    string  `json:"path,omitempty"`
	Limit   float64 `json:"limit,omitempty" default:"1000"`
}

func find(p findParams) action.Find {
	return action.Find{Pattern: p.Pattern, Path: p.Path, Limit: limit(p.Limit, 1000)}
}

func sayFiles(f action.Found) string {
	if len(f.Hits) == 0 {
		return "No files found that match " + f.Pattern + "."
	}
	lines := make([]string, 0, len(f.Hits))
	for _, h := range f.Hits {
		lines = append(lines, shown(f, h))
	}
	return listed(lines, f)
}

type lsParams struct {
	Path  string  `json:"path,omitempty"`
	Limit float64 `json:"limit,omitempty" default:"500"`
}

func ls(p lsParams) action.List {
	if p.Path == "" {
		p.Path = "."
	}
	return action.List{Path: p.Path, Limit: limit(p.Limit, 500), All: true}
}

func sayEntries(f action.Found) string {
	if len(f.Hits) == 0 {
		return "(empty folder)"
	}
	lines := make([]string, 0, len(f.Hits))
	for _, h := range f.Hits {
		name := filepath.Base(h.Path)
		if h.Dir {
			name += "/"
		}
		lines = append(lines, name)
	}
	return listed(lines, f)
}

// shown is a hit's path from the folder searched; of a search in one file, its name.
func shown(f action.Found, h action.Hit) string {
	if rel := harness.Relative(f.Where, h.Path); rel != "." {
		return rel
	}
	return filepath.Base(h.Path)
}

// listed joins lines within the budget and says how many are missing.
func listed(lines []string, f action.Found) string {
	size, more := 0, f.More
	for i, line := range lines {
		if size += len(line) + 1; size > budget {
			if more >= 0 {
				more += len(lines) - i
			}
			lines = lines[:i]
			break
		}
	}
	text := strings.Join(lines, "\n")
	switch {
	case more > 0:
		text += fmt.Sprintf("\n\n[%d more; narrow the search or raise limit.]", more)
	case more < 0:
		text += "\n\n[More were found; narrow the search or raise limit.]"
	}
	return text
}
