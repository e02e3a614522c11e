package action

import (
	"context"
	"strings"
)

// EnterPlan asks the person to let the agent plan first: until ExitPlan nothing may be changed.
type EnterPlan struct{}

// Title is the action in a line.
func (EnterPlan) Title() string { return "plan before changing anything" }

// Need asks for nothing: the person is asked by the action itself.
func (EnterPlan) Need() Need { return Need{Effect: Thinks} }

// ExitPlan shows the person a plan and asks whether to carry it out.
type ExitPlan struct {
	Text    string
	Options []string // ways to carry it out, of which the person picks one; may be empty
}

// Title is the action in a line.
func (a ExitPlan) Title() string {
	first, _, _ := strings.Cut(strings.TrimSpace(a.Text), "\n")
	return one("propose a plan: %s", first)
}

// Need asks for nothing: the person is asked by the action itself.
func (ExitPlan) Need() Need { return Need{Effect: Thinks} }

// Planning reports whether the agent may only look, because it is planning.
func (w *Workspace) Planning() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.planning
}

// StayPlanning puts a session that goes on back into the planning it was in.
func (w *Workspace) StayPlanning() { w.setPlanning(true) }

func (w *Workspace) setPlanning(on bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.planning = on
}

// The answers to a proposed plan, as a person is offered them. What else a person writes is what they want changed.
const (
	answerYes = "Yes, go on"
	answerNo  = "No"
)

// Do asks, and from a yes on the agent only looks. Without a Host the error wraps ErrNobody.
func (a EnterPlan) Do(ctx context.Context, w *Workspace) (Told, error) {
	told, err := ask(ctx, w, Question{ID: "plan", Header: "Plan first", Text: "Plan before anything is changed?", Options: []string{answerYes, answerNo}})
	if err == nil && told.Text == Approved {
		w.setPlanning(true)
	}
	return told, err
}

// Do shows the plan and asks. Told.Text is Approved or Rejected; Answers has "choice", the way picked, or "note", what
// the person wants instead. Approved ends the planning. Without a Host the error wraps ErrNobody.
func (a ExitPlan) Do(ctx context.Context, w *Workspace) (Told, error) {
	options := append([]string{}, a.Options...)
	if len(options) == 0 {
		options = append(options, answerYes)
	}
	told, err := ask(ctx, w, Question{ID: "plan", Header: "Plan", Text: a.Text, Options: append(options, answerNo)})
	if err == nil && told.Text == Approved {
		w.setPlanning(false)
	}
	return told, err
}

// ask puts one question whose options but the last, which is No, mean yes.
func ask(ctx context.Context, w *Workspace, q Question) (Told, error) {
	if w.Host == nil {
		return Told{}, ErrNobody
	}
	answers, err := w.Host.Ask(ctx, []Question{q})
	if err != nil {
		return Told{}, err
	}
	answer := strings.TrimSpace(answers[q.ID])
	for _, o := range q.Options[:len(q.Options)-1] {
		if answer == o {
			return Told{Text: Approved, Answers: map[string]string{"choice": o}}, nil
		}
	}
	out := Told{Text: Rejected}
	if answer != "" && answer != answerNo {
		out.Answers = map[string]string{"note": answer}
	}
	return out, nil
}
