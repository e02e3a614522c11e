package zcode

import (
	"fmt"
	"slices"
	"strings"

	"interpreter/harness"
	"interpreter/sandbox/action"
)

const (
	filesMost = 100  // files a Glob names
	filesSeen = 5000 // files it looks at for them
)

// glob names files and folders from the end of the alphabet, relative to the working directory; those of another folder
// by their whole path.
func glob(p harness.GlobParams) (harness.Step, error) {
	a := action.Find{Pattern: p.Pattern, Path: p.Path, Limit: filesSeen, Dirs: true}
	return harness.Do(a, func(f action.Found) string {
		if len(f.Hits) == 0 {
			return "No files found"
		}
		name := speller(p.Path, f)
		lines := make([]string, 0, len(f.Hits))
		for _, h := range f.Hits {
			lines = append(lines, name(h.Path))
		}
		slices.Sort(lines)
		slices.Reverse(lines)
		if len(lines) > filesMost || f.More != 0 {
			lines = append(lines[:min(len(lines), filesMost)], fmt.Sprintf("(%d of %d results are shown; use a more specific path or pattern.)", min(len(lines), filesMost), len(f.Hits)+max(0, f.More)))
		}
		return strings.Join(lines, "\n")
	}), nil
}

// speller makes paths relative to the working directory, which is where a search without a path begins.
func speller(asked string, f action.Found) func(string) string {
	if asked != "" && asked != "." {
		return whole
	}
	return func(path string) string { return harness.Relative(f.Where, path) }
}

func whole(path string) string { return path }

func grep(p harness.GrepParams) (harness.Step, error) {
	return harness.Do(p.Action(), func(f action.Found) string {
		switch {
		case len(f.Hits) == 0:
			return "No files found"
		case p.Mode == "content":
			return p.Words(f, whole)
		}
		return p.Words(f, speller(p.Path, f))
	}), nil
}
