package action

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Plan replaces the list of steps the agent works through.
type Plan struct {
	Items []PlanItem
	Why   string
}

// The states of a PlanItem.
const (
	Pending    = "pending"
	InProgress = "in_progress"
	Completed  = "completed"
	Cancelled  = "cancelled" // given up, and no longer part of what is left to do
)

// Title is the action in a line.
func (a Plan) Title() string {
	done := 0
	for _, item := range a.Items {
		if item.Status == Completed {
			done++
		}
	}
	return one("plan, %d of %d done", done, len(a.Items))
}

// Need asks for nothing.
func (a Plan) Need() Need { return Need{Effect: Thinks} }

// Do keeps the plan. A step without a text, or with a status nobody knows, is an error and the old plan stays.
func (a Plan) Do(_ context.Context, w *Workspace) (Planned, error) {
	for i, item := range a.Items {
		switch {
		case strings.TrimSpace(item.Text) == "":
			return Planned{}, fmt.Errorf("plan: step %d has no text", i+1)
		case !slices.Contains([]string{Pending, InProgress, Completed, Cancelled}, item.Status):
			return Planned{}, fmt.Errorf("plan: step %d has status %q; there are %s, %s, %s and %s", i+1, item.Status, Pending, InProgress, Completed, Cancelled)
		}
	}
	if a.Items == nil {
		return Planned{}, errors.New("plan: no list of steps given")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.plan = slices.Clone(a.Items)
	return Planned{Why: a.Why, Items: slices.Clone(a.Items)}, nil
}

// ResumePlan puts back the plan of a session that goes on.
func (w *Workspace) ResumePlan(items []PlanItem) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.plan = slices.Clone(items)
}

// Plan is the plan as it is now.
func (w *Workspace) Plan() []PlanItem {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.plan)
}
