package harness

import (
	"errors"
	"fmt"
	"strings"

	"interpreter/sandbox/action"
)

// PlainEdits says of each edit in a list what stopped it.
func PlainEdits(e *action.EditsError) string {
	parts := make([]string, len(e.Errs))
	for i, one := range e.Errs {
		parts[i] = Plain("", one)
	}
	return strings.Join(parts, "\n")
}

// PlainMatch says why a text could not be replaced, and shows the file's own lines.
func PlainMatch(e *action.MatchError) string {
	which := "the old text"
	if e.Index >= 0 {
		which = fmt.Sprintf("edits[%d]", e.Index)
	}
	switch {
	case errors.Is(e.Err, action.ErrAmbiguous):
		return fmt.Sprintf("%s: %s is in %d places%s. Nothing was changed. Add the lines around the one you mean, or replace all of them.", e.Path, which, e.Count, Places(e))
	case errors.Is(e.Err, action.ErrAbsent):
		return fmt.Sprintf("%s: %s was not found. Nothing was changed.%s", e.Path, which, Nearest(e))
	}
	text := fmt.Sprintf("%s: %v. Nothing was changed.", e.Path, e.Err)
	if e.Index >= 0 {
		text = fmt.Sprintf("%s: %s: %v. Nothing was changed.", e.Path, which, e.Err)
	}
	if errors.Is(e.Err, action.ErrSame) && e.Near != "" {
		place := " The file has that text already, from line %d:"
		if e.Likeness < 1 {
			place = " The closest lines of the file, from line %d, are:"
		}
		text += fmt.Sprintf(place, e.NearAt) + strings.TrimSuffix(fenced(e.Near), "\n")
	}
	return text
}

// Places lists where an ambiguous text was found.
func Places(e *action.MatchError) string {
	if len(e.Lines) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(" (")
	for i, n := range e.Lines {
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "line %d", n)
		if i < len(e.Texts) {
			fmt.Fprintf(&b, ": %s", clipped(strings.TrimSpace(e.Texts[i]), 60))
		}
	}
	if e.Count > len(e.Lines) {
		b.WriteString("; …")
	}
	return b.String() + ")"
}

// Nearest shows what a file really says near a text that was not found, and more of it each time in a row.
func Nearest(e *action.MatchError) string {
	lines := strings.SplitAfter(e.Content, "\n")
	if last := len(lines) - 1; last > 0 && lines[last] == "" {
		lines = lines[:last]
	}
	switch {
	case e.Content != "" && e.Failures >= 3 && len(lines) <= 300:
		return " This is the whole file:" + fenced(e.Content) + "Copy the old text exactly from it, or write the whole file."
	case e.Content != "" && e.Near != "" && e.Failures == 2:
		from, to := max(0, e.NearAt-1-30), min(len(lines), e.NearAt+30)
		region, _ := Clip(strings.Join(lines[from:to], ""), 6000, 0, 1)
		return fmt.Sprintf(" Lines %d-%d are:", from+1, to) + fenced(region) + "Copy the old text exactly from this excerpt."
	case e.Content != "" && e.Unread && len(e.Content) <= 4000:
		return " The file was not read before; it says:" + fenced(e.Content) + "Copy the old text exactly from it."
	case e.Near == "":
		return " Read the file again and copy the text exactly."
	}
	text := fmt.Sprintf(" The closest lines, from line %d, are:", e.NearAt) + fenced(e.Near)
	if e.Differs != "" {
		text += fmt.Sprintf("White space differs first in line %d: the file has %s, sent was %s.\n", e.DiffersAt, e.Differs, e.Sent)
	}
	if e.Short {
		text += "So little text is not matched loosely, it might be found by chance: give at least two lines. "
	}
	return text + "Copy the old text exactly from this excerpt."
}

func fenced(text string) string {
	return "\n```\n" + strings.TrimSuffix(text, "\n") + "\n```\n"
}

func clipped(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

// PlainPatch says why a patch was not applied, with the file's own lines where it did not fit.
func PlainPatch(e *action.PatchError) string {
	text := "apply_patch verification failed: " + strings.TrimPrefix(e.Error(), "patch: ")
	if e.Block != "" && strings.Contains(e.Block, "\n") && e.Kind == action.NoLines {
		block, _ := Clip(strings.TrimSuffix(e.Block, "\n"), 1200, 20, 1)
		text += "\nLooked for:\n" + block
	}
	if e.Near != "" {
		text += "\nThe file has, with line numbers that are no part of it:"
		for i, line := range strings.Split(strings.TrimSuffix(e.Near, "\n"), "\n") {
			text += fmt.Sprintf("\n%d: %s", e.NearAt+i, clipped(line, 300))
		}
	}
	return text + "\nNothing was changed."
}
