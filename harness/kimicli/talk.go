package kimicli

import (
	"fmt"

	"interpreter/harness"
	"interpreter/sandbox/action"
)

func todo(p harness.TitledPlan) (harness.Step, error) { return p.Step(sayKept, sayTodo) }

func sayKept(p action.Planned) string {
	if len(p.Items) == 0 {
		return alone("The list is empty now.")
	}
	return alone(fmt.Sprintf("The list is updated, %d item(s). %s", len(p.Items), harness.KeepOn(p.Items, "one")))
}

func sayTodo(p action.Planned) string {
	if len(p.Items) == 0 {
		return alone("The todo list is empty.")
	}
	return after("The todo list:", harness.TitledLines(p.Items))
}

func enterPlan(struct{}) (harness.Step, error) { return harness.PlanAboveFirst(alone) }

func exitPlan(p harness.PlanAbove) (harness.Step, error) { return p.Step(alone) }

type fetchParams struct {
	URL string `json:"url"`
}

func fetch(p fetchParams) action.Fetch { return action.Fetch{URL: p.URL, Limit: budget} }

func sayFetched(f action.Fetched) string { return after(harness.Page(f)) }
