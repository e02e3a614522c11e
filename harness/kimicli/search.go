package kimicli

import (
	"path/filepath"
	"slices"
	"strings"

	"interpreter/harness"
	"interpreter/sandbox/action"
)

type globParams struct {
	Pattern string `json:"pattern"`
	Dir     string `json:"directory,omitempty"`
	Dirs    bool   `json:"include_dirs,omitempty" default:"true"`
}

// globMost is how many paths one search names.
const globMost = 1000

func glob(p globParams) (harness.Step, error) {
	a := action.Find{Pattern: p.Pattern, Path: p.Dir, Limit: globMost, Dirs: p.Dirs, Exclude: harness.SecretNames()}
	return harness.Do(a, func(f action.Found) string {
		slices.SortStableFunc(f.Hits, func(x, y action.Hit) int { return strings.Compare(x.Path, y.Path) })
		return sayFound(f, true, 0, "Nothing matches "+p.Pattern+".")
	}), nil
}

type grepParams struct {
	Pattern   string `json:"pattern"`
	Path      string `json:"path,omitempty" default:"."`
	Glob      string `json:"glob,omitempty" also:"include"`
	Mode      string `json:"output_mode,omitempty" enum:"content,files_with_matches,count_matches" default:"files_with_matches"`
	Before    int    `json:"-B,omitempty" also:"B,before_context"`
	After     int    `json:"-A,omitempty" also:"A,after_context"`
	Around    int    `json:"-C,omitempty" also:"C,context"`
	Numbers   bool   `json:"-n,omitempty" default:"true" also:"n,line_numbers"`
	Fold      bool   `json:"-i,omitempty" default:"false" also:"i,ignore_case,ignoreCase,case_insensitive"`
	Kind      string `json:"type,omitempty"`
	Head      int    `json:"head_limit,omitempty" default:"250" min:"0" also:"limit,max_results"`
	Skip      int    `json:"offset,omitempty" default:"0" min:"0"`
	Multiline bool   `json:"multiline,omitempty" default:"false"`
	Ignored   bool   `json:"include_ignored,omitempty" default:"false"`
}

func grep(p grepParams) (harness.Step, error) {
	a := action.Grep{Pattern: p.Pattern, Path: p.Path, Glob: p.Glob, Kind: p.Kind, Fold: p.Fold, Span: p.Multiline, All: p.Ignored, Limit: p.Head, Skip: p.Skip, Hidden: true, Exclude: harness.SecretNames()}
	if p.Path == "." {
		a.Path = ""
	}
	if p.Head == 0 {
		a.Limit = -1 // all; the size of the result bounds them
	}
	switch p.Mode {
	case "files_with_matches":
		a.Mode, a.Newest = action.GrepFiles, true
	case "count_matches":
		a.Mode = action.GrepCount
	default:
		a.Context, a.Before, a.After = max(p.Around, 0), max(p.Before, 0), max(p.After, 0)
	}
	return harness.Do(a, func(f action.Found) string { return sayFound(f, p.Numbers, p.Skip, "Nothing matches "+p.Pattern+".") }), nil
}

// sayFound says how much there is, then lists it, with paths from the folder searched.
func sayFound(f action.Found, numbers bool, skip int, none string) string {
	name := func(h action.Hit) string {
		if rel := harness.Relative(f.Where, h.Path); rel != "." {
			return rel
		}
		return filepath.Base(h.Path)
	}
	body, notes := harness.Search{Numbers: numbers, Most: budget, Skip: skip, None: none, Name: name}.Words(f)
	if notes == "" {
		notes = harness.CountedHits(f)
	}
	return after(notes, body)
}
