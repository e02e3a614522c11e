package deepseektui

import (
	"cmp"
	"fmt"
	"strconv"

	"interpreter/harness"
	"interpreter/sandbox/action"
)

type checklistParams struct {
	Items []struct {
		Text   string `json:"content"`
		Status string `json:"status" enum:"pending,in_progress,completed" absent:"ok"`
	} `json:"todos"`
}

func checklist(p checklistParams) (harness.Step, error) {
	a := action.Plan{Items: []action.PlanItem{}}
	for n, i := range p.Items {
		a.Items = append(a.Items, action.PlanItem{ID: strconv.Itoa(n + 1), Text: i.Text, Status: cmp.Or(i.Status, action.Pending)})
	}
	return harness.Do(a, sayChecklist), nil
}

// These are not offered, as checklist_write does what they do; models that know them use them all the same.

type addParams struct {
	Text   string `json:"content"`
	Status string `json:"status,omitempty" enum:"pending,in_progress,completed"`
}

func addItem(p addParams) action.AddTask { return action.AddTask{Text: p.Text} }

func listItems(struct{}) action.ShowPlan { return action.ShowPlan{} }

type updateParams struct {
	ID     int    `json:"id"`
	Status string `json:"status" enum:"pending,in_progress,completed"`
}

func updateItem(p updateParams) action.EditTask {
	return action.EditTask{ID: strconv.Itoa(p.ID), Status: p.Status}
}

// sayChecklist counts, then repeats the list.
func sayChecklist(p action.Planned) string {
	type item struct {
		ID     int    `json:"id"`
		Text   string `json:"content"`
		Status string `json:"status"`
	}
	out := struct {
		Items   []item `json:"items"`
		Percent int    `json:"completion_pct"`
		Current *int   `json:"in_progress_id"`
	}{Items: []item{}}
	done := 0
	for n, i := range p.Items {
		out.Items = append(out.Items, item{n + 1, i.Text, i.Status})
		switch i.Status {
		case action.Completed:
			done++
		case action.InProgress:
			if out.Current == nil {
				id := n + 1
				out.Current = &id
			}
		}
	}
	if len(p.Items) > 0 {
		out.Percent = done * 100 / len(p.Items)
	}
	return fmt.Sprintf("Checklist: %d items, %d%% completed\n%s", len(p.Items), out.Percent, encoded(out, ""))
}

type askParams struct {
	Questions []struct {
		Header  string           `json:"header" absent:"ok"`
		ID      string           `json:"id" absent:"ok"`
		Text    string           `json:"question"`
		Options []harness.Option `json:"options" min:"2" max:"3"`
	} `json:"questions" min:"1" max:"3"`
}

func ask(p askParams) (harness.Step, error) {
	var a action.Ask
	for n, q := range p.Questions {
		a.Questions = append(a.Questions, action.Question{ID: cmp.Or(q.ID, strconv.Itoa(n+1)), Header: q.Header, Text: q.Text, Options: harness.Labels(q.Options)})
	}
	return harness.Do(a, func(t action.Told) string { return sayAnswers(a.Questions, t) }), nil
}

func sayAnswers(asked []action.Question, t action.Told) string {
	type answer struct {
		ID   string `json:"id"`
		Text string `json:"answer"`
	}
	answers := []answer{}
	for _, q := range asked {
		if text, ok := t.Answers[q.ID]; ok {
			answers = append(answers, answer{q.ID, text})
		}
	}
	if len(answers) == 0 {
		return "The user gave no answer. Decide by yourself, or say what is missing."
	}
	return encoded(struct {
		Answers []answer `json:"answers"`
	}{answers}, "")
}
