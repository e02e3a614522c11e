package action

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Task is what a step of a plan has besides its text when the plan is kept as a list of tasks.
type Task struct {
	About  string                     `json:"about,omitempty"`  // what is to be done, at length
	Active string                     `json:"active,omitempty"` // its text while it is being done: "Running tests"
	Owner  string                     `json:"owner,omitempty"`
	Needs  []string                   `json:"needs,omitempty"` // ids of the tasks that come first
	Extra  map[string]json.RawMessage `json:"extra,omitempty"` // further facts, of no meaning here
}

// ErrNoTask is a task that is not in the plan.
var ErrNoTask = errors.New("no such task")

// ShowPlan gives the plan as it is.
type ShowPlan struct{}

// Title is the action in a line.
func (ShowPlan) Title() string { return "look at the plan" }

// Need asks for nothing.
func (ShowPlan) Need() Need { return Need{Effect: Thinks} }

// Do looks.
func (ShowPlan) Do(_ context.Context, w *Workspace) (Planned, error) {
	items := w.Plan()
	if items == nil {
		items = []PlanItem{}
	}
	return Planned{Items: items}, nil
}

// AddTask appends a step to the plan.
type AddTask struct {
	Text string
	Task Task
}

// Title is the action in a line.
func (a AddTask) Title() string { return one("plan: add %s", a.Text) }

// Need asks for nothing.
func (AddTask) Need() Need { return Need{Effect: Thinks} }

// Do appends it, pending, under the number after the highest there is; it is the last of the items.
func (a AddTask) Do(_ context.Context, w *Workspace) (Planned, error) {
	if strings.TrimSpace(a.Text) == "" {
		return Planned{}, errors.New("plan: the task has no text")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	next := 1
	for i, item := range w.plan {
		if item.ID == "" { // from a plan without ids
			w.plan[i].ID = strconv.Itoa(i + 1)
		}
		if n, err := strconv.Atoi(w.plan[i].ID); err == nil {
			next = max(next, n+1)
		}
	}
	task := a.Task
	w.plan = append(w.plan, PlanItem{ID: strconv.Itoa(next), Text: a.Text, Status: Pending, Task: &task})
	return Planned{Items: slices.Clone(w.plan)}, nil
}

// EditTask changes one step of the plan. What is nil or empty stays.
type EditTask struct {
	ID     string
	Text   *string                    `json:",omitempty"`
	About  *string                    `json:",omitempty"`
	Active *string                    `json:",omitempty"`
	Owner  *string                    `json:",omitempty"`
	Status string                     `json:",omitempty"`
	Drop   bool                       `json:",omitempty"` // take it out of the plan
	Before []string                   `json:",omitempty"` // ids of tasks that now need this one
	After  []string                   `json:",omitempty"` // ids of tasks that this one now needs
	Extra  map[string]json.RawMessage `json:",omitempty"` // merged into what it has; null takes a key out
}

// Title is the action in a line.
func (a EditTask) Title() string {
	switch {
	case a.Drop:
		return one("plan: drop task %s", a.ID)
	case a.Status != "":
		return one("plan: task %s is %s", a.ID, strings.ReplaceAll(a.Status, "_", " "))
	}
	return one("plan: change task %s", a.ID)
}

// Need asks for nothing.
func (EditTask) Need() Need { return Need{Effect: Thinks} }

// Do changes it. The error wraps ErrNoTask when an id is not in the plan, and then nothing has changed.
func (a EditTask) Do(_ context.Context, w *Workspace) (Planned, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	plan := slices.Clone(w.plan)
	at := func(id string) (int, error) {
		for i, item := range plan {
			if item.ID == id || item.ID == "" && strconv.Itoa(i+1) == id {
				return i, nil
			}
		}
		return 0, fmt.Errorf("task %s: %w", id, ErrNoTask)
	}
	i, err := at(a.ID)
	if err != nil {
		return Planned{}, err
	}
	if a.Status != "" && !slices.Contains([]string{Pending, InProgress, Completed}, a.Status) {
		return Planned{}, fmt.Errorf("plan: task %s: status %q; there are %s, %s and %s", a.ID, a.Status, Pending, InProgress, Completed)
	}
	if a.Text != nil && strings.TrimSpace(*a.Text) == "" {
		return Planned{}, fmt.Errorf("plan: task %s: the new text is empty", a.ID)
	}
	if a.Drop {
		plan = slices.Delete(plan, i, i+1)
		for j := range plan {
			if t := plan[j].details(); slices.Contains(t.Needs, a.ID) {
				t.Needs = slices.DeleteFunc(slices.Clone(t.Needs), func(id string) bool { return id == a.ID })
				plan[j].Task = &t
			}
		}
		w.plan = plan
		return Planned{Items: slices.Clone(plan)}, nil
	}
	needs := map[int][]string{}
	for _, id := range a.Before {
		j, err := at(id)
		if err != nil {
			return Planned{}, err
		}
		needs[j] = append(needs[j], a.ID)
	}
	for _, id := range a.After {
		if _, err := at(id); err != nil {
			return Planned{}, err
		}
		needs[i] = append(needs[i], id)
	}
	for j, ids := range needs {
		t := plan[j].details()
		t.Needs = slices.Clone(t.Needs)
		for _, id := range ids {
			if !slices.Contains(t.Needs, id) && id != plan[j].ID {
				t.Needs = append(t.Needs, id)
			}
		}
		plan[j].Task = &t
	}
	a.into(&plan[i])
	w.plan = plan
	return Planned{Items: slices.Clone(plan)}, nil
}

// into sets what was given.
func (a EditTask) into(item *PlanItem) {
	t := item.details()
	for _, f := range []struct{ from, to *string }{{a.Text, &item.Text}, {a.About, &t.About}, {a.Active, &t.Active}, {a.Owner, &t.Owner}} {
		if f.from != nil {
			*f.to = *f.from
		}
	}
	if a.Status != "" {
		item.Status = a.Status
	}
	if len(a.Extra) > 0 {
		merged := map[string]json.RawMessage{}
		for key, value := range t.Extra {
			merged[key] = value
		}
		for key, value := range a.Extra {
			if string(value) == "null" {
				delete(merged, key)
				continue
			}
			merged[key] = value
		}
		t.Extra = merged
	}
	item.Task = &t
}

// details is a copy of what a step has besides its text.
func (i PlanItem) details() Task {
	if i.Task == nil {
		return Task{}
	}
	return *i.Task
}
