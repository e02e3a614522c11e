package native

import (
	"path/filepath"
	"strings"

	"interpreter/harness"
	"interpreter/sandbox/action"
)

type patchParams struct {
	Input string `json:"input" also:"patch" raw:"*** Begin Patch"`
}

func applyPatch(p patchParams) action.Patch { return action.Patch{Text: p.Input} }

func sayPatched(c action.Changed) string {
	return "Exit code: 0\nWall time: 0 seconds\nOutput:\n" + ChangedFiles(c)
}

// ChangedFiles is the report of a patch: a letter and a path for each file.
func ChangedFiles(c action.Changed) string {
	var b strings.Builder
	b.WriteString("Success. Updated the following files:\n")
	for _, f := range c.Files {
		switch f.Kind {
		case action.Added:
			b.WriteString("A " + f.Path + "\n")
		case action.Deleted:
			b.WriteString("D " + f.Path + "\n")
		case action.Moved:
			b.WriteString("M " + f.To + "\n")
		default:
			b.WriteString("M " + f.Path + "\n")
		}
	}
	for _, n := range c.Notes {
		b.WriteString("[" + n + "]\n")
	}
	return b.String()
}

// patchStep takes a script that is nothing but a patch out of the shell's hands.
func patchStep(script, workdir string, envelope func(string) string) (step harness.Step, ok bool, err error) {
	if action.IsPatch(script) {
		return step, false, &harness.RefusedError{Words: "This is a patch, not a command. Nothing was run. Call apply_patch with it as input."}
	}
	text, dir, ok := action.PatchInScript(script)
	if !ok {
		return step, false, nil
	}
	if workdir != "" && !filepath.IsAbs(dir) {
		dir = filepath.Join(workdir, dir)
	}
	say := func(c action.Changed) string { return envelope(ChangedFiles(c)) }
	return harness.Do(action.Patch{Text: text, Dir: dir}, say), true, nil
}
