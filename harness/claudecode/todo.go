package claudecode

import (
	"cmp"

	"interpreter/harness"
	"interpreter/sandbox/action"
)

type todoParams struct {
	Items []struct {
		Text   string `json:"content"`
		Status string `json:"status" enum:"pending,in_progress,completed" absent:"ok"`
		Active string `json:"activeForm" absent:"ok"`
	} `json:"todos"`
}

func todo(p todoParams) action.Plan {
	a := action.Plan{Items: []action.PlanItem{}}
	for _, i := range p.Items {
		item := action.PlanItem{Text: i.Text, Status: cmp.Or(i.Status, action.Pending)}
		if i.Active != "" && i.Active != i.Text {
			item.Task = &action.Task{Active: i.Active}
		}
		a.Items = append(a.Items, item)
	}
	return a
}

func sayTodo(p action.Planned) string {
	if len(p.Items) == 0 {
		return "The list is empty now."
	}
	return "The list is saved. " + harness.KeepOn(p.Items, "item")
}

// patience is after how many results without a look at the list it is brought back, once.
const patience = 10

func remind(p harness.Progress) string {
	text := ""
	if len(p.Touched) > 0 {
		text = harness.ChangedReminder(p.Touched)
	}
	if p.Idle < patience || p.Again || done(p.Plan) {
		return text
	}
	if text != "" {
		text += "\n\n"
	}
	return text + harness.TodoReminder(p.Plan, writer(p.Plan))
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

// writer is the tool that keeps this list: one of tasks has ids.
func writer(plan []action.PlanItem) string {
	if len(plan) > 0 && plan[0].ID == "" {
		return "TodoWrite"
	}
	if len(plan) > 0 {
		return "TaskUpdate"
	}
	return "the task tools"
}
