package deepseektui

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"

	"interpreter/harness"
	"interpreter/sandbox/action"
)

// encoded is a value as JSON, of these models' kind: plain letters, one line unless there is an indent.
func encoded(v any, indent string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		return "{}" // only values that cannot be encoded come here, and these are structs of text and numbers
	}
	return strings.TrimSuffix(b.String(), "\n")
}

type listParams struct {
	Path string `json:"path,omitempty" default:"."`
}

func list(p listParams) action.List { return action.List{Path: p.Path, Limit: 200} }

// sayEntries is a JSON array, one entry a line so that it costs little.
func sayEntries(f action.Found) string {
	type entry struct {
		Name string `json:"name"`
		Dir  bool   `json:"is_dir"`
	}
	lines := make([]string, 0, len(f.Hits))
	size, more := 0, max(f.More, 0)
	for i, h := range f.Hits {
		line := "  " + encoded(entry{filepath.Base(h.Path), h.Dir}, "")
		if size += len(line) + 2; size > budget {
			more += len(f.Hits) - i
			break
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		return "[]"
	}
	text := "[\n" + strings.Join(lines, ",\n") + "\n]"
	if more > 0 {
		text += encoded(struct {
			More int `json:"entries_left_out"`
		}{more}, "")
	}
	return text
}

type grepParams struct {
	Pattern string   `json:"pattern"`
	Path    string   `json:"path,omitempty" default:"."`
	Include []string `json:"include,omitempty"`
	Exclude []string `json:"exclude,omitempty"`
	Context *int     `json:"context_lines,omitempty"`
	Fold    bool     `json:"case_insensitive,omitempty" default:"false"`
	Most    int      `json:"max_results,omitempty" default:"100"`
}

// unsearched are left out when a call names nothing to leave out.
var unsearched = []string{"node_modules/*", ".git/*", "target/*", "*.min.js", "*.min.css", "dist/*", "build/*", "__pycache__/*", ".venv/*", "venv/*"}

// around is how many lines stand before and after a match.
const around = 2

func grep(p grepParams) (harness.Step, error) {
	a := action.Grep{Pattern: p.Pattern, Path: p.Path, Glob: anyOf(p.Include), Exclude: p.Exclude, Fold: p.Fold, Limit: max(1, p.Most), Context: around, Hidden: true}
	if a.Path == "." {
		a.Path = ""
	}
	if p.Context != nil {
		a.Context = max(0, min(*p.Context, 10))
	}
	if a.Exclude == nil {
		a.Exclude = unsearched
	}
	return harness.Do(a, func(f action.Found) string { return sayMatches(f, a.Path, a.Context) }), nil
}

// anyOf is one glob that matches what any of several does.
func anyOf(globs []string) string {
	if len(globs) < 2 {
		return strings.Join(globs, "")
	}
	return "{" + strings.Join(globs, ",") + "}"
}

type match struct {
	File   string   `json:"file"`
	Number int      `json:"line_number"`
	Line   string   `json:"line"`
	Before []string `json:"context_before"`
	After  []string `json:"context_after"`
}

func sayMatches(f action.Found, asked string, context int) string {
	name := harness.SpelledFrom(asked, f.Where)
	out := struct {
		Matches   []match `json:"matches"`
		Total     int     `json:"total_matches"`
		Truncated bool    `json:"truncated"`
	}{Matches: []match{}}
	size := 0
	for i, h := range f.Hits {
		if h.Context {
			continue
		}
		out.Total++
		m := match{File: name(h), Number: h.Line, Line: line(h), Before: neighbours(f.Hits, i, -1, context), After: neighbours(f.Hits, i, 1, context)}
		if size += len(encoded(m, "")) + 1; size > budget-100 && len(out.Matches) > 0 {
			out.Truncated = true
			continue
		}
		out.Matches = append(out.Matches, m)
	}
	if f.More != 0 {
		out.Truncated = true
		out.Total += max(f.More, 0)
	}
	return encoded(out, "")
}

// neighbours are the lines next to a hit, in the order of the file.
func neighbours(hits []action.Hit, at, step, most int) []string {
	out := []string{}
	for n := 1; n <= most; n++ {
		i := at + n*step
		if i < 0 || i >= len(hits) || hits[i].Path != hits[at].Path || hits[i].Line != hits[at].Line+n*step {
			break
		}
		if step < 0 {
			out = append([]string{line(hits[i])}, out...)
		} else {
			out = append(out, line(hits[i]))
		}
	}
	return out
}

func line(h action.Hit) string {
	text := strings.TrimRight(h.Text, "\r\n")
	if runes := []rune(text); len(runes) > 500 {
		return string(runes[:500]) + "…"
	}
	return text
}

type searchParams struct {
	Query   string   `json:"query" also:"pattern,name"`
	Path    string   `json:"path,omitempty"`
	Limit   int      `json:"limit,omitempty" default:"20"`
	Kinds   []string `json:"extensions,omitempty"`
	Exclude []string `json:"exclude,omitempty"`
}

// search finds files by a part of their name; a query with wild cards is a pattern.
func search(p searchParams) (harness.Step, error) {
	if strings.ContainsAny(p.Query, "*?[{") {
		say := func(f action.Found) string { return sayFiles(f, p.Path) }
		return harness.Do(action.Find{Pattern: p.Query, Path: p.Path, Limit: max(1, p.Limit), Exclude: p.Exclude}, say), nil
	}
	a := action.Name{Query: p.Query, Path: p.Path, Limit: max(1, p.Limit), Kinds: p.Kinds, Exclude: p.Exclude}
	return harness.Do(a, func(f action.Found) string { return sayFiles(f, p.Path) }), nil
}

func sayFiles(f action.Found, asked string) string {
	type file struct {
		Path  string  `json:"path"`
		Name  string  `json:"name"`
		Score float64 `json:"score"`
	}
	name := harness.SpelledFrom(asked, f.Where)
	lines := make([]string, 0, len(f.Hits))
	size := 0
	for _, h := range f.Hits {
		score := float64(h.Score) / 100
		if h.Score == 0 {
			score = 1 // found by a pattern, which fits or does not
		}
		line := encoded(file{name(h), filepath.Base(h.Path), score}, "")
		if size += len(line) + 1; size > budget {
			break
		}
		lines = append(lines, line)
	}
	return "[" + strings.Join(lines, ",\n") + "]"
}
