package harness

import "interpreter/sandbox/action"

// PlanParams are the parameters of the plan tool that several families share.
type PlanParams struct {
	Items []struct {
		Text   string `json:"step"`
		Status string `json:"status" enum:"pending,in_progress,completed" absent:"ok"`
	} `json:"plan"`
	Why string `json:"explanation,omitempty"`
}

// UpdatePlan turns them into the action; a step without a status is pending.
func UpdatePlan(p PlanParams) action.Plan {
	a := action.Plan{Why: p.Why}
	for _, i := range p.Items {
		if i.Status == "" {
			i.Status = "pending"
		}
		a.Items = append(a.Items, action.PlanItem{Text: i.Text, Status: i.Status})
	}
	return a
}
