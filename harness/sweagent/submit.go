package sweagent

import (
	"context"
	"strings"

	"interpreter/harness"
	"interpreter/sandbox/action"
)

type submitParams struct {
	Force bool `json:"force,omitempty" hidden:"yes"`
}

// enough is how often in a row the work must be handed in.
const enough = 2

// submit hands the work in: once for a review of what changed, then for good.
func submit(p submitParams) (harness.Step, error) {
	return harness.Do(action.Claim{Diff: true, Sure: p.Force}, saySubmitted).Ending(ends).Leaving(parting), nil
}

// leave ends the work as it is, without a review.
func leave() harness.Step {
	return harness.Do(action.Claim{Diff: true, Sure: true}, saySubmitted).Ending(ends).Leaving(parting)
}

// begun lets the workspace know how the repository stood before the first command.
func begun(s harness.Step) harness.Step {
	run := s.Run
	if run == nil {
		return s
	}
	s.Run = func(ctx context.Context, w *action.Workspace) (action.Outcome, string, error) {
		w.Baseline(ctx)
		return run(ctx, w)
	}
	return s
}

// over reports whether a claim is the last: the second in a row, or one with nothing to go over.
func over(r action.Ran) bool {
	return r.Claims >= enough || r.Claims > 0 && r.Dir != "" && strings.TrimSpace(r.Output) == ""
}

// ends reports whether the work was handed in for good.
func ends(o action.Outcome) (final string, ended bool) {
	r, ok := o.(action.Ran)
	return "", ok && over(r)
}

// parting makes the last word of the discussion beside the submission: the changes were shown as they were made. They
// are the last word only when nothing was said.
func parting(o action.Outcome, said string) string {
	said = strings.TrimSpace(headless(said))
	r, ok := o.(action.Ran)
	switch {
	case said == "" && ok && r.Gap == nil && strings.TrimSpace(r.Output) != "":
		return strings.TrimSpace(r.Output)
	case said == "":
		return "Submitted."
	case ok && r.Dir != "" && strings.TrimSpace(r.Output) == "":
		return said + "\n\nSubmitted; no file was changed."
	}
	return said + "\n\nSubmitted."
}

// headless is a discussion without the heading that says that it is one.
func headless(text string) string {
	heading, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if strings.EqualFold(strings.Trim(heading, " #*:"), "discussion") {
		return strings.TrimSpace(rest)
	}
	return text
}

func saySubmitted(r action.Ran) string {
	diff := strings.TrimSuffix(clipped(r), "\n")
	switch {
	case over(r) && diff == "":
		return observation("Handed in. No file was changed.")
	case over(r):
		return observation("Handed in, with these changes:\n" + diff)
	case r.Dir == "":
		return observation("There is no repository here that could show what changed. " + page("review.md"))
	}
	return observation(page("review.md") + "\n\nAll that is changed now, also by others before you began:\n\n<diff>\n" + diff + "\n</diff>")
}
