package harness

import (
	"fmt"
	"path/filepath"
	"strings"

	"interpreter/sandbox/action"
)

// TerseGrep are the parameters of grep.
type TerseGrep struct {
	Pattern string  `json:"pattern"`
	Path    string  `json:"path,omitempty"`
	Glob    string  `json:"glob,omitempty"`
	Fold    bool    `json:"ignoreCase,omitempty" default:"false"`
	Literal bool    `json:"literal,omitempty" default:"false"`
	Context float64 `json:"context,omitempty" default:"0"`
	Limit   float64 `json:"limit,omitempty" default:"100"`
}

// Plan is the action.
func (p TerseGrep) Plan() action.Grep {
	return action.Grep{Pattern: p.Pattern, Path: p.Path, Glob: p.Glob, Fold: p.Fold, Literal: p.Literal, Context: max(0, int(p.Context)), Limit: terseLimit(p.Limit, 100)}
}

func terseLimit(asked float64, otherwise int) int {
	if asked < 1 {
		return otherwise
	}
	return int(asked)
}

// terseWidth is the most of one matching line that is shown, in characters.
const terseWidth = 500

// SayTerseLines gives a line of text for each line found.
func SayTerseLines(f action.Found) string {
	if len(f.Hits) == 0 {
		return "No matches found."
	}
	lines := make([]string, 0, len(f.Hits))
	for _, h := range f.Hits {
		text := []rune(strings.TrimRight(h.Text, "\r\n"))
		if len(text) > terseWidth {
			text = append(text[:terseWidth], []rune("… [cut]")...)
		}
		between := ":"
		if h.Context {
			between = "-"
		}
		lines = append(lines, fmt.Sprintf("%s%s%d%s %s", hitPath(f, h), between, h.Line, between, string(text)))
	}
	return terseList(lines, f)
}

// TerseFind are the parameters of find.
type TerseFind struct {
	Pattern string  `json:"pattern"`
	Path    string  `json:"path,omitempty"`
	Limit   float64 `json:"limit,omitempty" default:"1000"`
}

// Plan is the action.
func (p TerseFind) Plan() action.Find {
	return action.Find{Pattern: p.Pattern, Path: p.Path, Limit: terseLimit(p.Limit, 1000)}
}

// SayTerseFiles gives a path for each file, from where the search began.
func SayTerseFiles(f action.Found) string {
	if len(f.Hits) == 0 {
		return "No files found that match " + f.Pattern + "."
	}
	lines := make([]string, 0, len(f.Hits))
	for _, h := range f.Hits {
		lines = append(lines, hitPath(f, h))
	}
	return terseList(lines, f)
}

// TerseList are the parameters of ls.
type TerseList struct {
	Path  string  `json:"path,omitempty"`
	Limit float64 `json:"limit,omitempty" default:"500"`
}

// Plan is the action.
func (p TerseList) Plan() action.List {
	if p.Path == "" {
		p.Path = "."
	}
	return action.List{Path: p.Path, Limit: terseLimit(p.Limit, 500), All: true}
}

// SayTerseEntries gives a name for each entry, with a slash behind a folder's.
func SayTerseEntries(f action.Found) string {
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
	return terseList(lines, f)
}

// hitPath is a hit's path from the folder searched; of a search in one file, its name.
func hitPath(f action.Found, h action.Hit) string {
	if rel := Relative(f.Where, h.Path); rel != "." {
		return rel
	}
	return filepath.Base(h.Path)
}

// terseList joins lines within the budget and says how many are missing.
func terseList(lines []string, f action.Found) string {
	size, more := 0, f.More
	for i, line := range lines {
		if size += len(line) + 1; size > TerseBytes {
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
