package zcode

import (
	"interpreter/harness"
	"interpreter/sandbox/action"
)

func enterPlan(noParams) (harness.Step, error) {
	entered := `The user agrees: plan mode begins.
1. Read the code concerned.
2. Note how it does such things today.
3. Put two ways or more side by side.
4. Have the user decide what is theirs.
5. Write the change down, step by step.
6. Hand it in with ExitPlanMode.

` + harness.PlanMode()
	return harness.PlanFirst(entered, func(err error) string { return fault("EnterPlanMode", err) }), nil
}

type exitParams struct {
	Plan    string                  `json:"plan"`
	Allowed []harness.AllowedPrompt `json:"allowedPrompts,omitempty"`
}

func exitPlan(p exitParams) (harness.Step, error) {
	approved := func(action.Told) string {
		return "approved: the user agreed to the plan. Plan mode is off; carry it out.\n\n" + p.Plan
	}
	return harness.ProposePlan(p.Plan, p.Allowed, approved, func(err error) string { return fault("ExitPlanMode", err) })
}
