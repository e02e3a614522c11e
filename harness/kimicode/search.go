package kimicode

import (
	"interpreter/harness"
	"interpreter/sandbox/action"
)

type globParams struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path,omitempty"`
	Ignored bool   `json:"include_ignored,omitempty" default:"false"`
	Dirs    bool   `json:"include_dirs,omitempty"` // files only, as these models expect
}

// globMost is how many paths one search names.
const globMost = 100

func glob(p globParams) (harness.Step, error) {
	if err := within(p.Path); err != nil {
		return harness.Step{}, err
	}
	a := action.Find{Pattern: p.Pattern, Path: p.Path, Limit: globMost, All: p.Ignored, Newest: true, Exclude: harness.SecretNames()}
	return harness.Do(a, func(f action.Found) string {
		return sayFound(f, p.Path, false, 0, "No file matches "+p.Pattern+".")
	}), nil
}

type grepParams struct {
	Pattern   string `json:"pattern"`
	Path      string `json:"path,omitempty"`
	Glob      string `json:"glob,omitempty" also:"include"`
	Kind      string `json:"type,omitempty"`
	Mode      string `json:"output_mode,omitempty" enum:"content,files_with_matches,count_matches" default:"files_with_matches"`
	Fold      bool   `json:"-i,omitempty" default:"false" also:"i,ignore_case,ignoreCase,case_insensitive"`
	Numbers   bool   `json:"-n,omitempty" default:"true" also:"n,line_numbers"`
	After     int    `json:"-A,omitempty" min:"0" also:"A,after_context"`
	Before    int    `json:"-B,omitempty" min:"0" also:"B,before_context"`
	Around    int    `json:"-C,omitempty" min:"0" also:"C,context"`
	Head      int    `json:"head_limit,omitempty" default:"250" min:"0" also:"limit,max_results"`
	Skip      int    `json:"offset,omitempty" default:"0" min:"0"`
	Multiline bool   `json:"multiline,omitempty" default:"false"`
	Ignored   bool   `json:"include_ignored,omitempty" default:"false"`
}

func grep(p grepParams) (harness.Step, error) {
	if err := within(p.Path); err != nil {
		return harness.Step{}, err
	}
	a := action.Grep{Pattern: p.Pattern, Path: p.Path, Glob: p.Glob, Kind: p.Kind, Fold: p.Fold, Span: p.Multiline, All: p.Ignored, Limit: p.Head, Skip: p.Skip, Hidden: true, Exclude: harness.SecretNames()}
	if p.Head == 0 {
		a.Limit = -1 // all; the size of the result bounds them
	}
	switch p.Mode {
	case "files_with_matches":
		a.Mode, a.Newest = action.GrepFiles, true
	case "count_matches":
		a.Mode = action.GrepCount
	default:
		a.Context, a.Before, a.After = p.Around, p.Before, p.After
	}
	return harness.Do(a, func(f action.Found) string {
		return sayFound(f, p.Path, p.Numbers, p.Skip, "Nothing matches "+p.Pattern+".")
	}), nil
}

// sayFound lists hits and notes what is missing.
func sayFound(f action.Found, asked string, numbers bool, skip int, none string) string {
	body, notes := harness.Search{Numbers: numbers, Most: budget, Skip: skip, None: none, Name: harness.SpelledFrom(asked, f.Where)}.Words(f)
	return noted(body, notes)
}
