package action

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"interpreter/sandbox"
	"interpreter/sandbox/sandboxtest"
)

// Markers as models spell them who do not remember the format to the letter.
func TestPatchSloppyMarkers(t *testing.T) {
	for name, text := range map[string]string{
		"no begin marker":          "*** Update File: f\n@@\n-one\n+1\n*** End Patch\n",
		"neither begin nor end":    "*** Update File: f\n@@\n-one\n+1\n",
		"no blank behind the star": "*** Begin Patch\n***Update File: f\n@@\n-one\n+1\n***Add File: g\n+x\n*** End Patch\n",
	} {
		w := workspace(t, map[string]string{"f": "one\ntwo\n"})
		if _, err := (Patch{Text: text}).Do(context.Background(), w); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := string(load(t, filepath.Join(w.Dir, "f"))); got != "1\ntwo\n" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// A link in the working folder does not make what is behind it part of it, whatever root that is in.
func TestPatchThroughLink(t *testing.T) {
	w := workspace(t, map[string]string{"in/f": "one\n"})
	outside := t.TempDir()
	policy := w.Box.Policy()
	policy.Roots = append([]string{filepath.Dir(filepath.Dir(policy.Dir))}, policy.Roots...)
	w.Box = sandboxtest.New(t, policy)
	for name, target := range map[string]string{"out": outside, "same": filepath.Join(w.Dir, "in")} {
		if err := os.Symlink(target, filepath.Join(w.Dir, name)); err != nil {
			t.Skip(err)
		}
	}
	var denied *DeniedError
	if _, err := (Patch{Text: patch(addMark+"out/f", "+x")}).Do(context.Background(), w); !errors.As(err, &denied) || denied.Place != sandbox.Outside {
		t.Errorf("through a link that leads out: %v", err)
	}
	if _, err := os.Stat(filepath.Join(outside, "f")); err == nil {
		t.Error("it was written")
	}
	if _, err := (Patch{Text: patch(updateMark+"same/f", "-one", "+1")}).Do(context.Background(), w); err != nil {
		t.Errorf("through a link that stays: %v", err)
	}
}

// Numbers as one more reading writes them, and comments that stand for code.
func TestEditNumbersAndComments(t *testing.T) {
	w := workspace(t, map[string]string{"f.go": "func a() {\n\tx()\n}\n"})
	edit := Edit{Path: "f.go", Old: "L1: func a() {\nL2: \tx()", New: "L1: func a() {\nL2: \ty()"}
	if c, err := edit.Do(context.Background(), w); err != nil || c.Level != levelNumbers || string(load(t, filepath.Join(w.Dir, "f.go"))) != "func a() {\n\ty()\n}\n" {
		t.Errorf("%+v, %v", c, err)
	}
	for _, line := range []string{"// rest of the code unchanged", "// the rest of the function remains the same", "// existing code stays as before", "# remaining code is unchanged"} {
		edit := Edit{Path: "f.go", Old: "\ty()", New: "\tz()\n\t" + line}
		if _, err := edit.Do(context.Background(), w); !errors.Is(err, ErrPlaceholder) {
			t.Errorf("%s: %v", line, err)
		}
	}
	edit = Edit{Path: "f.go", Old: "\ty()", New: "\tz() // the rest of the code is unchanged here"}
	if _, err := edit.Do(context.Background(), w); err != nil {
		t.Errorf("a comment behind code: %v", err)
	}
}
