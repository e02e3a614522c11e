package action

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"interpreter/sandbox"
	"interpreter/sandbox/sandboxtest"
)

func TestReadWindow(t *testing.T) {
	w := workspace(t, map[string]string{
		"five":  "1\n2\n3\n4\n5\n",
		"open":  "1\n2",
		"empty": "",
		"crlf":  "a\r\nb\r\n",
		"latin": "caf\xe9\n",
		"wide":  strings.Repeat("é", 3000) + "\nb\n",
		"utf16": "\xff\xfea\x00\n\x00",
	})
	tests := []struct {
		read               Read
		text               string
		first, last, total int
		cut, byLimit       bool
	}{
		{Read{Path: "five"}, "1\n2\n3\n4\n5\n", 1, 5, 5, false, false},
		{Read{Path: "five", Offset: 2, Limit: 2}, "2\n3\n", 2, 3, 5, true, true},
		{Read{Path: "five", Offset: 4, Limit: 9}, "4\n5\n", 4, 5, 5, false, false},
		{Read{Path: "five", MaxBytes: 5}, "1\n2\n", 1, 2, 5, true, false},
		{Read{Path: "open"}, "1\n2", 1, 2, 2, false, false},
		{Read{Path: "empty"}, "", 0, 0, 0, false, false},
		{Read{Path: "crlf"}, "a\nb\n", 1, 2, 2, false, false},
		{Read{Path: "latin"}, "café\n", 1, 1, 1, false, false},
		{Read{Path: "utf16"}, "a\n", 1, 1, 1, false, false},
		{Read{Path: "wide"}, strings.Repeat("é", 1000) + " …(line cut, 4000 more bytes)\nb\n", 1, 2, 2, false, false},
	}
	for _, c := range tests {
		got, err := c.read.Do(context.Background(), w)
		if err != nil {
			t.Errorf("%+v: %v", c.read, err)
			continue
		}
		if got.Text != c.text || got.First != c.first || got.Last != c.last || got.Total != c.total || got.Cut != c.cut || got.ByLimit != c.byLimit {
			t.Errorf("%+v gives %+v", c.read, got)
		}
		if got.Real != w.Abs(c.read.Path) {
			t.Errorf("real path %s", got.Real)
		}
	}
}

func TestReadErrors(t *testing.T) {
	w := workspace(t, map[string]string{"main.go": "x\n", "main_test.go": "", "sub/a": "", "prog": "\x7fELF\x00\x01", "doc.pdf": "%PDF-1.7 text"})
	ctx := context.Background()
	_, err := Read{Path: "Main.g"}.Do(ctx, w)
	var missing *MissingError
	if !errors.As(err, &missing) || !errors.Is(err, fs.ErrNotExist) || len(missing.Similar) == 0 || filepath.Base(missing.Similar[0]) != "main.go" {
		t.Errorf("a missing file gives %v", err)
	}
	_, err = Read{Path: "sub"}.Do(ctx, w)
	var folder *IsDirectoryError
	if !errors.As(err, &folder) || !strings.Contains(err.Error(), "list") {
		t.Errorf("a folder gives %v", err)
	}
	for _, name := range []string{"prog", "doc.pdf"} {
		_, err = Read{Path: name}.Do(ctx, w)
		var binary *BinaryError
		if !errors.As(err, &binary) || !errors.Is(err, ErrBinary) || binary.Size == 0 || binary.Kind == "" {
			t.Errorf("%s gives %v", name, err)
		}
	}
	_, err = Read{Path: "main.go", Offset: 7}.Do(ctx, w)
	var past *OffsetError
	if !errors.As(err, &past) || past.Total != 1 {
		t.Errorf("an offset past the end gives %v", err)
	}
	for _, bad := range []Read{{}, {Path: "main.go", Offset: -1}, {Path: "main.go", Limit: -1}} {
		if _, err := bad.Do(ctx, w); err == nil {
			t.Errorf("%+v should fail", bad)
		}
	}
}

func TestReadImage(t *testing.T) {
	png := "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
	w := workspace(t, map[string]string{"p.dat": png})
	got, err := Read{Path: "p.dat"}.Do(context.Background(), w)
	if err != nil || got.MIME != "image/png" || string(got.Image) != png || got.Text != "" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestReadTwice(t *testing.T) {
	w := workspace(t, map[string]string{"f": "a\nb\n"})
	ctx := context.Background()
	read := func(r Read) Seen {
		t.Helper()
		r.Path, r.Repeat = "f", true
		got, err := r.Do(ctx, w)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if read(Read{Limit: 1}).Unchanged || read(Read{}).Unchanged {
		t.Error("the whole file was not shown yet")
	}
	if got := read(Read{}); !got.Unchanged || got.Text != "" {
		t.Errorf("the same again gives %+v", got)
	}
	if read(Read{Offset: 2}).Unchanged {
		t.Error("a part is always shown")
	}
	w.Forget()
	if read(Read{}).Unchanged {
		t.Error("what was forgotten is shown again")
	}
	put(t, w, "f", "a\nc\n")
	if got := read(Read{}); got.Unchanged || got.Text != "a\nc\n" {
		t.Errorf("a changed file gives %+v", got)
	}
}

func TestReadHidden(t *testing.T) {
	w := workspace(t, map[string]string{"secret/key": "k"})
	policy := w.Box.Policy()
	policy.Hidden = []string{w.Abs("secret")}
	w.Box = sandboxtest.New(t, policy)
	_, err := Read{Path: "secret/key"}.Do(context.Background(), w)
	var denied *DeniedError
	if !errors.As(err, &denied) || denied.Place != sandbox.Forbidden || denied.What != "read" {
		t.Errorf("got %v", err)
	}
	found, err := Grep{Pattern: "k"}.Do(context.Background(), w)
	if err != nil || len(found.Hits) != 0 {
		t.Errorf("grep gives %+v, %v", found, err)
	}
}

func TestReadColumns(t *testing.T) {
	w := workspace(t, map[string]string{"f": "short\n" + strings.Repeat("é", 12) + "\nabcdefghij\nabcdefghijk", "wide": strings.Repeat("x", 5000) + "\n"})
	ctx := context.Background()
	got, err := Read{Path: "f", Columns: 10}.Do(ctx, w)
	if err != nil || got.Text != "short\n"+strings.Repeat("é", 10)+"\nabcdefghij\nabcdefghij" || fmt.Sprint(got.Longer) != "[2 4]" {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err = (Read{Path: "f", Columns: 10, Offset: 3}).Do(ctx, w); err != nil || fmt.Sprint(got.Longer) != "[4]" {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err = (Read{Path: "wide"}).Do(ctx, w); err != nil || fmt.Sprint(got.Longer) != "[1]" || !strings.Contains(got.Text, "3000 more bytes") {
		t.Errorf("%+v, %v", got.Longer, err)
	}
	if got, err = (Read{Path: "wide", Columns: -1}).Do(ctx, w); err != nil || got.Longer != nil || len(got.Text) != 5001 {
		t.Errorf("%+v, %v", got.Longer, err)
	}
	if got, err = (Read{Path: "wide", Columns: -1, MaxBytes: 9}).Do(ctx, w); err != nil || fmt.Sprint(got.Longer) != "[1]" || got.Text != strings.Repeat("x", 9)+"\n" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestReadTail(t *testing.T) {
	w := workspace(t, map[string]string{"f": "1\n2\n3\n4\n5\n", "open": "1\n2"})
	tests := []struct {
		read        Read
		text        string
		first, last int
		cut         bool
	}{
		{Read{Path: "f", Tail: 2}, "4\n5\n", 4, 5, false},
		{Read{Path: "f", Tail: 9}, "1\n2\n3\n4\n5\n", 1, 5, false},
		{Read{Path: "f", Tail: 4, Limit: 2}, "2\n3\n", 2, 3, true},
		{Read{Path: "f", Tail: 3, MaxBytes: 5}, "4\n5\n", 4, 5, false},
		{Read{Path: "open", Tail: 1}, "2", 2, 2, false},
	}
	for _, c := range tests {
		got, err := c.read.Do(context.Background(), w)
		if err != nil || got.Text != c.text || got.First != c.first || got.Last != c.last || got.Cut != c.cut {
			t.Errorf("%+v gives %+v, %v", c.read, got, err)
		}
	}
}

func TestReadTokens(t *testing.T) {
	if n := Tokens("abcd"); n != 2 {
		t.Errorf("four letters are %d tokens", n)
	}
	if n := Tokens("中文x"); n != 2 {
		t.Errorf("two Chinese letters and one are %d tokens", n)
	}
	w := workspace(t, map[string]string{"f": strings.Repeat("abc\n", 3000)})
	ctx := context.Background()
	_, err := Read{Path: "f", MaxTokens: 1000}.Do(ctx, w)
	var large *TooLargeError
	if !errors.As(err, &large) || large.Tokens != 2667 || large.Most != 1000 || large.Last != 2000 || large.Total != 3000 {
		t.Errorf("%+v", err)
	}
	if got, err := (Read{Path: "f", MaxTokens: 1000, Limit: 700}).Do(ctx, w); err != nil || got.Last != 700 {
		t.Errorf("%v", err)
	}
}

func TestReadFolder(t *testing.T) {
	w := workspace(t, map[string]string{"d/b": "", "d/a/x": "", "d/c": ""})
	got, err := Read{Path: "d", Folders: true, Offset: 2}.Do(context.Background(), w)
	if err != nil || got.MIME != FolderType || got.Text != "b\nc\n" || got.Total != 3 || got.First != 2 {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err = (Read{Path: "d", Folders: true}).Do(context.Background(), w); err != nil || got.Text != "a/\nb\nc\n" {
		t.Errorf("%+v, %v", got, err)
	}
}
