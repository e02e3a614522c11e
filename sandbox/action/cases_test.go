package action

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"interpreter/sandbox/sandboxtest"
)

// workspace is a writable one in a fresh folder, with the given files.
func workspace(t testing.TB, files map[string]string) *Workspace {
	t.Helper()
	return workspaceIn(t, t.TempDir(), files)
}

// workspaceIn is one in a folder with a name of its own.
func workspaceIn(t testing.TB, dir string, files map[string]string) *Workspace {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	policy := sandboxtest.Writable(t, dir)
	w := &Workspace{Dir: policy.Dir, Box: sandboxtest.New(t, policy), Env: sandboxtest.Environ(), Shell: "/bin/sh", Spill: filepath.Join(t.TempDir(), "spill")}
	t.Cleanup(func() { _ = w.Close() })
	for name, text := range files {
		put(t, w, name, text)
	}
	return w
}

func put(t testing.TB, w *Workspace, name, text string) {
	t.Helper()
	path := w.Abs(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func content(t testing.TB, w *Workspace, name string) string {
	t.Helper()
	data, err := os.ReadFile(w.Abs(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func load(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// tree is every file below a folder by its path; a missing folder is an empty tree.
func tree(t testing.TB, root string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		out[filepath.ToSlash(rel)] = string(load(t, path))
		return nil
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return out
}

type fileCase struct {
	Level      string   `json:"level"`
	ReplaceAll bool     `json:"replace_all"`
	Result     string   `json:"result"`
	Mention    []string `json:"error_must_mention"`
}

// loosest is the loosest rung a case level allows.
var loosest = map[string]string{"L0": "E0", "L1": "E1", "L2": "E3", "L3": "E6", "L4": "E4"}

func TestEditCases(t *testing.T) {
	for _, dir := range caseDirs(t, "testdata/edit-matching", 19) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			var want fileCase
			if err := json.Unmarshal(load(t, filepath.Join(dir, "case.json")), &want); err != nil {
				t.Fatal(err)
			}
			before := load(t, filepath.Join(dir, "original"))
			w := workspace(t, map[string]string{"file.txt": string(before)})
			out, err := Edit{
				Path: "file.txt", All: want.ReplaceAll,
				Old: string(load(t, filepath.Join(dir, "search"))), New: string(load(t, filepath.Join(dir, "replacement"))),
			}.Do(context.Background(), w)
			expected := before
			switch want.Result {
			case "edited":
				if err != nil {
					t.Fatal(err)
				}
				expected = load(t, filepath.Join(dir, "expected"))
				if out.Level > loosest[want.Level] {
					t.Errorf("matched on %s, the case allows %s", out.Level, loosest[want.Level])
				}
			case "refused":
				if err == nil {
					t.Fatalf("edited on level %s, want a refusal", out.Level)
				}
				mentions(t, err, want.Mention)
			default:
				t.Fatalf("unknown result %q", want.Result)
			}
			if got := content(t, w, "file.txt"); got != string(expected) {
				t.Errorf("file is %q\nwant    %q", got, expected)
			}
		})
	}
}

func TestPatchCases(t *testing.T) {
	for _, dir := range caseDirs(t, "testdata/apply-patch", 16) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			var want fileCase
			if err := json.Unmarshal(load(t, filepath.Join(dir, "case.json")), &want); err != nil {
				t.Fatal(err)
			}
			before := tree(t, filepath.Join(dir, "before"))
			w := workspace(t, before)
			_, err := Patch{Text: string(load(t, filepath.Join(dir, "patch.txt")))}.Do(context.Background(), w)
			expected := before
			switch want.Result {
			case "applied":
				if err != nil {
					t.Fatal(err)
				}
				expected = tree(t, filepath.Join(dir, "after"))
			case "refused":
				if err == nil {
					t.Fatal("applied, want a refusal")
				}
				mentions(t, err, want.Mention)
			default:
				t.Fatalf("unknown result %q", want.Result)
			}
			sameTree(t, tree(t, w.Dir), expected)
		})
	}
}

func sameTree(t *testing.T, got, want map[string]string) {
	t.Helper()
	for name, text := range want {
		if got[name] != text {
			t.Errorf("%s is %q, want %q", name, got[name], text)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s should not be there", name)
		}
	}
}

func mentions(t *testing.T, err error, words []string) {
	t.Helper()
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("the error %q does not mention %q", err, word)
		}
	}
}

func caseDirs(t *testing.T, root string, least int) []string {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(root, "*-*"))
	if err != nil || len(dirs) < least {
		t.Fatalf("%d cases in %s, want at least %d (%v)", len(dirs), root, least, err)
	}
	return dirs
}

func TestOutputCases(t *testing.T) {
	files, err := filepath.Glob("testdata/output/*.bin")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d cases (%v)", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			var want struct {
				Text    *string  `json:"text"`
				Contain []string `json:"must_contain"`
				Bytes   []string `json:"must_not_contain_bytes"`
			}
			if err := json.Unmarshal(load(t, strings.TrimSuffix(file, ".bin")+".expected.json"), &want); err != nil {
				t.Fatal(err)
			}
			raw := load(t, file)
			got := Clean(raw)
			if want.Text != nil && got != *want.Text {
				t.Errorf("got %q, want %q", got, *want.Text)
			}
			if again := strings.ToValidUTF8(got, "?"); again != got {
				t.Errorf("not valid UTF-8: %q", got)
			}
			for _, s := range want.Contain {
				if !strings.Contains(got, s) {
					t.Errorf("%q lacks %q", got, s)
				}
			}
			for _, hex := range want.Bytes {
				var b byte
				for _, c := range hex {
					b = b<<4 | byte(strings.IndexRune("0123456789abcdef", c))
				}
				if bytes.IndexByte([]byte(got), b) >= 0 {
					t.Errorf("%q contains byte %s", got, hex)
				}
			}
		})
	}
}
