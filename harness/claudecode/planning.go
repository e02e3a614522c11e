package claudecode

import (
	"interpreter/harness"
	"interpreter/sandbox/action"
)

func enterPlan(noParams) (harness.Step, error) {
	entered := "The user agrees: plan mode begins.\n\n" + harness.PlanMode()
	return harness.PlanFirst(entered, func(err error) string { return fault("EnterPlanMode", err) }), nil
}

func exitPlan(p harness.ExitPlanParams) (harness.Step, error) {
	approved := func(action.Told) string {
		return "The plan is approved and plan mode over: carry it out.\n\n" + p.Plan
	}
	return harness.ProposePlan(p.Plan, p.Allowed, approved, func(err error) string { return fault("ExitPlanMode", err) })
}
