package qwencode

import (
	"fmt"
	"path/filepath"
	"sort"
	"strings"

	"interpreter/harness"
	"interpreter/sandbox/action"
)

type listParams struct {
	Path   string   `json:"path"`
	Ignore []string `json:"ignore,omitempty"`
	Filter *struct {
		Git  bool `json:"respect_git_ignore,omitempty" default:"true"`
		Qwen bool `json:"respect_qwen_ignore,omitempty" default:"true"`
	} `json:"file_filtering_options,omitempty"`
}

// most is how many entries or files one listing names.
const most = 100

func list(p listParams) action.List {
	a := action.List{Path: p.Path, Ignore: p.Ignore, Limit: most, Rules: ignoreFiles}
	if p.Filter != nil {
		a.All = !p.Filter.Git
		if !p.Filter.Qwen {
			a.Rules = nil
		}
	}
	return a
}

// ignoreFiles are heeded besides those of git.
var ignoreFiles = []string{".qwenignore"}

func sayEntries(f action.Found) string {
	if len(f.Hits) == 0 {
		return fmt.Sprintf("Nothing is in %s.", f.Where)
	}
	hits := append([]action.Hit(nil), f.Hits...)
	sort.SliceStable(hits, func(i, j int) bool { return hits[i].Dir && !hits[j].Dir })
	lines := make([]string, 0, len(hits))
	for _, h := range hits {
		name := filepath.Base(h.Path)
		if h.Dir {
			name = "[DIR] " + name
		}
		lines = append(lines, name)
	}
	text := fmt.Sprintf("Listed %d item(s) in %s:\n---\n%s", len(hits), f.Where, strings.Join(lines, "\n"))
	return text + ruled(f.More, "items")
}

type globParams struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path,omitempty"`
}

func glob(p globParams) action.Find {
	return action.Find{Pattern: p.Pattern, Path: p.Path, Limit: most, Recent: true, Rules: ignoreFiles}
}

func sayFiles(f action.Found) string {
	if len(f.Hits) == 0 {
		return fmt.Sprintf("No file matches \"%s\" in %s.", f.Pattern, f.Where)
	}
	lines := make([]string, 0, len(f.Hits))
	for _, h := range f.Hits {
		lines = append(lines, h.Path)
	}
	count := len(f.Hits) + max(f.More, 0)
	return fmt.Sprintf("Found %d file(s) matching \"%s\" within %s, newest first:\n---\n%s", count, f.Pattern, f.Where, strings.Join(lines, "\n")) +
		ruled(f.More, "files")
}

// missing is the line that says how much was left out; "" when nothing was.
func missing(more int, what string) string {
	switch {
	case more > 0:
		return fmt.Sprintf("[%d %s truncated] ...", more, what)
	case more < 0:
		return fmt.Sprintf("[more %s truncated] ...", what)
	}
	return ""
}

// ruled is that line below a list of names, which it must not be taken for.
func ruled(more int, what string) string {
	if cut := missing(more, what); cut != "" {
		return "\n---\n" + cut
	}
	return ""
}

type grepParams struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path,omitempty"`
	Glob    string `json:"glob,omitempty"`
	Limit   int    `json:"limit,omitempty" min:"1"`
}

func grep(p grepParams) action.Grep {
	if p.Limit == 0 {
		p.Limit = 200
	}
	return action.Grep{Pattern: p.Pattern, Path: p.Path, Glob: p.Glob, Limit: p.Limit, Rules: ignoreFiles}
}

func sayLines(f action.Found) string {
	filter := ""
	if f.Glob != "" {
		filter = fmt.Sprintf(" (filter: \"%s\")", f.Glob)
	}
	if len(f.Hits) == 0 {
		return fmt.Sprintf("Nothing matches \"%s\" in %s%s.", f.Pattern, f.Where, filter)
	}
	var b strings.Builder
	left, more := 0, f.More
	for i, h := range f.Hits {
		path := harness.Relative(f.Where, h.Path)
		if path == "." {
			path = filepath.Base(h.Path)
		}
		line := fmt.Sprintf("%s:%d:%s\n", path, h.Line, strings.TrimRight(h.Text, "\r\n"))
		if b.Len()+len(line) > maxChars {
			left = len(f.Hits) - i
			break
		}
		b.WriteString(line)
	}
	count := len(f.Hits) + max(more, 0)
	if left > 0 && more >= 0 {
		more += left
	}
	noun := "matches"
	if count == 1 {
		noun = "match"
	}
	text := fmt.Sprintf("Found %d %s for pattern \"%s\" in %s%s:\n---\n%s", count, noun, f.Pattern, f.Where, filter, strings.TrimSuffix(b.String(), "\n"))
	if cut := missing(more, "lines"); cut != "" {
		text += "\n" + cut
	}
	return text
}
