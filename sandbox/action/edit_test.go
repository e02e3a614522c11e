package action

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"interpreter/sandbox"
	"interpreter/sandbox/sandboxtest"
)

func TestEditFacts(t *testing.T) {
	w := workspace(t, map[string]string{"f.go": "a\nb\nc\n"})
	ctx := context.Background()
	out, err := Edit{Path: "f.go", Old: "b", New: "x\ny"}.Do(ctx, w)
	if err != nil {
		t.Fatal(err)
	}
	f := out.Files[0]
	if f.Diff != "--- f.go\n+++ f.go\n@@ -1,3 +1,4 @@\n a\n-b\n+x\n+y\n c\n" || f.Added != 2 || f.Removed != 1 || f.First != 2 || f.Last != 3 {
		t.Errorf("%+v", f)
	}
	if out.Spots != 1 || out.Level != "E0" || out.Same || !out.Unread || out.Stale || f.Kind != Modified || f.Before != "a\nb\nc\n" || f.After != "a\nx\ny\nc\n" {
		t.Errorf("%+v", out)
	}
	put(t, w, "f.go", "a\nX\n")
	if out, err = (Edit{Path: "f.go", Old: "X", New: "z"}).Do(ctx, w); err != nil || !out.Stale || out.Unread {
		t.Errorf("after somebody else's change: %+v, %v", out, err)
	}
	if out, err = (Edit{Path: "f.go", Old: "z", New: "q"}).Do(ctx, w); err != nil || out.Stale {
		t.Errorf("after our own change: %+v, %v", out, err)
	}
}

func TestEditCreates(t *testing.T) {
	w := workspace(t, map[string]string{"full": "x", "empty": ""})
	ctx := context.Background()
	if out, err := (Edit{Path: "new/f", New: "hi\n", Create: true}).Do(ctx, w); err != nil || out.Files[0].Kind != Added || content(t, w, "new/f") != "hi\n" {
		t.Errorf("%+v, %v", out, err)
	}
	if _, err := (Edit{Path: "empty", New: "hi\n", Create: true}).Do(ctx, w); err != nil || content(t, w, "empty") != "hi\n" {
		t.Errorf("an empty file: %v", err)
	}
	if _, err := (Edit{Path: "full", New: "hi\n", Create: true}).Do(ctx, w); !errors.Is(err, ErrExists) || !errors.Is(err, ErrEmptyOld) {
		t.Errorf("a file with content: %v", err)
	}
	if _, err := (Edit{Path: "none", New: "hi\n"}).Do(ctx, w); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without Create: %v", err)
	}
}

func TestEditOptions(t *testing.T) {
	w := workspace(t, map[string]string{"f": "a  \nb\nc\r\nd\n"})
	ctx := context.Background()
	var me *MatchError
	for n := 1; n <= 2; n++ {
		if _, err := (Edit{Path: "f", Old: "a\nb", New: "x", Strict: true}).Do(ctx, w); !errors.As(err, &me) || me.Failures != n || !me.Unread || me.Path != "f" || me.Content != "a  \nb\nc\nd\n" {
			t.Errorf("strict, time %d: %+v", n, err)
		}
	}
	if _, err := (Edit{Path: "f", Old: "c", Lines: true}).Do(ctx, w); err != nil || content(t, w, "f") != "a  \nb\nd\n" {
		t.Errorf("whole lines: %q, %v", content(t, w, "f"), err)
	}
	if _, err := (Edit{Path: "f", Old: "nowhere near it", New: "x"}).Do(ctx, w); !errors.As(err, &me) || me.Failures != 1 {
		t.Errorf("a success starts the count again: %+v", err)
	}
}

func TestEditDenied(t *testing.T) {
	w := workspace(t, map[string]string{"f": "a"})
	policy := w.Box.Policy()
	policy.Mode, policy.Roots = sandbox.ReadOnly, nil
	w.Box = sandboxtest.New(t, policy)
	ctx := context.Background()
	for _, do := range []func(context.Context) error{
		func(ctx context.Context) error {
			_, err := Edit{Path: "f", Old: "a", New: "b"}.Do(ctx, w)
			return err
		},
		func(ctx context.Context) error { _, err := Write{Path: "f", Content: "b"}.Do(ctx, w); return err },
		func(ctx context.Context) error {
			_, err := Patch{Text: patch(updateMark+"f", "-a", "+b")}.Do(ctx, w)
			return err
		},
	} {
		var denied *DeniedError
		if err := do(ctx); !errors.As(err, &denied) || denied.What != "write" || denied.Path != "f" || !strings.Contains(err.Error(), "read-only") {
			t.Errorf("got %v", err)
		}
	}
	if got := content(t, w, "f"); got != "a" {
		t.Errorf("it was written: %q", got)
	}
	if _, err := (Edit{Path: "f", Old: "a", New: "b"}).Do(WithApproved(ctx, "f"), w); err != nil || content(t, w, "f") != "b" {
		t.Errorf("approved: %q, %v", content(t, w, "f"), err)
	}
}

func TestEdits(t *testing.T) {
	const before = "one\ntwo\nthree\ntwo\n"
	tests := []struct {
		name  string
		pairs []Pair
		want  string
		notes int
		fails []int
		err   error
	}{
		{"both against the original", []Pair{{Old: "three", New: "3"}, {Old: "one", New: "three"}}, "three\ntwo\n3\ntwo\n", 0, nil, nil},
		{"one after the other", []Pair{{Old: "one", New: "uno"}, {Old: "uno\ntwo", New: "x"}}, "x\nthree\ntwo\n", 1, nil, nil},
		{"all of one", []Pair{{Old: "two", New: "2", All: true}, {Old: "one", New: "1"}}, "1\n2\nthree\n2\n", 0, nil, nil},
		{"each failure is named", []Pair{{Old: "four", New: "4"}, {Old: "one", New: "1"}, {Old: "two", New: "2"}, {Old: "x", New: "x"}}, "", 0, []int{0, 2, 3}, nil},
		{"empty", []Pair{{Old: "", New: "4"}}, "", 0, []int{0}, ErrEmptyOld},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			w := workspace(t, map[string]string{"f": before})
			out, err := Edits{Path: "f", Pairs: c.pairs}.Do(context.Background(), w)
			if c.fails == nil {
				if err != nil || content(t, w, "f") != c.want || len(out.Notes) != c.notes {
					t.Errorf("%q, %+v, %v", content(t, w, "f"), out, err)
				}
				return
			}
			var list *EditsError
			if !errors.As(err, &list) || len(list.Errs) != len(c.fails) || c.err != nil && !errors.Is(err, c.err) {
				t.Fatalf("got %v", err)
			}
			for i, e := range list.Errs {
				if me := e.(*MatchError); me.Index != c.fails[i] || me.Path != "f" {
					t.Errorf("failure %d is %+v", i, me)
				}
			}
			if content(t, w, "f") != before {
				t.Error("something was written")
			}
		})
	}
	w := workspace(t, map[string]string{"f": before})
	_, err := Edits{Path: "f", Pairs: []Pair{{Old: "three", New: "3"}, {Old: "one\ntwo\nth", New: "x"}}}.Do(context.Background(), w)
	var overlap *OverlapError
	if !errors.As(err, &overlap) || overlap.A != 0 || overlap.B != 1 || overlap.Path != "f" {
		t.Errorf("an overlap gives %v", err)
	}
}

func TestWrite(t *testing.T) {
	w := workspace(t, map[string]string{"f": "a\r\n", "u": "\xff\xfea\x00"})
	ctx := context.Background()
	out, err := Write{Path: "f", Content: "b\n", Append: true}.Do(ctx, w)
	if err != nil || content(t, w, "f") != "a\r\nb\r\n" || out.Files[0].Added != 1 || out.Files[0].Removed != 0 {
		t.Errorf("%+v, %v", out, err)
	}
	if _, err := (Write{Path: "u", Content: "b", Append: true}).Do(ctx, w); err != nil || content(t, w, "u") != "\xff\xfea\x00b\x00" {
		t.Errorf("%q, %v", content(t, w, "u"), err)
	}
	if out, err = (Write{Path: "f", Content: "a\r\nb\r\n"}).Do(ctx, w); err != nil || !out.Same || out.Files[0].Diff != "" {
		t.Errorf("the same content: %+v, %v", out, err)
	}
	if out, err = (Write{Path: "d/n", Content: ""}).Do(ctx, w); err != nil || out.Same || out.Files[0].Kind != Added {
		t.Errorf("an empty new file: %+v, %v", out, err)
	}
	if _, err = (Write{Path: "d", Content: ""}).Do(ctx, w); err == nil {
		t.Error("a folder was written over")
	}
	if _, err = (Write{Path: " "}).Do(ctx, w); err == nil {
		t.Error("an empty path was written")
	}
}

func TestDiffIsBounded(t *testing.T) {
	diff, added, removed := unified("a", "b", "", strings.Repeat("x\n", 1000))
	if strings.Count(diff, "\n") != diffLines+1 || added != 1000 || removed != 0 || !strings.HasSuffix(diff, "603 more lines of diff left out\n") {
		t.Errorf("%d lines, +%d -%d, ends %q", strings.Count(diff, "\n"), added, removed, diff[len(diff)-60:])
	}
	old, new := strings.Repeat("a line of it\n", 60_000), strings.Repeat("another line\n", 60_000)
	if diff, added, removed = unified("a", "b", old, new); len(diff) > 200 || added != 60_000 || removed != 60_000 {
		t.Errorf("a huge change gives %q, +%d -%d", cutRunes(diff, 200), added, removed)
	}
}

func TestPlan(t *testing.T) {
	w := workspace(t, nil)
	ctx := context.Background()
	items := []PlanItem{{Text: "look", Status: Completed}, {Text: "fix", Status: InProgress}}
	plan := Plan{Items: items, Why: "w"}
	out, err := plan.Do(ctx, w)
	if err != nil || out.Why != "w" || len(w.Plan()) != 2 || w.Plan()[1].Text != "fix" || plan.Title() != "plan, 1 of 2 done" {
		t.Errorf("%+v, %v, %+v", out, err, w.Plan())
	}
	for _, bad := range []Plan{{}, {Items: []PlanItem{{Text: "x", Status: "soon"}}}, {Items: []PlanItem{{Status: Pending}}}} {
		if _, err := bad.Do(ctx, w); err == nil {
			t.Errorf("%+v should fail", bad)
		}
	}
	if len(w.Plan()) != 2 {
		t.Error("a bad plan replaced the good one")
	}
}
