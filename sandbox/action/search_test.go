package action

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// names are the hits as "path[:line[:text]]" from the working folder, a slash after folders, ~ before context.
func names(w *Workspace, f Found) string {
	var out []string
	for _, h := range f.Hits {
		name := w.relative(h.Path)
		if h.Dir {
			name += "/"
		}
		if h.Line > 0 {
			name = fmt.Sprintf("%s:%d:%s", name, h.Line, h.Text)
		}
		if h.Context {
			name = "~" + name
		}
		out = append(out, name)
	}
	return strings.Join(out, " ")
}

func searched(t *testing.T) *Workspace {
	t.Helper()
	w := workspace(t, map[string]string{
		".git/HEAD":             "x\n",
		".gitignore":            "*.log\n/build/\n!keep.log\n# no\n\\#odd\ndoc/**/tmp\n{a}\n",
		"build/out.go":          "func built\n",
		"sub/build/in.go":       "func inner\n",
		"a.log":                 "func log\n",
		"keep.log":              "func kept\n",
		"#odd":                  "",
		"{a}":                   "",
		"a":                     "",
		"doc/x/y/tmp":           "",
		"sub/.gitignore":        "!b.log\nlocal.txt\n",
		"sub/b.log":             "func b\n",
		"sub/local.txt":         "",
		"local.txt":             "",
		"main.go":               "package main\n\nfunc main() {\n\tRun()\n}\n",
		"sub/deep/x.ts":         "const Run = 1\n",
		"node_modules/m/i.js":   "Run\n",
		"bin.dat":               "Run\x00",
		"latin.txt":             "Caf\xe9 Run\r\n",
		"sub/deep/More Name.md": "run run\n",
	})
	return w
}

func TestList(t *testing.T) {
	w := searched(t)
	ctx := context.Background()
	tests := []struct {
		list List
		want string
		more int
	}{
		{List{}, "doc/ node_modules/ sub/ .gitignore a bin.dat keep.log latin.txt local.txt main.go", 0},
		{List{Path: "sub"}, "sub/build/ sub/deep/ sub/.gitignore sub/b.log", 0},
		{List{Path: "sub", All: true, Ignore: []string{"*.log", "deep"}}, "sub/build/ sub/.gitignore sub/local.txt", 0},
		{List{Path: "sub", Limit: 1}, "sub/build/", 3},
		{List{Path: "build"}, "build/out.go", 0},
	}
	for _, c := range tests {
		got, err := c.list.Do(ctx, w)
		if err != nil || names(w, got) != c.want || got.More != c.more || got.What != "entries" {
			t.Errorf("%+v gives %s, %d more, %v", c.list, names(w, got), got.More, err)
		}
	}
	var missing *MissingError
	if _, err := (List{Path: "suv"}).Do(ctx, w); !errors.As(err, &missing) || len(missing.Similar) == 0 {
		t.Errorf("a missing folder gives %v", err)
	}
	var file *NotDirectoryError
	if _, err := (List{Path: "main.go"}).Do(ctx, w); !errors.As(err, &file) {
		t.Errorf("a file gives %v", err)
	}
}

func TestFind(t *testing.T) {
	w := searched(t)
	ctx := context.Background()
	tests := []struct {
		find Find
		want string
		more int
	}{
		{Find{Pattern: "*.go"}, "main.go sub/build/in.go", 0},
		{Find{Pattern: "**/*.{ts,go}"}, "main.go sub/build/in.go sub/deep/x.ts", 0},
		{Find{Pattern: "sub/*/*"}, "sub/build/in.go sub/deep/More Name.md sub/deep/x.ts", 0},
		{Find{Pattern: "./main.go"}, "main.go", 0},
		{Find{Pattern: w.Dir + "/sub/*/x.ts"}, "sub/deep/x.ts", 0},
		{Find{Pattern: "*.log"}, "keep.log sub/b.log", 0},
		{Find{Pattern: "x.ts", Path: "sub"}, "sub/deep/x.ts", 0},
		{Find{Pattern: "**", Path: "sub", Limit: 2}, "sub/.gitignore sub/b.log", 3},
		{Find{Pattern: "*.js", All: true}, "node_modules/m/i.js", 0},
		{Find{Pattern: "nothing"}, "", 0},
	}
	for _, c := range tests {
		got, err := c.find.Do(ctx, w)
		if err != nil || names(w, got) != c.want || got.More != c.more {
			t.Errorf("%+v gives %s, %d more, %v", c.find, names(w, got), got.More, err)
		}
	}
	now := time.Now()
	if err := os.Chtimes(w.Abs("sub/build/in.go"), now, now.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if got, err := (Find{Pattern: "*.go", Recent: true}).Do(ctx, w); err != nil || names(w, got) != "sub/build/in.go main.go" {
		t.Errorf("newest first gives %s, %v", names(w, got), err)
	}
	for name, age := range map[string]time.Duration{"sub/build/in.go": 48 * time.Hour, "main.go": 72 * time.Hour, "sub/deep/x.ts": time.Hour} {
		if err := os.Chtimes(w.Abs(name), now, now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := (Find{Pattern: "*.{go,ts}", Recent: true}).Do(ctx, w); err != nil || names(w, got) != "sub/deep/x.ts main.go sub/build/in.go" {
		t.Errorf("what is older than a day comes by name: %s, %v", names(w, got), err)
	}
	put(t, w, "sub/.ownignore", "*.ts\n")
	own := []string{".ownignore"}
	for find, want := range map[*Find]string{
		{Pattern: "sub/**/x.*", Rules: own}:                       "",
		{Pattern: "sub/**/x.*"}:                                   "sub/deep/x.ts",
		{Pattern: "sub/*.{log,ts}", All: true, Rules: own}:        "sub/b.log",
		{Pattern: "{a.log,sub/deep/x.ts}", All: true}:             "a.log sub/deep/x.ts",
		{Pattern: "{a.log,sub/deep/x.ts}", All: true, Rules: own}: "a.log",
	} {
		if got, err := find.Do(ctx, w); err != nil || names(w, got) != want {
			t.Errorf("%+v with an ignore file of its own gives %s, %v", *find, names(w, got), err)
		}
	}
	var bad *PatternError
	if _, err := (Find{Pattern: "a/{b,c"}).Do(ctx, w); !errors.As(err, &bad) || bad.At != "{b,c" {
		t.Errorf("an open brace gives %+v", err)
	}
	if _, err := (Find{}).Do(ctx, w); !errors.As(err, &bad) {
		t.Errorf("no pattern gives %v", err)
	}
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := (Find{Pattern: "*"}).Do(stopped, w); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled search gives %v", err)
	}
}

func TestGrep(t *testing.T) {
	w := searched(t)
	ctx := context.Background()
	tests := []struct {
		grep Grep
		want string
		more int
	}{
		{Grep{Pattern: "Run"}, "latin.txt:1:Café Run main.go:4:\tRun() sub/deep/x.ts:1:const Run = 1", 0},
		{Grep{Pattern: "run$", Fold: true}, "latin.txt:1:Café Run sub/deep/More Name.md:1:run run", 0},
		{Grep{Pattern: "Run()", Literal: true}, "main.go:4:\tRun()", 0},
		{Grep{Pattern: "é run", Fold: true}, "latin.txt:1:Café Run", 0},
		{Grep{Pattern: "^func", Glob: "*.go"}, "main.go:3:func main() { sub/build/in.go:1:func inner", 0},
		{Grep{Pattern: "^func", Glob: "sub/**/*.go"}, "sub/build/in.go:1:func inner", 0},
		{Grep{Pattern: "Run", Limit: 1}, "latin.txt:1:Café Run", 2},
		{Grep{Pattern: "func", Path: "build"}, "build/out.go:1:func built", 0},
		{Grep{Pattern: "main", Path: "main.go", Context: 1}, "main.go:1:package main ~main.go:2: main.go:3:func main() { ~main.go:4:\tRun()", 0},
		{Grep{Pattern: "nowhere"}, "", 0},
		{Grep{Pattern: `\Apackage`}, "main.go:1:package main", 0},
	}
	for _, c := range tests {
		got, err := c.grep.Do(ctx, w)
		if err != nil || names(w, got) != c.want || got.More != c.more {
			t.Errorf("%+v gives\n%s, %d more, %v, want\n%s", c.grep, names(w, got), got.More, err, c.want)
		}
	}
	got, err := Grep{Pattern: "Run"}.Do(ctx, w)
	if err != nil || strings.Join(got.Skipped, ";") != "1 binary files" {
		t.Errorf("skipped: %q, %v", got.Skipped, err)
	}
	for pattern, at := range map[string]string{"a(b": "a(b", "a[z-a]": "z-a", "x(?=y)": "(?=", "": ""} {
		_, err := Grep{Pattern: pattern}.Do(ctx, w)
		var bad *PatternError
		if !errors.As(err, &bad) || bad.At != at {
			t.Errorf("%q gives %+v", pattern, err)
		}
	}
}

func TestSearchFollowsNoLinks(t *testing.T) {
	outside := t.TempDir()
	if err := os.WriteFile(outside+"/far.txt", []byte("far\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	w := workspace(t, map[string]string{"near.txt": "far\n"})
	for _, name := range []string{"link", "loop"} {
		target := map[string]string{"link": outside, "loop": "."}[name]
		if err := os.Symlink(target, w.Abs(name)); err != nil {
			t.Skip(err)
		}
	}
	if err := os.Symlink(outside+"/far.txt", w.Abs("far.txt")); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	if got, err := (Find{Pattern: "**/*.txt"}).Do(ctx, w); err != nil || names(w, got) != "far.txt near.txt" {
		t.Errorf("%s, %v", names(w, got), err)
	}
	if got, err := (Grep{Pattern: "far"}).Do(ctx, w); err != nil || names(w, got) != "near.txt:1:far" {
		t.Errorf("%s, %v", names(w, got), err)
	}
}

func TestWalkIsBounded(t *testing.T) {
	w := workspace(t, map[string]string{"a": "", "b": "", "c": ""})
	k := newWalk(w.Dir, false, nil)
	k.left = 2
	n := 0
	if err := k.run(context.Background(), func(walked) error { n++; return nil }); err != nil || n != 2 || len(k.skipped()) != 1 {
		t.Errorf("%d visited, %q, %v", n, k.skipped(), err)
	}
}

// Reading actions of one turn run side by side.
func TestReadersSideBySide(t *testing.T) {
	w := searched(t)
	ctx := context.Background()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for _, do := range []func() error{
				func() error { _, err := Read{Path: "main.go", Repeat: true}.Do(ctx, w); return err },
				func() error { _, err := Grep{Pattern: "Run"}.Do(ctx, w); return err },
				func() error { _, err := Find{Pattern: "*"}.Do(ctx, w); return err },
				func() error { _, err := List{}.Do(ctx, w); return err },
				func() error { w.Running(); w.Plan(); w.Forget(); return nil },
			} {
				if err := do(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
