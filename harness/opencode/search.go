package opencode

import (
	"fmt"
	"strings"

	"interpreter/sandbox/action"
)

// most is how many files or lines one search names.
const most = 100

type globParams struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path,omitempty"`
}

func glob(p globParams) action.Find {
	return action.Find{Pattern: p.Pattern, Path: p.Path, Limit: most, Newest: true}
}

func sayFiles(f action.Found) string {
	if len(f.Hits) == 0 {
		return "No files found"
	}
	lines := make([]string, 0, len(f.Hits))
	for _, h := range f.Hits {
		lines = append(lines, h.Path)
	}
	return strings.Join(lines, "\n") + more(f.More, "files; use a narrower pattern or path")
}

type grepParams struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path,omitempty"`
	Include string `json:"include,omitempty"`
}

func grep(p grepParams) action.Grep {
	return action.Grep{Pattern: p.Pattern, Path: p.Path, Glob: p.Include, Limit: most}
}

// widest is the most of one matching line that is shown, in characters.
const widest = 500

// sayLines groups the lines by file.
func sayLines(f action.Found) string {
	if len(f.Hits) == 0 {
		return "No files found"
	}
	var b strings.Builder
	path, left, shown := "", f.More, 0
	for i, h := range f.Hits {
		text := strings.TrimRight(h.Text, "\r\n")
		if runes := []rune(text); len(runes) > widest {
			text = string(runes[:widest]) + "…"
		}
		line := fmt.Sprintf("  Line %d: %s\n", h.Line, text)
		if h.Path != path {
			line = h.Path + ":\n" + line
			if path != "" {
				line = "\n" + line
			}
			path = h.Path
		}
		if b.Len()+len(line) > budget {
			if left >= 0 {
				left += len(f.Hits) - i
			}
			break
		}
		b.WriteString(line)
		shown++
	}
	total := fmt.Sprintf("Found %s\n", count(shown+max(left, 0), "match", "matches"))
	return total + strings.TrimSuffix(b.String(), "\n") + more(left, "matches; use a narrower pattern, path or include")
}

// more is the line below a list that is not whole.
func more(left int, what string) string {
	switch {
	case left > 0:
		return fmt.Sprintf("\n\n(Not shown: %d more %s)", left, what)
	case left < 0:
		return "\n\n(Not shown: more " + what + ")"
	}
	return ""
}
