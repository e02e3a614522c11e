package claudecode

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"interpreter/harness"
	"interpreter/sandbox/action"
)

// The list of tasks that large models keep with four tools. It is the same plan that TodoWrite writes at once.

type createParams struct {
	Subject string                     `json:"subject" also:"title,content"`
	About   string                     `json:"description" absent:"ok"`
	Active  string                     `json:"activeForm,omitempty"`
	Extra   map[string]json.RawMessage `json:"metadata,omitempty"`
}

func createTask(p createParams) action.AddTask {
	return action.AddTask{Text: p.Subject, Task: action.Task{About: p.About, Active: p.Active, Extra: p.Extra}}
}

func sayCreated(p action.Planned) string {
	last := p.Items[len(p.Items)-1]
	return fmt.Sprintf("Task #%s created: %s", last.ID, last.Text)
}

type taskParams struct {
	ID string `json:"taskId" also:"task_id,id"`
}

// number is the id without what models write around it.
func number(id string) string { return strings.TrimPrefix(strings.TrimSpace(id), "#") }

func getTask(p taskParams) (harness.Step, error) {
	id := number(p.ID)
	say := func(plan action.Planned) string {
		i := indexOf(plan, id)
		if i < 0 {
			return "" // refused below
		}
		return describe(plan, i)
	}
	return harness.Do(action.ShowPlan{}, say).Unless(func(o action.Outcome) error {
		if plan, ok := o.(action.Planned); ok && indexOf(plan, id) < 0 {
			return fmt.Errorf("task %s: %w", id, action.ErrNoTask)
		}
		return nil
	}, func(err error) string { return fault("TaskGet", err) }), nil
}

// indexOf finds a task; those of a list that TodoWrite wrote are numbered by their place.
func indexOf(p action.Planned, id string) int {
	for i := range p.Items {
		if numberOf(p, i) == id {
			return i
		}
	}
	return -1
}

func numberOf(p action.Planned, i int) string { return cmp.Or(p.Items[i].ID, strconv.Itoa(i+1)) }

func describe(plan action.Planned, at int) string {
	item, id := plan.Items[at], numberOf(plan, at)
	lines := []string{"Task #" + id + ": " + item.Text, "Status: " + item.Status}
	task := details(item)
	if task.Owner != "" {
		lines = append(lines, "Owner: "+task.Owner)
	}
	if task.About != "" {
		lines = append(lines, "Description: "+task.About)
	}
	if ids := after(id, plan); len(ids) > 0 {
		lines = append(lines, "Blocks: "+marked(ids))
	}
	if len(task.Needs) > 0 {
		lines = append(lines, "Blocked by: "+marked(task.Needs))
	}
	return strings.Join(lines, "\n")
}

func details(item action.PlanItem) action.Task {
	if item.Task == nil {
		return action.Task{}
	}
	return *item.Task
}

// after lists the tasks that wait for one.
func after(id string, plan action.Planned) []string {
	var ids []string
	for n, i := range plan.Items {
		if slices.Contains(details(i).Needs, id) {
			ids = append(ids, numberOf(plan, n))
		}
	}
	return ids
}

func marked(ids []string) string { return "#" + strings.Join(ids, ", #") }

type noParams struct{}

func listTasks(noParams) action.ShowPlan { return action.ShowPlan{} }

func sayTasks(p action.Planned) string {
	if len(p.Items) == 0 {
		return "No tasks"
	}
	var lines []string
	for n, i := range p.Items {
		line := fmt.Sprintf("#%s [%s] %s", numberOf(p, n), i.Status, i.Text)
		task := details(i)
		if task.Owner != "" {
			line += " (" + task.Owner + ")"
		}
		if open := slices.DeleteFunc(slices.Clone(task.Needs), func(id string) bool { return completed(p, id) }); len(open) > 0 && i.Status != action.Completed {
			line += " (blocked by " + marked(open) + ")"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func completed(p action.Planned, id string) bool {
	i := indexOf(p, id)
	return i < 0 || p.Items[i].Status == action.Completed
}

type updateParams struct {
	ID      string                     `json:"taskId" also:"task_id,id"`
	Subject *string                    `json:"subject,omitempty"`
	About   *string                    `json:"description,omitempty"`
	Active  *string                    `json:"activeForm,omitempty"`
	Status  string                     `json:"status,omitempty" enum:"pending,in_progress,completed,deleted"`
	Blocks  []string                   `json:"addBlocks,omitempty"`
	After   []string                   `json:"addBlockedBy,omitempty"`
	Owner   *string                    `json:"owner,omitempty"`
	Extra   map[string]json.RawMessage `json:"metadata,omitempty"`
}

func updateTask(p updateParams) (harness.Step, error) {
	a := action.EditTask{ID: number(p.ID), Text: p.Subject, About: p.About, Active: p.Active, Owner: p.Owner, Extra: p.Extra}
	for _, id := range p.Blocks {
		a.Before = append(a.Before, number(id))
	}
	for _, id := range p.After {
		a.After = append(a.After, number(id))
	}
	if a.Drop = p.Status == "deleted"; !a.Drop {
		a.Status = p.Status
	}
	var changed []string
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"subject", p.Subject != nil}, {"description", p.About != nil}, {"activeForm", p.Active != nil}, {"status", p.Status != ""},
		{"blocks", len(p.Blocks) > 0}, {"blockedBy", len(p.After) > 0}, {"owner", p.Owner != nil}, {"metadata", len(p.Extra) > 0},
	} {
		if f.set {
			changed = append(changed, f.name)
		}
	}
	if len(changed) == 0 {
		return harness.Step{}, &harness.RefusedError{Words: "Nothing to update: give a status or another field besides taskId."}
	}
	return harness.Do(a, func(action.Planned) string {
		if a.Drop {
			return fmt.Sprintf("Task #%s deleted", a.ID)
		}
		return fmt.Sprintf("Task #%s updated: %s", a.ID, strings.Join(changed, ", "))
	}), nil
}
