package zcode

import (
	"cmp"

	"interpreter/harness"
	"interpreter/sandbox/action"
)

type todoParams struct {
	Items []struct {
		Text     string `json:"content"`
		Status   string `json:"status" enum:"pending,in_progress,completed" absent:"ok"`
		Priority string `json:"priority" enum:"high,medium,low" absent:"ok"`
	} `json:"todos"`
}

func todo(p todoParams) action.Plan {
	a := action.Plan{Items: []action.PlanItem{}}
	for _, i := range p.Items {
		a.Items = append(a.Items, action.PlanItem{Text: i.Text, Status: cmp.Or(i.Status, action.Pending), Priority: cmp.Or(i.Priority, "medium")})
	}
	return a
}

type noParams struct{}

func readTodos(noParams) action.ShowPlan { return action.ShowPlan{} }

type item struct {
	Text     string `json:"content"`
	Status   string `json:"status"`
	Priority string `json:"priority"`
}

type summary struct {
	Total      int `json:"total"`
	Pending    int `json:"pending"`
	InProgress int `json:"inProgress"`
	Completed  int `json:"completed"`
}

func listed(p action.Planned) ([]item, summary) {
	items, s := []item{}, summary{Total: len(p.Items)}
	for _, i := range p.Items {
		items = append(items, item{i.Text, i.Status, cmp.Or(i.Priority, "medium")})
		switch i.Status {
		case action.InProgress:
			s.InProgress++
		case action.Completed:
			s.Completed++
		default:
			s.Pending++
		}
	}
	return items, s
}

func sayWritten(p action.Planned) string {
	items, s := listed(p)
	return harness.Compact(struct {
		Items   []item  `json:"todos"`
		Summary summary `json:"summary"`
	}{items, s})
}

func sayTodos(p action.Planned) string {
	items, _ := listed(p)
	return harness.Compact(struct {
		Items []item `json:"todos"`
	}{items})
}

// patience is after how many results without a look at the list it is brought back.
const patience = 10

func remind(p harness.Progress) string {
	text := ""
	if len(p.Touched) > 0 {
		text = harness.ChangedReminder(p.Touched)
	}
	if p.Idle < patience || done(p.Plan) {
		return text
	}
	if text != "" {
		text += "\n\n"
	}
	return text + harness.TodoReminder(p.Plan, "TodoWrite")
}

// done reports a list in which nothing is left to do.
func done(plan []action.PlanItem) bool {
	for _, i := range plan {
		if i.Status != action.Completed {
			return false
		}
	}
	return len(plan) > 0
}
