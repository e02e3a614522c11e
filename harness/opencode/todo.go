package opencode

import (
	"interpreter/harness"
	"interpreter/sandbox/action"
)

type todoParams struct {
	Items []struct {
		Text     string `json:"content"`
		Status   string `json:"status" enum:"pending,in_progress,completed,cancelled" absent:"ok"`
		Priority string `json:"priority" enum:"high,medium,low" absent:"ok"`
	} `json:"todos"`
}

func todo(p todoParams) (harness.Step, error) {
	a := action.Plan{Items: []action.PlanItem{}}
	for _, i := range p.Items {
		if i.Status == "" {
			i.Status = action.Pending
		}
		if i.Priority == "" {
			i.Priority = "medium"
		}
		a.Items = append(a.Items, action.PlanItem{Text: i.Text, Status: i.Status, Priority: i.Priority})
	}
	return harness.Do(a, sayTodo), nil
}

// sayTodo repeats the list.
func sayTodo(p action.Planned) string {
	type item struct {
		Text     string `json:"content"`
		Status   string `json:"status"`
		Priority string `json:"priority"`
	}
	items := []item{}
	for _, i := range p.Items {
		items = append(items, item{i.Text, i.Status, i.Priority})
	}
	return harness.IndentedJSON(items)
}
