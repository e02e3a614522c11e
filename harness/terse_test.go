package harness

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"interpreter/sandbox/action"
)

func TestNumbered(t *testing.T) {
	for text, want := range map[string]string{"": "", "a": "9: a", "a\n": "9: a\n", "a\n\nb": "9: a\n10: \n11: b", "\n": "9: \n"} {
		if got := Numbered(text, 9, "%d: "); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

func TestChangedLines(t *testing.T) {
	text := "1\n2\n3\n4\n5\n6\n7\n8\n9\n"
	tests := []struct {
		first, last, most int
		want              Excerpt
	}{
		{5, 5, 40, Excerpt{"3\n4\n5\n6\n7", 3, 7, 9}},
		{1, 1, 40, Excerpt{"1\n2\n3", 1, 3, 9}},
		{9, 9, 40, Excerpt{"7\n8\n9", 7, 9, 9}},
		{2, 8, 4, Excerpt{"1\n2\n3\n4", 1, 4, 9}},
		{5, 4, 40, Excerpt{"3\n4\n5\n6\n7", 3, 7, 9}}, // lines were taken out
		{12, 12, 40, Excerpt{}},
		{0, 0, 40, Excerpt{}},
	}
	for _, tt := range tests {
		got := ChangedLines(action.FileChange{After: text, First: tt.first, Last: tt.last}, 2, tt.most)
		if got != tt.want {
			t.Errorf("%d-%d: %+v, want %+v", tt.first, tt.last, got, tt.want)
		}
	}
}

// An edit that takes a list is understood however the texts come.
func TestTerseEdits(t *testing.T) {
	tool := Choice("edit", func(p TerseEdits) (Step, error) { return p.Plan("edit", SayTerseEdited) })
	one := action.Edit{Path: "a", Old: "x", New: "y", Create: true}
	all := one
	all.All = true
	two := action.Edits{Path: "a", Pairs: []action.Pair{{Old: "x", New: "y"}, {Old: "p", New: "q"}}}
	tests := map[string]action.Action{
		`{"path":"a","edits":[{"oldText":"x","newText":"y"}]}`:                                                   one,
		`{"path":"a","edits":{"old_string":"x","new_string":"y"}}`:                                               one,
		`{"path":"a","edits":"[{\"oldText\":\"x\",\"newText\":\"y\"}]"}`:                                         one,
		`{"path":"a","edits":"{\"oldText\":\"x\",\"newText\":\"y\"}"}`:                                           one,
		`{"file_path":"a","oldText":"x","newText":"y"}`:                                                          one,
		`{"filePath":"a","old_str":"x","new_str":"y","edits":[]}`:                                                one,
		`{"path":"a","old_string":"x","new_string":"y","replace_all":true}`:                                      all,
		`{"path":"a","edits":[{"oldText":"x","newText":"y","replaceAll":"true"}]}`:                               all,
		`{"path":"a","changes":[{"old":"x","new":"y"},{"search":"p","replace":"q"}]}`:                            two,
		`{"path":"a","edits":[{"oldText":"x","newText":"y"},{"oldText":"p","newText":"q"}]}`:                     two,
		`{"path":"a","edits":"[{\"old_text\":\"x\",\"new_text\":\"y\"},{\"oldText\":\"p\",\"newText\":\"q\"}]"}`: two,
	}
	for args, want := range tests {
		step, err := tool.Plan(json.RawMessage(args))
		if err != nil {
			t.Errorf("%s: %v", args, err)
		} else if !reflect.DeepEqual(step.Action, want) {
			t.Errorf("%s is %+v, want %+v", args, step.Action, want)
		}
	}
	for args, want := range map[string]string{
		`{"path":"a"}`:                            "edits is missing",
		`{"path":"a","edits":[]}`:                 "edits is empty",
		`{"path":"a","oldText":"x"}`:              "newText is missing",
		`{"path":"a","newText":"x"}`:              "oldText is missing",
		`{"path":"a","edits":[{"oldText":"x"}]}`:  "edits[0].newText is missing",
		`{"path":"a","edits":"x"}`:                "edits must be an array",
		`{"edits":[{"oldText":"","newText":""}]}`: "path is missing",
	} {
		_, err := tool.Plan(json.RawMessage(args))
		var bad *ArgumentsError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
}

func TestHiddenParametersAreNotInTheSchema(t *testing.T) {
	tool := Choice("edit", func(p TerseEdits) (Step, error) { return p.Plan("edit", SayTerseEdited) })
	got := string(Specs([]Tool{tool})[0].Parameters)
	want := `{"type":"object","properties":{"path":{"type":"string"},"edits":{"type":"array","items":{"type":"object","properties":{"oldText":{"type":"string"},"newText":{"type":"string"}},"required":["oldText","newText"]}}},"required":["path","edits"]}`
	if got != want {
		t.Errorf("the schema is\n%s, want\n%s", got, want)
	}
}

func TestOtherwise(t *testing.T) {
	absent := errors.New("absent")
	failing := func(err error) Step {
		s := Do(action.Plan{}, func(action.Planned) string { return "planned" })
		s.Run = func(context.Context, *action.Workspace) (action.Outcome, string, error) {
			return action.Planned{}, "planned", err
		}
		return s
	}
	other := Do(action.Read{}, func(action.Seen) string { return "seen" })
	other.Run = func(context.Context, *action.Workspace) (action.Outcome, string, error) {
		return action.Seen{}, "seen", nil
	}
	for _, tt := range []struct {
		err   error
		words string
		fails bool
	}{{nil, "planned", false}, {absent, "seen", false}, {errors.New("else"), "planned", true}} {
		s := failing(tt.err).Otherwise(func(err error) bool { return errors.Is(err, absent) }, other)
		_, words, err := s.Run(context.Background(), nil)
		if words != tt.words || (err != nil) != tt.fails {
			t.Errorf("after %v: %q, %v; want %q", tt.err, words, err, tt.words)
		}
		if words, ok := s.Say(action.Seen{}); !ok || words != "seen" {
			t.Errorf("facts of the other are worded %q, %v", words, ok)
		}
		if words, ok := s.Say(action.Planned{}); !ok || words != "planned" {
			t.Errorf("its own facts are worded %q, %v", words, ok)
		}
	}
}
