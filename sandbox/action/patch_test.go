package action

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

	"interpreter/sandbox"
	"interpreter/sandbox/sandboxtest"
)

func patch(lines ...string) string {
	return beginMark + "\n" + strings.Join(lines, "\n") + "\n" + endMark + "\n"
}

// fsOf reads from a map, as ApplyPatch wants it.
func fsOf(files map[string]string) func(string) ([]byte, error) {
	return func(path string) ([]byte, error) {
		text, ok := files[path]
		if !ok {
			return nil, fs.ErrNotExist
		}
		return []byte(text), nil
	}
}

func applied(files map[string]string, text string) (string, error) {
	p, err := ParsePatch(text)
	if err != nil {
		return "", err
	}
	out, err := ApplyPatch(fsOf(files), p)
	if err != nil {
		return "", err
	}
	return string(out[0].After), nil
}

func TestPatchText(t *testing.T) {
	update := func(lines ...string) string { return patch(append([]string{updateMark + "f"}, lines...)...) }
	tests := []struct{ name, before, patch, want string }{
		{"no first marker line", "a\nb\n", update("-a", "+x"), "x\nb\n"},
		{"empty line is context", "a\n\nb\n", update("@@", " a", "", "-b", "+c"), "a\n\nc\n"},
		{"end of file picks the last", "a\nb\na\n", update("@@", "-a", "+z", eofMark), "a\nb\nz\n"},
		{"blocks only go forward", "x\ny\nx\ny\n", update("@@", "-x", "+1", "@@", "-x", "+2"), "1\ny\n2\ny\n"},
		{"a number picks the nearest", "x\ny\nx\ny\nx\n", update("@@ -3,1 +3,1 @@", "-x", "+1"), "x\ny\n1\ny\nx\n"},
		{"a number says where to insert", "a\nb\nc\n", update("@@ -2,0 +3,1 @@", "+n"), "a\nb\nn\nc\n"},
		{"addition without a place goes to the end", "a\n", update("@@", "+b"), "a\nb\n"},
		{"last empty line stands for the end", "a\nb", update("@@", "-b", "+c", " "), "a\nc\n"},
		{"blanks at the end of the file's line stay", "a \nb\n", update("@@", " a", "-b", "+c"), "a \nc\n"},
		{"indentation moves along", "if x:\n        a()\n        b()\n", update("@@", " a()", "-b()", "+c()"), "if x:\n        a()\n        c()\n"},
		{"typography", "say “hi”\n", update("@@", `-say "hi"`, "+bye"), "bye\n"},
		{"anchor repeated as context", "def f():\n    x\n", update("@@ def f():", " def f():", "-    x", "+    y"), "def f():\n    y\n"},
		{"anchor closed like a diff", "def f():\n    x\n", update("@@ def f(): @@", "-    x", "+    y"), "def f():\n    y\n"},
		{"context without its blank", "a\nb\nc\n", update("@@", "a", "-b", "+x"), "a\nx\nc\n"},
		{"mixed ends", "a\r\nb\nc\r\n", update("@@", " a", "-b", "+x", "+y", " c"), "a\r\nx\ny\nc\r\n"},
		{"new line at the end of a CRLF file", "a\r\nb", update("@@", " b", "+c"), "a\r\nb\r\nc\r\n"},
		{"Latin-1", "\xe9t\xe9\nx\n", update("@@", " été", "-x", "+à"), "\xe9t\xe9\n\xe0\n"},
		{"UTF-16", "\xff\xfea\x00\n\x00", update("@@", "-a", "+b"), "\xff\xfeb\x00\n\x00"},
		{"everything goes", "a\n", update("@@", "-a"), ""},
		{"no end marker", "a\n", strings.TrimSuffix(update("@@", "-a", "+b"), endMark+"\n"), "b\n"},
		{"markers indented", "a\n", "  " + beginMark + "\n  " + updateMark + "f\n@@\n-a\n+b\n  " + endMark, "b\n"},
		{"quoted heredoc with the command", "a\n", "apply_patch <<\"X\"\n" + update("@@", "-a", "+b") + "X\n", "b\n"},
		{"JSON and fence", "a\n", "```json\n{\"input\":\"*** Begin Patch\\n*** Update File: f\\n-a\\n+b\\n*** End Patch\"}\n```", "b\n"},
		{"words around", "a\n", "This is it:\n" + update("@@", "-a", "+b") + "It is done.", "b\n"},
		{"a command around", "a\n", "cd . && apply_patch <<'E'\n" + update("@@", "-a", "+b") + "E\n", "b\n"},
		{"a file in two updates", "a\nb\n", update("@@", "-b", "+c", updateMark+"./f", "@@", "-a", "+b"), "b\nc\n"},
		{"prefix b/", "a\n", patch(updateMark+"b/f", "@@", "-a", "+b"), "b\n"},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			got, err := applied(map[string]string{"f": c.before}, c.patch)
			if err != nil {
				t.Fatal(err)
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestPatchErrors(t *testing.T) {
	tests := []struct {
		name, patch string
		kind        PatchErrorKind
		line        int
	}{
		{"not a patch", "hello", BadBegin, 1},
		{"nothing at all", "", BadBegin, 1},
		{"no files", patch(), NoHunks, 0},
		{"unknown header", patch("*** Rename File: f"), BadHeader, 2},
		{"header without a path", patch("*** Update File:"), BadHeader, 2},
		{"text after the end", patch(deleteMark+"f") + "more\n", BadEnd, 4},
		{"update of nothing", patch(updateMark + "f"), EmptyUpdate, 2},
		{"block without lines", patch(updateMark+"f", "@@ x", "@@", "-a"), NoLines, 0},
		{"anchors only", patch(updateMark+"f", "@@ one"), EmptyBlock, 3},
		{"line without prefix", patch(updateMark+"f", "@@", "nonsense", "-one", "+b"), BadLine, 4},
		{"no line with prefix", patch(updateMark+"f", "one", "two"), BadLine, 3},
		{"text after the end of file", patch(updateMark+"f", "-three", eofMark, "-x"), NoAnchor, 5},
		{"missing anchor", patch(updateMark+"f", "@@ four", "-one"), NoContext, 3},
		{"missing lines", patch(updateMark+"f", "-four"), NoLines, 3},
		{"missing file", patch(updateMark+"g", "-four"), Unreadable, 2},
		{"missing file to delete", patch(deleteMark + "g"), Unreadable, 2},
		{"twice", patch(updateMark+"f", "-one", deleteMark+"./f"), Twice, 4},
		{"binary", patch(updateMark+"bin", "-one"), Unreadable, 2},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			_, err := applied(map[string]string{"f": "one\ntwo\nthree\n", "bin": "\x00one\n"}, c.patch)
			var pe *PatchError
			if !errors.As(err, &pe) {
				t.Fatalf("got %v", err)
			}
			if pe.Kind != c.kind && c.line > 0 || c.line > 0 && pe.Line != c.line {
				t.Errorf("got %s at line %d, want %s at %d: %v", pe.Kind, pe.Line, c.kind, c.line, err)
			}
		})
	}
}

func TestPatchErrorShowsTheFile(t *testing.T) {
	file := "a\nb\nfunc f() {\n\tone()\n\ttwo()\n\tthree()\n}\n"
	_, err := applied(map[string]string{"f": file}, patch(updateMark+"f", "@@", " \tone()", "-\ttoo()", "+\tx()", " \tthree()"))
	var pe *PatchError
	if !errors.As(err, &pe) {
		t.Fatal(err)
	}
	if pe.HaveAt != 5 || pe.Have != "\ttwo()" || pe.Want != "\ttoo()" || pe.NearAt != 1 || pe.Near != strings.TrimSuffix(file, "\n") {
		t.Errorf("%+v", pe)
	}
	if !errors.Is(err, ErrAbsent) || errors.Is(err, ErrBadPatch) {
		t.Error("it should be an absent text")
	}
}

func TestPatchWrites(t *testing.T) {
	w := workspace(t, map[string]string{"run.sh": "#!/bin/sh\necho 1\n", "old.txt": "x\n", "kept.txt": "k\n"})
	if err := os.Chmod(w.Abs("run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	out, err := Patch{Text: patch(
		addMark+"deep/new.txt", "+n",
		updateMark+"run.sh", moveMark+"bin/run.sh", "@@", "-echo 1", "+echo 2",
		deleteMark+"old.txt",
		updateMark+"kept.txt", "@@", "-k", "+kk",
	)}.Do(context.Background(), w)
	if err != nil {
		t.Fatal(err)
	}
	sameTree(t, tree(t, w.Dir), map[string]string{"deep/new.txt": "n\n", "bin/run.sh": "#!/bin/sh\necho 2\n", "kept.txt": "kk\n"})
	if info, err := os.Stat(w.Abs("bin/run.sh")); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("mode after the move: %v %v", info.Mode(), err)
	}
	var kinds []string
	for _, f := range out.Files {
		kinds = append(kinds, string(f.Kind)+" "+f.Path+" "+f.To)
	}
	if got := strings.Join(kinds, "; "); got != "add deep/new.txt ; move run.sh bin/run.sh; delete old.txt ; update kept.txt " {
		t.Errorf("files: %s", got)
	}
	if f := out.Files[3]; f.Diff != "--- kept.txt\n+++ kept.txt\n@@ -1 +1 @@\n-k\n+kk\n" || f.Added != 1 || f.Removed != 1 || f.First != 1 || f.Last != 1 {
		t.Errorf("%+v", f)
	}
	if out.Same {
		t.Error("it is not the same")
	}
}

func TestPatchRestores(t *testing.T) {
	before := map[string]string{"a.txt": "a\n", "b.txt": "b\n", "c/old": "old\n", "wall": "a file\n"}
	w := workspace(t, before)
	// The last write fails only when it is tried: its folder is a file by then.
	_, err := Patch{Text: patch(
		updateMark+"a.txt", "@@", "-a", "+A",
		updateMark+"b.txt", moveMark+"moved.txt", "@@", "-b", "+B",
		deleteMark+"c/old",
		addMark+"new/n.txt", "+n",
		addMark+"new/n.txt/x", "+n",
	)}.Do(context.Background(), w)
	if err == nil {
		t.Fatal("it should have failed")
	}
	sameTree(t, tree(t, w.Dir), before)
}

func TestPatchPlaces(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "out.txt")
	w := workspace(t, map[string]string{"in/x": "", ".git/config": "c\n"})
	try := func(ctx context.Context, path string) error {
		_, err := Patch{Text: patch(addMark+path, "+x")}.Do(ctx, w)
		return err
	}
	ctx := context.Background()
	var denied *DeniedError
	for path, place := range map[string]sandbox.Place{
		outside: sandbox.Outside, "../out.txt": sandbox.Outside, "in/../../out.txt": sandbox.Outside, ".git/config": sandbox.Guarded,
	} {
		if err := try(ctx, path); !errors.As(err, &denied) || denied.Place != place || denied.Path != path {
			t.Errorf("%s gives %v", path, err)
		}
	}
	if err := try(WithApproved(ctx, outside), outside); err != nil {
		t.Errorf("an approved path gives %v", err)
	}
	if got := string(load(t, outside)); got != "x\n" {
		t.Errorf("it has %q", got)
	}
	// A root around the working folder does not make its siblings part of it.
	policy := w.Box.Policy()
	policy.Roots = append([]string{filepath.Dir(policy.Dir)}, policy.Roots...)
	w.Box = sandboxtest.New(t, policy)
	if err := try(ctx, "../out.txt"); !errors.As(err, &denied) || !strings.Contains(err.Error(), "outside") {
		t.Errorf("a sibling gives %v", err)
	}
	if err := try(ctx, filepath.Join(filepath.Dir(policy.Dir), "abs.txt")); err != nil {
		t.Errorf("an absolute path in a root gives %v", err)
	}
}

func TestPatchInScript(t *testing.T) {
	body := patch(addMark+"x", "+y")
	tests := []struct {
		script, dir string
		ok          bool
	}{
		{"apply_patch <<'EOF'\n" + body + "EOF", "", true},
		{"applypatch <<EOF\n" + body + "EOF\n", "", true},
		{"cd 'my dir' && apply_patch <<\"P\"\n" + body + "P\n", "my dir", true},
		{"cd sub/dir && apply_patch <<'EOF'\n" + body + "EOF\n", "sub/dir", true},
		{"cd $HOME && apply_patch <<'EOF'\n" + body + "EOF\n", "", false},
		{"cd a; apply_patch <<'EOF'\n" + body + "EOF\n", "", false},
		{"apply_patch <<'EOF'\n" + body + "EOF\nls", "", false},
		{"apply_patch <<'EOF'\n" + body + "EOF\nrm -rf x <<'EOF'\nEOF", "", false},
		{"echo a; apply_patch <<'EOF'\n" + body + "EOF", "", false},
		{body, "", false},
	}
	for _, c := range tests {
		text, dir, ok := PatchInScript(c.script)
		if ok != c.ok || dir != c.dir || ok && text != body {
			t.Errorf("%q gives %q in %q, %v", c.script, text, dir, ok)
		}
	}
	if !IsPatch("\n"+body) || IsPatch("ls") {
		t.Error("a patch should be told from a command")
	}
}

func FuzzPatch(f *testing.F) {
	f.Add("a\nb\nc\n", patch(updateMark+"f", "@@ a", "-b", "+x", " c"))
	f.Add("a\r\nb", patch(updateMark+"f", moveMark+"g", "@@ -1,2 +1 @@", " a", "", "+z", eofMark))
	f.Add("\xe9\n", "```\n"+patch(addMark+"n", "+1", "", deleteMark+"f")+"```")
	f.Add("x", `{"command":["apply_patch","*** Begin Patch\n*** Update File: f\n-x\n*** End Patch"]}`)
	f.Add("a\nb\nc\n", "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n\\ No newline at end of file\n")
	f.Add("a\nb\nc\n", "diff --git a/f b/g\nrename from f\nrename to g\n--- a/f\n+++ b/g\n@@ -7,3 +1,3 @@\n no\n-b\n+x\n")
	f.Add("a\n", "--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n")
	f.Fuzz(func(t *testing.T, file, text string) {
		p, err := ParsePatch(text)
		if err != nil {
			var pe *PatchError
			if !errors.As(err, &pe) || !errors.Is(err, ErrBadPatch) {
				t.Fatalf("an error of another kind: %v", err)
			}
			return
		}
		unified := false
		for i := range p.Hunks {
			p.Hunks[i].Fuzz = len(text) % 4
			unified = unified || p.Hunks[i].Unified
		}
		out, err := ApplyPatch(fsOf(map[string]string{"f": file}), p)
		if err != nil {
			var pe *PatchError
			if !errors.As(err, &pe) || err.Error() == "" {
				t.Fatalf("an error of another kind: %v", err)
			}
			return
		}
		if len(out) > len(p.Hunks) {
			t.Fatalf("%d files of %d hunks", len(out), len(p.Hunks))
		}
		for _, o := range out {
			if o.Kind == Modified && !unified && len(o.After) > 0 && o.After[len(o.After)-1] != '\n' && o.After[len(o.After)-1] != 0 {
				t.Fatalf("%q does not end with a line break", o.After)
			}
		}
	})
}

// FuzzUnified makes a diff of two texts and applies it: the second text comes out, byte for byte.
func FuzzUnified(f *testing.F) {
	f.Add("a\nb\nc\n", "a\nx\nc\n")
	f.Add("a\nb", "a\nb\n")
	f.Add("", "x \n\n y\t")
	f.Add("a\r\nb\r\n", "a\r\nc\r\n")
	f.Fuzz(func(t *testing.T, before, after string) {
		_, c, err := decode([]byte(before))
		if before == after || err != nil || c.bom != "" || !utf8.ValidString(before) || !utf8.ValidString(after) || strings.Contains(before+after, "\r") {
			return
		}
		for line := range strings.SplitSeq(before+"\n"+after, "\n") {
			if strings.HasPrefix(line, "-- ") || strings.HasPrefix(line, "++ ") {
				return // cannot be told from a header
			}
		}
		if after == "" || before == "" && isBinary([]byte(after)) {
			return
		}
		text := udiff.Unified("a/f", "b/f", before, after)
		p, err := ParsePatch(text)
		if err != nil {
			t.Fatalf("%v in %q", err, text)
		}
		out, err := ApplyPatch(fsOf(map[string]string{"f": before}), p)
		if err != nil || len(out) != 1 || string(out[0].After) != after {
			t.Fatalf("%q to %q by %q gives %+v, %v", before, after, text, out, err)
		}
	})
}
