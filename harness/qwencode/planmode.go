package qwencode

import "interpreter/sandbox/action"

type planParams struct {
	Plan string `json:"plan"`
}

func exitPlan(p planParams) action.ExitPlan { return action.ExitPlan{Text: p.Plan} }

// sayPlan tells what the person answered.
func sayPlan(t action.Told) string {
	switch note := t.Answers["note"]; {
	case t.Text == action.Approved:
		return "The plan is approved and plan mode over: carry it out."
	case note != "":
		return "The user sent the plan back: " + note + "\nPlan mode goes on: rework the plan and propose it again."
	}
	return "The user sent the plan back. Plan mode goes on: ask what should be different."
}
