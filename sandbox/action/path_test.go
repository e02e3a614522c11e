package action

import (
	"context"
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
