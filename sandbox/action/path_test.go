package action

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestAbsTakesOffWhatIsAroundAPath(t *testing.T) {
	w := workspace(t, map[string]string{"src/a.go": "a\n", "@types/x.ts": "x\n"})
	if err := os.WriteFile(filepath.Join(w.Dir, "'odd'"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	w.Env = append(w.Env, "HOME="+home)
	tests := map[string]string{
		"src/a.go":                 w.Dir + "/src/a.go",
		"@src/a.go":                w.Dir + "/src/a.go",
		"@src/new.go":              w.Dir + "/src/new.go",
		"@types/x.ts":              w.Dir + "/@types/x.ts",
		"@types/new.ts":            w.Dir + "/@types/new.ts",
		`"src/a.go"`:               w.Dir + "/src/a.go",
		"'odd'":                    w.Dir + "/'odd'",
		"file://" + w.Dir + "/src": w.Dir + "/src",
		"~/notes.txt":              home + "/notes.txt",
		"~other/notes.txt":         w.Dir + "/~other/notes.txt",
	}
	for path, want := range tests {
		if got := filepath.ToSlash(w.Abs(path)); got != want {
			t.Errorf("%s is taken for %s, want %s", path, got, want)
		}
		if need := w.NeedOf(Write{Path: path}); w.Abs(need.Paths[0]) != w.Abs(path) {
			t.Errorf("%s: judged is %s", path, need.Paths[0])
		}
	}
	if need := w.NeedOf(Write{Path: "~/x"}); need.Paths[0] != filepath.Join(home, "x") {
		t.Errorf("a file at home is judged as %s", need.Paths[0])
	}
	if got, err := (Read{Path: "@src/a.go"}).Do(context.Background(), w); err != nil || got.Text != "a\n" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestAbsFindsTheProject(t *testing.T) {
	parent := t.TempDir()
	w := workspaceIn(t, filepath.Join(parent, "shop"), map[string]string{"src/a.go": "a\n", "my file.txt": "x\n", "etc/z": ""})
	dir := filepath.ToSlash(w.Dir)
	tests := map[string]string{
		"/workspace/src/a.go":       dir + "/src/a.go",
		"/workspace/src/new.go":     dir + "/src/new.go",
		"/testbed/src/a.go":         dir + "/src/a.go",
		"/workspace/shop/src/a.go":  dir + "/src/a.go",
		"/workspace/shop/new/b.go":  dir + "/new/b.go",
		"/repo":                     dir,
		"/src/a.go":                 dir + "/src/a.go",
		"/src/new.go":               "/src/new.go",
		"/etc/hostname":             "/etc/hostname",
		"/etc/z":                    "/etc/z",
		dir + dir + "/src/a.go":     dir + "/src/a.go",
		dir[1:] + "/src/new.go":     dir + "/src/new.go",
		"file://localhost" + dir:    dir,
		"file://" + dir + "/my%20f": dir + "/my f",
		"my\u00a0file.txt":          dir + "/my file.txt",
		" src/a.go\n":               dir + "/src/a.go",
		`src\a.go`:                  dir + "/src/a.go",
		"shop/src/a.go":             dir + "/shop/src/a.go", // a folder in shop may well be called shop
		"/workspaces2/src/a.go":     "/workspaces2/src/a.go",
	}
	for path, want := range tests {
		if got := filepath.ToSlash(w.Abs(path)); got != want {
			t.Errorf("%q is taken for %s, want %s", path, got, want)
		}
	}
	var missing *MissingError
	_, err := Read{Path: "shop/src/a.go"}.Do(context.Background(), w)
	if !errors.As(err, &missing) || len(missing.Similar) != 1 || missing.Similar[0] != w.Abs("src/a.go") {
		t.Errorf("%+v", err)
	}
	for _, name := range []string{"one/x.go", "two/x.go", "three/x.go", "four/x.go"} {
		put(t, w, name, "")
	}
	if _, err := (Read{Path: "thre/x.go"}).Do(context.Background(), w); !errors.As(err, &missing) || len(missing.Similar) != 3 || missing.Similar[0] != w.Abs("three/x.go") {
		t.Errorf("%+v", err)
	}
}
