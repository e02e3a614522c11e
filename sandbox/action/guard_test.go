package action

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
)

// numbers are lines from 1 to n, each with a word.
func numbers(n int, word string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s %d\n", word, i+1)
	}
	return b.String()
}

func TestWriteGuard(t *testing.T) {
	long, short := numbers(100, "line"), numbers(60, "line")
	ctx := context.Background()
	write := func(w *Workspace, path, content string) string {
		_, err := Write{Path: path, Content: content, Guard: true}.Do(ctx, w)
		var g *GuardError
		if errors.As(err, &g) {
			return g.Why
		}
		if err != nil {
			t.Fatal(err)
		}
		return ""
	}
	w := workspace(t, map[string]string{"long": long, "short": short, "third": long, "other": long})
	changed := strings.Replace(long, "line 7\n", "line seven\n", 1)
	for i, want := range []string{GuardExists, GuardExists, ""} { // it gives way
		if got := write(w, "long", changed); got != want {
			t.Errorf("time %d: %q, want %q", i+1, got, want)
		}
	}
	if got := write(w, "long", long); got != GuardExists {
		t.Errorf("the file as it is now is guarded anew: %q", got)
	}
	if got := write(w, "short", strings.Replace(short, "line 7\n", "", 1)); got != "" {
		t.Errorf("a short file: %q", got)
	}
	if got := write(w, "other", numbers(100, "quite other")); got != "" {
		t.Errorf("other content: %q", got)
	}
	if got := write(w, "new", long); got != "" {
		t.Errorf("a new file: %q", got)
	}
	for range 3 {
		if _, err := (Edit{Path: "third", Old: "not in it at all", New: "x"}).Do(ctx, w); err == nil {
			t.Fatal("that should not match")
		}
	}
	if got := write(w, "third", changed); got != "" {
		t.Errorf("after three failed edits: %q", got)
	}
	if _, err := (Write{Path: "third", Content: long}).Do(ctx, w); err != nil {
		t.Errorf("without Guard: %v", err)
	}
}

func TestWriteShrinks(t *testing.T) {
	ctx := context.Background()
	w := workspace(t, map[string]string{"f": numbers(41, "some line"), "small": numbers(40, "some line"), "a.go": numbers(30, "x"), "doc.md": numbers(30, "x")})
	less := Write{Path: "f", Content: numbers(20, "some line")}
	var g *GuardError
	if _, err := less.Do(ctx, w); !errors.As(err, &g) || g.Why != GuardShrinks || g.Lines != 41 || g.New != 20 || !strings.Contains(err.Error(), "again") {
		t.Errorf("%+v", err)
	}
	put(t, w, "f", numbers(50, "some line"))
	if _, err := less.Do(ctx, w); !errors.As(err, &g) {
		t.Errorf("what was asked of another content proves nothing: %v", err)
	}
	if _, err := less.Do(ctx, w); err != nil || content(t, w, "f") != less.Content {
		t.Errorf("the second time: %v", err)
	}
	if _, err := (Write{Path: "small", Content: "x\n"}).Do(ctx, w); err != nil {
		t.Errorf("a small file: %v", err)
	}
	left := Write{Path: "a.go", Content: numbers(29, "x") + "// ... rest of the code ...\n"}
	for range 3 {
		if _, err := left.Do(ctx, w); !errors.As(err, &g) || g.Why != GuardPlaceholder || g.Text != "// ... rest of the code ..." {
			t.Errorf("%+v", err)
		}
	}
	if _, err := (Write{Path: "new.go", Content: left.Content}).Do(ctx, w); err != nil {
		t.Errorf("a new file loses nothing: %v", err)
	}
	if _, err := (Patch{Whole: []WholeFile{{"a.go", left.Content}}}).Do(ctx, w); !errors.As(err, &g) || content(t, w, "a.go") != numbers(30, "x") {
		t.Errorf("a patch that replaces all of it: %v", err)
	}
	if _, err := (Write{Path: "doc.md", Content: numbers(30, "x") + "...\n# Existing code\n"}).Do(ctx, w); err != nil {
		t.Errorf("dots in a text: %v", err)
	}
}

func TestInsert(t *testing.T) {
	ctx := context.Background()
	tests := []struct {
		before      string
		after       int
		text, want  string
		first, last int
	}{
		{"a\nb\n", 0, "x", "x\na\nb\n", 1, 1},
		{"a\nb\n", 1, "x\ny\n", "a\nx\ny\nb\n", 2, 3},
		{"a\nb\n", 2, "x", "a\nb\nx\n", 3, 3},
		{"a\nb", 2, "x\ny", "a\nb\nx\ny", 3, 4},
		{"a\r\nb\r\n", 1, "x\ny", "a\r\nx\r\ny\r\nb\r\n", 2, 3},
		{"", 0, "x", "x\n", 1, 1},
		{"a\n", 1, "", "a\n\n", 2, 2},
		{"caf\xe9\n", 1, "é", "caf\xe9\n\xe9\n", 2, 2},
		{"\xff\xfea\x00\n\x00", 1, "b", "\xff\xfea\x00\n\x00b\x00\n\x00", 2, 2},
	}
	for _, c := range tests {
		w := workspace(t, map[string]string{"f": c.before})
		out, err := Insert{Path: "f", After: c.after, Text: c.text}.Do(ctx, w)
		if err != nil || content(t, w, "f") != c.want {
			t.Errorf("%q after %d of %q gives %q, %v", c.text, c.after, c.before, content(t, w, "f"), err)
			continue
		}
		if f := out.Files[0]; f.First != c.first || f.Last != c.last || out.Spots != 1 {
			t.Errorf("%q after %d of %q: lines %d-%d, want %d-%d", c.text, c.after, c.before, f.First, f.Last, c.first, c.last)
		}
	}
	w := workspace(t, map[string]string{"f": "a\n", "bin": "\x00"})
	var line *LineError
	for _, n := range []int{-1, 2} {
		if _, err := (Insert{Path: "f", After: n, Text: "x"}).Do(ctx, w); !errors.As(err, &line) || line.Total != 1 {
			t.Errorf("after line %d: %v", n, err)
		}
	}
	var missing *MissingError
	if _, err := (Insert{Path: "g", Text: "x"}).Do(ctx, w); !errors.As(err, &missing) {
		t.Error(err)
	}
	if _, err := (Insert{Path: "bin", Text: "x"}).Do(ctx, w); !errors.Is(err, ErrBinary) {
		t.Error(err)
	}
}

func TestUndo(t *testing.T) {
	ctx := context.Background()
	w := workspace(t, map[string]string{"f": "0\n", "gone": "here\n", "by.hand": "1\n"})
	undo := func(path, want string) Changed {
		t.Helper()
		out, err := Undo{Path: path}.Do(ctx, w)
		if err != nil {
			t.Fatal(err)
		}
		if got := content(t, w, path); got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
		return out
	}
	must := func(_ Changed, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(Edit{Path: "f", Old: "0", New: "1"}.Do(ctx, w))
	must(Insert{Path: "f", After: 1, Text: "2"}.Do(ctx, w))
	must(Write{Path: "f", Content: "3\n"}.Do(ctx, w))
	if out := undo("f", "1\n2\n"); out.Files[0].Kind != Modified || out.Files[0].Removed != 1 {
		t.Errorf("%+v", out.Files[0])
	}
	undo("f", "1\n")
	undo("f", "0\n")
	if _, err := (Undo{Path: "f"}).Do(ctx, w); !errors.Is(err, ErrNoChange) {
		t.Errorf("nothing is left: %v", err)
	}
	for i := range 12 {
		must(Write{Path: "f", Content: fmt.Sprintln(i)}.Do(ctx, w))
	}
	for i := 10; i >= 1; i-- {
		undo("f", fmt.Sprintln(i))
	}
	if _, err := (Undo{Path: "f"}).Do(ctx, w); !errors.Is(err, ErrNoChange) {
		t.Errorf("ten versions are kept: %v", err)
	}
	must(Write{Path: "new/f", Content: "x"}.Do(ctx, w))
	if out, err := (Undo{Path: "new/f"}).Do(ctx, w); err != nil || out.Files[0].Kind != Deleted {
		t.Errorf("%+v, %v", out, err)
	}
	if _, err := os.Stat(w.Abs("new/f")); err == nil {
		t.Error("a new file is still there")
	}
	must(Patch{Text: patch(deleteMark + "gone")}.Do(ctx, w))
	if out := undo("gone", "here\n"); out.Files[0].Kind != Added {
		t.Errorf("%+v", out)
	}
	must(Edit{Path: "by.hand", Old: "1", New: "2"}.Do(ctx, w))
	put(t, w, "by.hand", "3\n")
	var stale *StaleError
	if _, err := (Undo{Path: "by.hand"}).Do(ctx, w); !errors.As(err, &stale) || content(t, w, "by.hand") != "3\n" {
		t.Errorf("somebody else's change: %v", err)
	}
	must(Write{Path: "big", Content: strings.Repeat("x", undoBytes+1)}.Do(ctx, w))
	must(Write{Path: "big", Content: "y"}.Do(ctx, w))
	if _, err := (Undo{Path: "big"}).Do(ctx, w); !errors.Is(err, ErrNoChange) {
		t.Errorf("a large version: %v", err)
	}
	must(Patch{Text: patch(updateMark+"f", "*** Move to: g", "@@", "-1", "+one")}.Do(ctx, w))
	if _, err := (Undo{Path: "g"}).Do(ctx, w); !errors.Is(err, ErrNoChange) {
		t.Errorf("undoing the new path alone would lose the content: %v", err)
	}
}
