package action

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
)

func ptr(s string) *string { return &s }

// A list of tasks is the plan: what one action does to it, the next one finds.
func TestTasks(t *testing.T) {
	ctx := context.Background()
	w := &Workspace{}
	state := func() string {
		raw, err := json.Marshal(w.Plan())
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	do := func(a interface {
		Do(context.Context, *Workspace) (Planned, error)
	}) {
		t.Helper()
		if _, err := a.Do(ctx, w); err != nil {
			t.Fatal(err)
		}
	}
	do(Plan{Items: []PlanItem{{Text: "Look", Status: Completed}}})
	do(AddTask{Text: "Parse", Task: Task{About: "Flags and all.", Extra: map[string]json.RawMessage{"a": json.RawMessage("1")}}})
	do(AddTask{Text: "Test"})
	do(EditTask{ID: "3", After: []string{"2", "2"}, Owner: ptr("ada")})
	do(EditTask{ID: "1", Before: []string{"2"}})
	do(EditTask{ID: "2", Status: InProgress, Text: ptr("Parse flags"), Extra: map[string]json.RawMessage{"a": json.RawMessage("null"), "b": json.RawMessage(`"x"`)}})
	want := `[{"id":"1","text":"Look","status":"completed","task":{}},` +
		`{"id":"2","text":"Parse flags","status":"in_progress","task":{"about":"Flags and all.","needs":["1"],"extra":{"b":"x"}}},` +
		`{"id":"3","text":"Test","status":"pending","task":{"owner":"ada","needs":["2"]}}]`
	if got := state(); got != want {
		t.Fatalf("the plan is\n%s\nwant\n%s", got, want)
	}
	for _, bad := range []EditTask{{ID: "9"}, {ID: "3", After: []string{"9"}}, {ID: "3", Before: []string{"9"}}} {
		if _, err := bad.Do(ctx, w); !errors.Is(err, ErrNoTask) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	for _, bad := range []EditTask{{ID: "3", Status: "odd"}, {ID: "3", Text: ptr(" ")}} {
		if _, err := bad.Do(ctx, w); err == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
	if _, err := (AddTask{Text: " "}).Do(ctx, w); err == nil {
		t.Error("a task without a text was taken")
	}
	if got := state(); got != want {
		t.Errorf("refused changes left\n%s", got)
	}
	do(EditTask{ID: "2", Drop: true})
	if got := state(); got != `[{"id":"1","text":"Look","status":"completed","task":{}},{"id":"3","text":"Test","status":"pending","task":{"owner":"ada"}}]` {
		t.Errorf("after a drop the plan is %s", got)
	}
	if seen, err := (ShowPlan{}).Do(ctx, w); err != nil || len(seen.Items) != 2 {
		t.Errorf("shown: %+v, %v", seen, err)
	}
	if seen, err := (ShowPlan{}).Do(ctx, &Workspace{}); err != nil || seen.Items == nil {
		t.Errorf("no plan is shown as %+v, %v", seen, err)
	}
}
