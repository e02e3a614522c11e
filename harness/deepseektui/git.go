package deepseektui

import (
	"fmt"
	"time"

	"interpreter/harness"
	"interpreter/sandbox/action"
)

// gitTime is how long a look at the repository may take.
const gitTime = 30 * time.Second

// git runs a command of git that only reads. It takes no lock and starts no pager.
func git(words ...string) (harness.Step, error) {
	script := harness.Script(append([]string{"git", "--no-optional-locks", "--no-pager"}, words...))
	return harness.Do(action.Run{Script: script, Limit: budget, Timeout: gitTime}, func(r action.Ran) string { return sayRan(r, gitTime) }), nil
}

// at ends a command of git with the path it is about.
func at(path string, words ...string) []string {
	if path == "" {
		return words
	}
	return append(words, "--", path)
}

// revision turns down what git would take for an option.
func revision(rev string) error {
	if len(rev) > 0 && rev[0] == '-' {
		return &harness.RefusedError{Words: fmt.Sprintf("%q is no revision.", rev)}
	}
	return nil
}

type gitStatusParams struct {
	Path string `json:"path,omitempty"`
}

func gitStatus(p gitStatusParams) (harness.Step, error) {
	return git(at(p.Path, "status", "--short", "--branch")...)
}

type gitDiffParams struct {
	Path    string `json:"path,omitempty"`
	Cached  bool   `json:"cached,omitempty"`
	Unified *int   `json:"unified,omitempty" min:"0" max:"50"`
}

func gitDiff(p gitDiffParams) (harness.Step, error) {
	words := []string{"diff", "--no-ext-diff", unified(p.Unified)}
	if p.Cached {
		words = append(words, "--cached")
	}
	return git(at(p.Path, words...)...)
}

func unified(lines *int) string {
	if lines == nil {
		return "--unified=3"
	}
	return fmt.Sprintf("--unified=%d", *lines)
}

type gitLogParams struct {
	Path   string `json:"path,omitempty"`
	Most   int    `json:"max_count,omitempty" default:"20" min:"1" max:"200"`
	Author string `json:"author,omitempty"`
	Since  string `json:"since,omitempty"`
	Until  string `json:"until,omitempty"`
}

func gitLog(p gitLogParams) (harness.Step, error) {
	words := []string{"log", "--date=short", "--format=%h %ad %an: %s", fmt.Sprintf("--max-count=%d", p.Most)}
	for _, f := range []struct{ option, value string }{{"--author=", p.Author}, {"--since=", p.Since}, {"--until=", p.Until}} {
		if f.value != "" {
			words = append(words, f.option+f.value)
		}
	}
	return git(at(p.Path, words...)...)
}

type gitShowParams struct {
	Rev     string `json:"rev"`
	Path    string `json:"path,omitempty"`
	Patch   bool   `json:"patch,omitempty" default:"true"`
	Stat    bool   `json:"stat,omitempty" default:"true"`
	Unified *int   `json:"unified,omitempty" min:"0" max:"50"`
}

func gitShow(p gitShowParams) (harness.Step, error) {
	if err := revision(p.Rev); err != nil {
		return harness.Step{}, err
	}
	words := []string{"show", "--no-ext-diff"}
	if p.Stat {
		words = append(words, "--stat")
	}
	switch {
	case p.Patch:
		words = append(words, "--patch", unified(p.Unified))
	case !p.Stat:
		words = append(words, "--no-patch")
	}
	return git(at(p.Path, append(words, p.Rev)...)...)
}

type gitBlameParams struct {
	Path      string `json:"path"`
	Rev       string `json:"rev,omitempty"`
	Start     int    `json:"start_line,omitempty" default:"1" min:"1"`
	Lines     int    `json:"max_lines,omitempty" default:"200" min:"1" max:"2000"`
	Porcelain bool   `json:"porcelain,omitempty" default:"false"`
}

func gitBlame(p gitBlameParams) (harness.Step, error) {
	if err := revision(p.Rev); err != nil {
		return harness.Step{}, err
	}
	words := []string{"blame", "--date=short", fmt.Sprintf("-L%d,+%d", p.Start, p.Lines)}
	if p.Porcelain {
		words = append(words, "--porcelain")
	}
	if p.Rev != "" {
		words = append(words, p.Rev)
	}
	return git(at(p.Path, words...)...)
}
