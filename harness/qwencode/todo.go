package qwencode

import (
	"bytes"
	"encoding/json"
	"strconv"

	"interpreter/sandbox/action"
)

type todoParams struct {
	Items []struct {
		Text   string `json:"content"`
		Status string `json:"status" enum:"pending,in_progress,completed" absent:"ok"`
		ID     string `json:"id" absent:"ok"`
	} `json:"todos"`
}

func todo(p todoParams) action.Plan {
	var a action.Plan
	for n, i := range p.Items {
		if i.Status == "" {
			i.Status = "pending"
		}
		if i.ID == "" {
			i.ID = strconv.Itoa(n + 1)
		}
		a.Items = append(a.Items, action.PlanItem{ID: i.ID, Text: i.Text, Status: i.Status})
	}
	return a
}

// sayTodo repeats the list, so that the model has it before its eyes without a message of its own.
func sayTodo(p action.Planned) string {
	type item struct {
		Text   string `json:"content"`
		Status string `json:"status"`
		ID     string `json:"id"`
	}
	items := []item{}
	for _, i := range p.Items {
		items = append(items, item{i.Text, i.Status, i.ID})
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(items); err != nil {
		return "The todo list was saved."
	}
	return "The todo list was saved.\n\n<system-reminder>\nThe list is now:\n" + string(bytes.TrimSpace(b.Bytes())) +
		"\nGo on with the item in progress; the user need not hear of this.\n</system-reminder>"
}
