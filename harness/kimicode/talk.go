package kimicode

import (
	"fmt"
	"strings"

	"interpreter/harness"
	"interpreter/sandbox/action"
)

type askParams struct {
	harness.Choices
	Background bool `json:"background,omitempty" default:"false"` // the answer is always waited for
}

func ask(p askParams) (harness.Step, error) { return p.Choices.Step() }

func todo(p harness.TitledPlan) (harness.Step, error) { return p.Step(sayKept, sayTodo) }

func sayKept(p action.Planned) string {
	if len(p.Items) == 0 {
		return "The list is empty now."
	}
	return fmt.Sprintf("The list is updated, %d item(s). %s", len(p.Items), harness.KeepOn(p.Items, "one"))
}

func sayTodo(p action.Planned) string {
	if len(p.Items) == 0 {
		return "The todo list is empty."
	}
	return "The todo list:\n" + harness.TitledLines(p.Items)
}

func enterPlan(struct{}) (harness.Step, error) { return harness.PlanAboveFirst(plain) }

func exitPlan(p harness.PlanAbove) (harness.Step, error) { return p.Step(plain) }

func plain(text string) string { return text }

type fetchParams struct {
	URL string `json:"url"`
}

func fetch(p fetchParams) action.Fetch { return action.Fetch{URL: p.URL, Limit: budget} }

func sayFetched(f action.Fetched) string {
	note, body := harness.Page(f)
	if strings.HasPrefix(note, "ERROR") {
		return strings.TrimRight("<system>"+note+"</system>\n"+body, "\n")
	}
	return noted(body, note)
}
