package harness

import (
	"strconv"
	"strings"

	"interpreter/sandbox/action"
)

// TitledPlan are the parameters of a todo list whose items have titles and end as done. Without a list it is read.
type TitledPlan struct {
	Items *[]struct {
		Title  string `json:"title" also:"text"`
		Status string `json:"status" enum:"pending,in_progress,done" absent:"ok"`
	} `json:"todos,omitempty"`
}

// Step writes the list, or reads it.
func (p TitledPlan) Step(wrote, read func(action.Planned) string) (Step, error) {
	if p.Items == nil {
		return Do(action.ShowPlan{}, read), nil
	}
	a := action.Plan{Items: []action.PlanItem{}}
	for _, i := range *p.Items {
		status := i.Status
		switch status {
		case "":
			status = action.Pending
		case "done":
			status = action.Completed
		}
		a.Items = append(a.Items, action.PlanItem{Text: i.Title, Status: status})
	}
	return Do(a, wrote), nil
}

// KeepOn says what to do once the list is written: one names the item in progress, as "item" or "one".
func KeepOn(items []action.PlanItem, one string) string {
	open := false
	for _, i := range items {
		if i.Status == action.InProgress {
			return "Go on with the " + one + " in progress."
		}
		open = open || i.Status == action.Pending
	}
	if open {
		return "Set the next one in_progress when you begin it."
	}
	return "Nothing on it is open."
}

// TitledLines are the items of such a list, a line each.
func TitledLines(items []action.PlanItem) string {
	lines := make([]string, 0, len(items))
	for _, i := range items {
		status := i.Status
		if status == action.Completed {
			status = "done"
		}
		lines = append(lines, "- ["+status+"] "+i.Text)
	}
	return strings.Join(lines, "\n")
}

// StaleTitled brings such a list back to mind; "" while there is no need. tool writes the list.
func StaleTitled(p Progress, tool string) string {
	const idle = 10
	open := false
	for _, i := range p.Plan {
		open = open || i.Status != action.Completed
	}
	if !open || p.Answers < idle {
		return ""
	}
	return Reminded("The todo list has rested for " + strconv.Itoa(p.Answers) + " steps. Bring it up to date with " + tool +
		" if it still serves the work, or empty it. It reads:\n" + TitledLines(p.Plan) + "\nThe user need not hear of this.")
}
