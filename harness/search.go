package harness

import (
	"fmt"
	"strings"

	"interpreter/sandbox/action"
)

// Glob and Grep as several families share them; Grep's parameters are flags of ripgrep.

// GlobParams are the parameters of Glob.
type GlobParams struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path,omitempty"`
}

// GrepParams are the parameters of Grep.
type GrepParams struct {
	Pattern string  `json:"pattern"`
	Path    string  `json:"path,omitempty"`
	Glob    string  `json:"glob,omitempty"`
	Mode    string  `json:"output_mode,omitempty" enum:"content,files_with_matches,count" default:"files_with_matches" also:"mode"`
	Before  float64 `json:"-B,omitempty" also:"before_context"`
	After   float64 `json:"-A,omitempty" also:"after_context"`
	Around  float64 `json:"-C,omitempty"`
	Context float64 `json:"context,omitempty"`
	Numbers bool    `json:"-n,omitempty" default:"true" also:"line_numbers"`
	Fold    bool    `json:"-i,omitempty" default:"false" also:"ignore_case,case_insensitive,ignoreCase"`
	Only    bool    `json:"-o,omitempty" default:"false" also:"only_matching"`
	Type    string  `json:"type,omitempty" also:"file_type"`
	Limit   float64 `json:"head_limit,omitempty" default:"250" also:"limit,max_results"`
	Skip    float64 `json:"offset,omitempty" default:"0"`
	Span    bool    `json:"multiline,omitempty" default:"false"`
}

const (
	unlimited = 1 << 20 // hits
	grepText  = 30_000  // bytes of a result
)

// Action searches. A limit of 0 is none; context and -o count in content alone.
func (p GrepParams) Action() action.Grep {
	a := action.Grep{Pattern: p.Pattern, Path: p.Path, Glob: p.Glob, Fold: p.Fold, Span: p.Span, Kind: p.Type, Limit: int(p.Limit), Skip: max(0, int(p.Skip))}
	if a.Limit <= 0 {
		a.Limit = unlimited
	}
	switch p.Mode {
	case "files_with_matches":
		a.Mode, a.Newest = action.GrepFiles, true
	case "count":
		a.Mode = action.GrepCount
	default:
		a.Only = p.Only
		a.Context = max(0, int(max(p.Around, p.Context)))
		a.Before, a.After = max(0, int(p.Before)), max(0, int(p.After))
	}
	return a
}

// Words say what was found; name is how a file is spelled.
func (p GrepParams) Words(f action.Found, name func(string) string) string {
	if len(f.Hits) == 0 {
		return p.nothing(f)
	}
	var lines []string
	switch p.Mode {
	case "files_with_matches":
		for _, h := range f.Hits {
			lines = append(lines, name(h.Path))
		}
	case "count":
		for _, h := range f.Hits {
			lines = append(lines, fmt.Sprintf("%s:%d", name(h.Path), h.Count))
		}
	default:
		lines = p.content(f.Hits, name)
	}
	kept, size := len(lines), 0
	for i, line := range lines {
		if size += len(line) + 1; size > grepText && i > 0 {
			kept = i
			break
		}
	}
	text := strings.Join(lines[:kept], "\n")
	if p.Mode == "files_with_matches" {
		text = fmt.Sprintf("Found %d %s\n%s", len(f.Hits), plural(len(f.Hits), "file"), text)
	}
	if p.Mode == "count" {
		text += fmt.Sprintf("\n\nFound %d total %s across %d %s.", f.Total, plural(f.Total, "occurrence"), len(f.Hits)+max(0, f.More)+int(p.Skip), plural(len(f.Hits)+max(0, f.More)+int(p.Skip), "file"))
	}
	if left := len(lines) - kept; left > 0 {
		text += fmt.Sprintf("\n\n[%d more lines are left out; narrow the search or use head_limit and offset]", left)
	}
	return text + p.page(f)
}

func (p GrepParams) nothing(f action.Found) string {
	switch {
	case p.Skip > 0:
		return fmt.Sprintf("No matches from offset %d on", int(p.Skip))
	case p.Mode == "files_with_matches":
		return "No files found"
	}
	return "No matches found"
}

// page says that more follows.
func (p GrepParams) page(f action.Found) string {
	if f.More == 0 {
		return ""
	}
	text := fmt.Sprintf("\n\n[Showing results with pagination = limit: %d", int(p.Limit))
	if p.Skip > 0 {
		text += fmt.Sprintf(", offset: %d", int(p.Skip))
	}
	return text + "]"
}

// content writes matches as path:line:text and their neighbours as path-line-text, with -- between groups.
func (p GrepParams) content(hits []action.Hit, name func(string) string) []string {
	var lines []string
	apart := p.Before > 0 || p.After > 0 || p.Around > 0 || p.Context > 0
	for i, h := range hits {
		if last := max(0, i-1); apart && i > 0 && (hits[last].Path != h.Path || h.Line > hits[last].Line+1) {
			lines = append(lines, "--")
		}
		mark := ":"
		if h.Context {
			mark = "-"
		}
		line := name(h.Path) + mark
		if p.Numbers {
			line += fmt.Sprintf("%d%s", h.Line, mark)
		}
		lines = append(lines, line+strings.TrimRight(h.Text, "\r\n"))
	}
	return lines
}

func plural(n int, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}
