package harness

import "interpreter/sandbox/action"

// PlanAbove are the parameters of an ExitPlanMode that takes no plan: the model has written it as its message, and the
// person read it there.
type PlanAbove struct {
	Options []struct {
		Label string `json:"label"`
		About string `json:"description,omitempty"`
	} `json:"options,omitempty" max:"3"`
}

// Step proposes the plan. Ways to carry it out, if there are any, are for the person to choose from.
func (p PlanAbove) Step(say func(string) string) (Step, error) {
	var options []Option
	for _, o := range p.Options {
		options = append(options, Option(o))
	}
	labels := Labels(options)
	return Do(action.ExitPlan{Text: "Carry out the plan above?", Options: labels}, func(t action.Told) string {
		if t.Text != action.Approved {
			return say("The user sent the plan back. Plan mode goes on: rework the plan and propose it again." + theySay(t))
		}
		text := "The plan above is approved and plan mode over: carry it out."
		if len(labels) > 0 && t.Answers["choice"] != "" {
			text += " They chose: " + t.Answers["choice"]
		}
		return say(text)
	}), nil
}

// PlanAboveFirst asks the person whether to plan first.
func PlanAboveFirst(say func(string) string) (Step, error) {
	return Do(action.EnterPlan{}, func(t action.Told) string {
		if t.Text != action.Approved {
			return say("The user wants no plan first. Go on without plan mode." + theySay(t))
		}
		return say("Plan mode is on: nothing may be changed. Read and search until you understand the task, write the plan as your message, then call ExitPlanMode.")
	}), nil
}

func theySay(t action.Told) string {
	if note := t.Answers["note"]; note != "" {
		return " They say: " + note
	}
	return ""
}
