package action

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
)

func TestUnifiedDiff(t *testing.T) {
	ten := "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"
	tests := []struct {
		name   string
		patch  Patch
		before map[string]string
		want   map[string]string
		kind   ChangeKind
	}{
		{"as git writes it", Patch{Text: "diff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@ func x\n 1\n-2\n+two\n 3\n"}, map[string]string{"f": ten}, map[string]string{"f": strings.Replace(ten, "2", "two", 1)}, Modified},
		{"as diff -u writes it", Patch{Text: "--- f\t2026-01-01 10:00:00\n+++ f\t2026-01-01 10:00:01\n@@ -9 +9 @@\n-9\n+nine\n"}, map[string]string{"f": ten}, map[string]string{"f": strings.Replace(ten, "9", "nine", 1)}, Modified},
		{"wrong counts, and no numbers", Patch{Text: "--- a/f\n+++ b/f\n@@ -40,9 +40,2 @@\n 3\n-4\n@@\n-7\n+seven\n 8\n"}, map[string]string{"f": ten}, map[string]string{"f": "1\n2\n3\n5\n6\nseven\n8\n9\n10\n"}, Modified},
		{"the nearer of two places", Patch{Text: "--- a/f\n+++ b/f\n@@ -5,2 +5,2 @@\n x\n-y\n+z\n"}, map[string]string{"f": "x\ny\n-\n-\nx\ny\n"}, map[string]string{"f": "x\ny\n-\n-\nx\nz\n"}, Modified},
		{"what moved one hunk moves the next", Patch{Text: "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+B\n@@ -5,2 +5,2 @@\n x\n-y\n+z\n"}, map[string]string{"f": "0\n0\n0\na\nb\nx\ny\nx\ny\nx\ny\n"}, map[string]string{"f": "0\n0\n0\na\nB\nx\ny\nx\nz\nx\ny\n"}, Modified},
		{"a new file", Patch{Text: "--- /dev/null\n+++ b/d/new\n@@ -0,0 +1,2 @@\n+one\n+\n"}, nil, map[string]string{"d/new": "one\n\n"}, Added},
		{"a new file without an end", Patch{Text: "--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+one\n\\ No newline at end of file\n"}, nil, map[string]string{"new": "one"}, Added},
		{"a deleted file", Patch{Text: "diff --git a/f b/f\ndeleted file mode 100644\n--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n"}, map[string]string{"f": "1\n"}, map[string]string{}, Deleted},
		{"a renamed file", Patch{Text: "diff --git a/f b/g\nsimilarity index 90%\nrename from f\nrename to g\n--- a/f\n+++ b/g\n@@ -1 +1 @@\n-1\n+one\n"}, map[string]string{"f": "1\n"}, map[string]string{"g": "one\n"}, Moved},
		{"renamed and nothing else", Patch{Text: "diff --git a/f b/g\nsimilarity index 100%\nrename from f\nrename to g\n"}, map[string]string{"f": "1\n"}, map[string]string{"g": "1\n"}, Moved},
		{"an end is taken off", Patch{Text: "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n 1\n-2\n+two\n\\ No newline at end of file\n"}, map[string]string{"f": "1\n2\n"}, map[string]string{"f": "1\ntwo"}, Modified},
		{"an open end stays", Patch{Text: "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-1\n+one\n 2\n\\ No newline at end of file\n"}, map[string]string{"f": "1\n2"}, map[string]string{"f": "one\n2"}, Modified},
		{"in a fence with words before", Patch{Text: "Here it is:\n\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-1\n+one\n"}, map[string]string{"f": "1\n"}, map[string]string{"f": "one\n"}, Modified},
		{"in JSON", Patch{Text: `{"patch":"--- a/f\n+++ b/f\n@@ -1 +1 @@\n-1\n+one\n"}`}, map[string]string{"f": "1\n"}, map[string]string{"f": "one\n"}, Modified},
		{"a removed line with dashes", Patch{Text: "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n--- x\n+++ y\n 2\n"}, map[string]string{"f": "-- x\n2\n"}, map[string]string{"f": "++ y\n2\n"}, Modified},
		{"CRLF stays", Patch{Text: "--- a/f\n+++ b/f\n@@ -1,2 +1,3 @@\n 1\n-2\n+two\n+three\n"}, map[string]string{"f": "1\r\n2\r\n"}, map[string]string{"f": "1\r\ntwo\r\nthree\r\n"}, Modified},
		{"an a/ that is there", Patch{Text: "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-1\n+one\n"}, map[string]string{"a/f": "1\n"}, map[string]string{"a/f": "one\n"}, Modified},
		{"a path besides", Patch{Path: "g", Text: "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-1\n+one\n"}, map[string]string{"g": "1\n"}, map[string]string{"g": "one\n"}, Modified},
		{"hunks and a path", Patch{Path: "g", Text: "@@ -1 +1 @@\n-1\n+one\n"}, map[string]string{"g": "1\n"}, map[string]string{"g": "one\n"}, Modified},
		{"context that changed", Patch{Fuzz: 2, Text: "--- a/f\n+++ b/f\n@@ -2,5 +2,5 @@\n old\n 3\n-4\n+four\n 5\n old\n"}, map[string]string{"f": ten}, map[string]string{"f": strings.Replace(ten, "4", "four", 1)}, Modified},
		{"a file that is to be made", Patch{Create: true, Text: "--- a/f\n+++ b/f\n@@ -1 +1,2 @@\n+one\n+two\n"}, nil, map[string]string{"f": "one\ntwo\n"}, Added},
		{"whole files", Patch{Whole: []WholeFile{{"f", "all new"}}}, map[string]string{"f": ten}, map[string]string{"f": "all new"}, Modified},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			w := workspace(t, c.before)
			out, err := c.patch.Do(context.Background(), w)
			if err != nil {
				t.Fatal(err)
			}
			sameTree(t, tree(t, w.Dir), c.want)
			if len(out.Files) != 1 || out.Files[0].Kind != c.kind {
				t.Errorf("%+v", out.Files)
			}
		})
	}
}

func TestUnifiedDiffFails(t *testing.T) {
	tests := []struct {
		name  string
		patch Patch
		kind  PatchErrorKind
	}{
		{"no hunk", Patch{Text: "--- a/f\n+++ b/f\n"}, EmptyUpdate},
		{"a binary", Patch{Text: "diff --git a/f b/f\nBinary files a/f and b/f differ\n"}, BinaryPart},
		{"a missing file", Patch{Text: "--- a/g\n+++ b/g\n@@ -1 +1 @@\n-1\n+one\n"}, Unreadable},
		{"other lines", Patch{Text: "--- a/f\n+++ b/f\n@@ -2,2 +2,2 @@\n two\n-tree\n+3\n"}, NoLines},
		{"context is all that fits", Patch{Fuzz: 50, Text: "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n one\n-2\n+x\n three\n"}, NoLines},
		{"fuzz with two places", Patch{Fuzz: 3, Text: "--- a/d\n+++ b/d\n@@\n no\n-x\n+y\n"}, NoLines},
		{"a path and two files", Patch{Path: "f", Text: "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-one\n+1\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-one\n+1\n"}, OnePath},
		{"the second of two", Patch{Text: "--- a/d\n+++ b/d\n@@ -1 +1 @@\n-x\n+1\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-two two\n+1\n"}, NoLines},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			files := map[string]string{"f": "one\ntwo\nthree\n", "d": "x\nx\n"}
			w := workspace(t, files)
			_, err := c.patch.Do(context.Background(), w)
			var pe *PatchError
			if !errors.As(err, &pe) || pe.Kind != c.kind {
				t.Fatalf("got %+v, want %s", err, c.kind)
			}
			if c.name == "other lines" && (pe.Hunk != 1 || pe.Hunks != 1 || pe.Hint != 2 || pe.Want != "tree" || pe.Have != "three") {
				t.Errorf("%+v", pe)
			}
			sameTree(t, tree(t, w.Dir), files)
		})
	}
}

func TestWholeFilesAllOrNone(t *testing.T) {
	w := workspace(t, map[string]string{"f": "1\n", "sub/x": ""})
	_, err := Patch{Whole: []WholeFile{{"f", "2\n"}, {"sub", "no"}}}.Do(context.Background(), w)
	if err == nil || content(t, w, "f") != "1\n" {
		t.Errorf("%v, f is %q", err, content(t, w, "f"))
	}
	if _, err := os.Stat(w.Abs("new")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
