package harness

import (
	"strings"

	"interpreter/sandbox/action"
)

// PlanMode is the reminder that holds while a model plans, for families that have such a mode.
func PlanMode() string {
	return Reminded(`Plan mode: look, do not touch. No file and no state changes before the user accepts a plan, whatever else you were told.
1. Explore the code concerned until you could explain it.
2. Design the change along the lines that the code already has; consider what else would do.
3. Review: does the plan meet the request? What only the user can decide goes into AskUserQuestion.
4. Exit with ExitPlanMode. The plan names files, what happens in each, and the check at the end.
No turn closes without one of these two calls.`)
}

// ExitPlanParams are the parameters of ExitPlanMode.
type ExitPlanParams struct {
	Plan    string          `json:"plan,omitempty"`
	Allowed []AllowedPrompt `json:"allowedPrompts,omitempty"`
}

// AllowedPrompt is a kind of command that a plan needs.
type AllowedPrompt struct {
	Tool   string `json:"tool" enum:"Bash" absent:"ok"`
	Prompt string `json:"prompt"`
}

// PlanFirst asks the person whether to plan first. entered says that it is so.
func PlanFirst(entered string, fault func(error) string) Step {
	return Do(action.EnterPlan{}, func(action.Told) string { return entered }).Unless(func(o action.Outcome) error {
		if t, ok := o.(action.Told); ok && t.Text != action.Approved {
			return &RefusedError{Words: "The user wants no plan first" + note(t) + ". Go on with the work itself."}
		}
		return nil
	}, fault)
}

// ProposePlan shows the person a plan. approved words the yes; a no is a failure with what the person says.
func ProposePlan(plan string, allowed []AllowedPrompt, approved func(action.Told) string, fault func(error) string) (Step, error) {
	if strings.TrimSpace(plan) == "" {
		return Step{}, &RefusedError{Words: "The plan is missing: call ExitPlanMode again with the whole plan as text in plan."}
	}
	text := plan
	if len(allowed) > 0 {
		text = strings.TrimRight(text, "\n") + "\n\nCommands it needs:"
		for _, p := range allowed {
			text += "\n- " + p.Prompt
		}
	}
	return Do(action.ExitPlan{Text: text}, approved).Unless(func(o action.Outcome) error {
		if t, ok := o.(action.Told); ok && t.Text != action.Approved {
			return &RefusedError{Words: "The user sent the plan back" + note(t) + ". Plan mode goes on: rework the plan and propose it again, or ask."}
		}
		return nil
	}, fault), nil
}

func note(t action.Told) string {
	if n := t.Answers["note"]; n != "" {
		return ": " + n
	}
	return ""
}
