package action

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

func TestGrepModes(t *testing.T) {
	w := workspace(t, map[string]string{
		"a.go":        "one\ntwo one\nthree\nfour\nfive\none one\n",
		"b/b.py":      "one\n",
		"b/b.ts":      "x\n",
		".hid/c.go":   "one\n",
		".env":        "one=1\n",
		".gitignore":  "*.log\n",
		"d.log":       "one\n",
		"dist/e.js":   "one\n",
		"b/sub/f.tsx": "one\n",
	})
	tests := []struct {
		name        string
		grep        Grep
		want        string
		more, total int
	}{
		{"files", Grep{Pattern: "one", Mode: GrepFiles}, "a.go b/b.py b/sub/f.tsx dist/e.js", 0, 4},
		{"files with a limit", Grep{Pattern: "one", Mode: GrepFiles, Limit: 1, Skip: 1}, "b/b.py", 2, 4},
		{"count", Grep{Pattern: "one", Mode: GrepCount}, "a.go*3 b/b.py*1 b/sub/f.tsx*1 dist/e.js*1", 0, 6},
		{"count with a limit", Grep{Pattern: "one", Mode: GrepCount, Limit: 1}, "a.go*3", 3, 6},
		{"only", Grep{Pattern: "o[a-z]", Path: "a.go", Only: true}, "a.go:1:on a.go:2:on a.go:4:ou a.go:6:on a.go:6:on", 0, 5},
		{"count of only", Grep{Pattern: "one", Path: "a.go", Only: true, Mode: GrepCount}, "a.go*4", 0, 4},
		{"before", Grep{Pattern: "three", Path: "a.go", Before: 1}, "~a.go:2:two one a.go:3:three", 0, 1},
		{"after", Grep{Pattern: "three", Path: "a.go", After: 1}, "a.go:3:three ~a.go:4:four", 0, 1},
		{"context that meets", Grep{Pattern: "^t", Path: "a.go", Context: 1}, "~a.go:1:one a.go:2:two one a.go:3:three ~a.go:4:four", 0, 2},
		{"skip", Grep{Pattern: "one", Path: "a.go", Skip: 1, Limit: 1}, "a.go:2:two one", 1, 3},
		{"past the end", Grep{Pattern: "one", Path: "a.go", Skip: 9}, "", 0, 3},
		{"span", Grep{Pattern: "two.*four", Path: "a.go", Span: true}, "a.go:2:two one a.go:3:three a.go:4:four", 0, 3},
		{"span with context", Grep{Pattern: "^three.four$", Path: "a.go", Span: true, Context: 1}, "~a.go:2:two one a.go:3:three a.go:4:four ~a.go:5:five", 0, 2},
		{"only of span", Grep{Pattern: "three.four", Path: "a.go", Span: true, Only: true}, "a.go:3:three\nfour", 0, 1},
		{"a line end in the pattern", Grep{Pattern: `three\nfour`, Path: "a.go"}, "a.go:3:three a.go:4:four", 0, 2},
		{"a line end that is plain", Grep{Pattern: "three\nfour", Path: "a.go", Literal: true}, "a.go:3:three a.go:4:four", 0, 2},
		{"a class without line ends", Grep{Pattern: `^t[^\n]*e$`, Path: "a.go"}, "a.go:2:two one a.go:3:three", 0, 2},
		{"a dot is no line end", Grep{Pattern: "two.*four|five", Path: "a.go"}, "a.go:5:five", 0, 1},
		{"kind", Grep{Pattern: "one", Mode: GrepFiles, Kind: "py"}, "b/b.py", 0, 1},
		{"kind and glob", Grep{Pattern: "one", Mode: GrepFiles, Kind: "typescript", Glob: "sub/**"}, "", 0, 0},
		{"kind and glob that fit", Grep{Pattern: "one", Mode: GrepFiles, Kind: "typescript", Glob: "b/**"}, "b/sub/f.tsx", 0, 1},
		{"several globs", Grep{Pattern: "one", Mode: GrepFiles, Glob: "*.py, *.{ts,tsx}"}, "b/b.py b/sub/f.tsx", 0, 2},
		{"globs and not", Grep{Pattern: "one", Mode: GrepFiles, Glob: "*.{py,js,go} !dist"}, "a.go b/b.py", 0, 2},
		{"a glob from the working folder", Grep{Pattern: "one", Mode: GrepFiles, Path: "b", Glob: "b/*.py"}, "b/b.py", 0, 1},
		{"exclude", Grep{Pattern: "one", Mode: GrepFiles, Exclude: []string{"dist/*", "*.py"}}, "a.go b/sub/f.tsx", 0, 2},
		{"exclude but", Grep{Pattern: "one", Mode: GrepFiles, Exclude: []string{"b/*", "!b.py"}}, "a.go b/b.py dist/e.js", 0, 3},
		{"hidden", Grep{Pattern: "one", Mode: GrepFiles, Hidden: true}, ".env .hid/c.go a.go b/b.py b/sub/f.tsx dist/e.js", 0, 6},
		{"hidden by its glob", Grep{Pattern: "one", Mode: GrepFiles, Glob: ".env*"}, ".env", 0, 1},
		{"hidden by its path", Grep{Pattern: "one", Mode: GrepFiles, Path: ".hid"}, ".hid/c.go", 0, 1},
		{"ignored", Grep{Pattern: "one", Mode: GrepFiles, All: true, Glob: "*.log"}, "d.log", 0, 1},
		{"as many as there are", Grep{Pattern: "one", Limit: -1, Mode: GrepCount, Kind: "go"}, "a.go*3", 0, 3},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.grep.Do(context.Background(), w)
			if err != nil {
				t.Fatal(err)
			}
			for i, h := range got.Hits {
				if h.Count > 0 {
					got.Hits[i].Path += fmt.Sprintf("*%d", h.Count)
				}
			}
			if names(w, got) != c.want || got.More != c.more || got.Total != c.total {
				t.Errorf("%s, %d more of %d\nwant %s, %d of %d", names(w, got), got.More, got.Total, c.want, c.more, c.total)
			}
		})
	}
	got, err := Grep{Pattern: "nowhere"}.Do(context.Background(), w)
	if err != nil || len(got.Skipped) != 1 || !strings.Contains(got.Skipped[0], "3 files and folders whose names begin with a dot") {
		t.Errorf("skipped: %q, %v", got.Skipped, err)
	}
	got, err = Grep{Pattern: "one", Exclude: []string{"dist", "*.py"}}.Do(context.Background(), w)
	if err != nil || got.Excluded != 2 {
		t.Errorf("%d left out, %v", got.Excluded, err)
	}
	now := time.Now()
	for i, name := range []string{"a.go", "dist/e.js", "b/b.py", "b/sub/f.tsx"} {
		if err := os.Chtimes(w.Abs(name), now, now.Add(-time.Duration(i)*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	got, err = Grep{Pattern: "one", Mode: GrepFiles, Newest: true, Limit: 3}.Do(context.Background(), w)
	if err != nil || names(w, got) != "a.go dist/e.js b/b.py" || got.More != 1 {
		t.Errorf("newest first: %s, %v", names(w, got), err)
	}
	if _, err := (Grep{Pattern: "x", Mode: "nonsense"}).Do(context.Background(), w); err == nil {
		t.Error("a mode that is none")
	}
}

func TestGrepTellsOfItsDialect(t *testing.T) {
	w := workspace(t, map[string]string{"f": "x\n"})
	tests := []struct{ pattern, at, why, instead string }{
		{`foo(?=bar)`, `(?=`, "look-ahead", `foo(?:bar)`},
		{`foo(?!bar)baz`, `(?!`, "negative look-ahead", `foobaz`},
		{`(?<=new )Foo`, `(?<=`, "look-behind", `(?:new )Foo`},
		{`(?<!x)y`, `(?<!`, "negative look-behind", `y`},
		{`(\w+) = \1;`, `\1`, "back-references", `(\w+) = (?:\w+);`},
		{`(?P<q>["']).*(?P=q)`, `(?P=q)`, "back-references", `(?P<q>["']).*.*`},
		{`a++b`, `++`, "possessive", `a+b`},
		{`(?>ab)c`, `(?>`, "atomic", `(?:ab)c`},
		{`a\Z`, `\Z`, "escape", `a\z`},
		{`\\(?=x)`, `(?=`, "look-ahead", `\\(?:x)`},
		{`func (`, `func (`, "missing closing )", `func \(`},
		{`a[b`, `[b`, "missing closing ]", `a\[b`},
	}
	for _, c := range tests {
		_, err := Grep{Pattern: c.pattern}.Do(context.Background(), w)
		var bad *PatternError
		if !errors.As(err, &bad) {
			t.Errorf("%s gives %v", c.pattern, err)
			continue
		}
		if bad.At != c.at || !strings.Contains(bad.Why, c.why) || bad.Instead != c.instead {
			t.Errorf("%s: at %q, %s, instead %q; want %q, %s, %q", c.pattern, bad.At, bad.Why, bad.Instead, c.at, c.why, c.instead)
		}
		if c.instead != "" && !strings.Contains(err.Error(), "nearest that works") {
			t.Error(err)
		}
	}
	_, err := Grep{Pattern: "x", Kind: "cobol2"}.Do(context.Background(), w)
	var kind *KindError
	if !errors.As(err, &kind) || len(kind.Known) < 40 {
		t.Errorf("an unknown kind gives %v", err)
	}
	for name := range kinds {
		if glob, err := kindGlob(name); err != nil || checkGlob(glob) != nil {
			t.Errorf("%s: %s, %v", name, glob, err)
		}
	}
	for name, of := range otherKinds {
		if _, ok := kinds[of]; !ok {
			t.Errorf("%s is another name of %s, which is none", name, of)
		}
	}
}

func FuzzNearestPattern(f *testing.F) {
	for _, p := range []string{`foo(?=bar)`, `(a)(b)\2[^]\]x]`, `(?P<n>x)++`, `\`, `(((`, `[`, `(?#`, `)`} {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, pattern string) {
		if e := patternError(pattern, errors.New("x")); e.Instead == pattern && pattern != "" {
			t.Fatalf("%q is no other pattern", pattern)
		}
	})
}

func TestFindMore(t *testing.T) {
	w := workspace(t, map[string]string{"a/x.go": "", "a/b/y.go": "", "c.go": "", ".env": "", "a/.env.local": "", ".env.example": ""})
	now := time.Now()
	for i, name := range []string{"c.go", "a/b/y.go", "a/x.go", "a/b"} {
		if err := os.Chtimes(w.Abs(name), now, now.Add(-time.Duration(i*50)*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		find Find
		want string
	}{
		{Find{Pattern: "*.go", Newest: true}, "c.go a/b/y.go a/x.go"},
		{Find{Pattern: "a/**", Dirs: true}, "a/ a/.env.local a/b/ a/b/y.go a/x.go"},
		{Find{Pattern: "b", Dirs: true}, "a/b/"},
		{Find{Pattern: "{*,*/*}", Dirs: true, Exclude: []string{".*"}}, "a/ a/b/ a/x.go c.go"},
		{Find{Pattern: "**", Exclude: []string{".env", ".env.*", "!.env.example", "*.go"}}, ".env.example"},
		{Find{Pattern: w.Dir + "/a/*.go"}, "a/x.go"},
		{Find{Pattern: "[ac]*.go"}, "c.go"},
		{Find{Pattern: "?.go", Path: "a"}, "a/b/y.go a/x.go"},
	}
	for _, c := range tests {
		got, err := c.find.Do(context.Background(), w)
		if is := names(w, got); err != nil || is != c.want {
			t.Errorf("%+v gives %s, %v, want %s", c.find, is, err, c.want)
		}
	}
	far := t.TempDir()
	if err := os.WriteFile(far+"/z.go", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	find := Find{Pattern: far + "/*.go"}
	if got, err := find.Do(context.Background(), w); err != nil || len(got.Hits) != 1 || find.Need().Paths[0] != far {
		t.Errorf("elsewhere: %+v, %v, needs %v", got.Hits, err, find.Need().Paths)
	}
}
