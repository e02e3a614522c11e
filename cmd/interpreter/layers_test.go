package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// layers is section 2 of the design: what each package may import of ours. A name covers its sub-packages unless
// they have a row of their own.
var layers = map[string]string{
	"probes":              "",
	"sandbox":             "sandbox/helper",
	"sandbox/helper":      "",
	"sandbox/helper/cmd":  "sandbox/helper",
	"sandbox/action":      "sandbox",
	"sandbox/shell":       "sandbox",
	"local/chat":          "",
	"local":               "probes local/chat",
	"local/ollama":        "local local/chat",
	"local/lmstudio":      "local local/chat local/openai",
	"local/openai":        "local local/chat",
	"local/messages":      "local local/chat local/openai",
	"local/responses":     "local local/chat local/openai",
	"local/practice":      "local/chat",
	"local/hosted":        "local local/chat",
	"harness":             "local/chat sandbox/action harness/textcall",
	"harness/*":           "harness local/chat sandbox/action harness/textcall",
	"harness/textcall":    "local/chat",
	"harness/catalog":     "harness harness/*",
	"agent/event":         "local/chat sandbox/action",
	"agent/approve":       "agent/approve/rules sandbox sandbox/action",
	"agent/approve/rules": "",
	"agent/store":         "agent/event local/chat sandbox/action",
	"agent/project":       "harness sandbox sandbox/action",
	"agent/hooks":         "sandbox sandbox/action agent/event",
	"agent/mcp":           "harness sandbox sandbox/action",
	"agent":               "agent/event agent/approve agent/approve/rules agent/store agent/project agent/hooks agent/mcp harness sandbox sandbox/action local/chat",
	"benchmarks":          "probes local local/* harness harness/* agent agent/* sandbox sandbox/*",
	"cmd/config":          "",
	"cmd/rpc":             "",
	"cmd/quiet":           "",
	"cmd/exec":            "agent agent/* local local/chat cmd/config cmd/rpc sandbox/action",
	"cmd/tui":             "agent agent/* local local/chat cmd/config cmd/rpc sandbox/action",
	"cmd/acp":             "agent agent/* local local/chat cmd/config cmd/rpc sandbox/action",
	"cmd/mcpserver":       "agent agent/* local local/chat cmd/config cmd/rpc sandbox/action",
	"cmd/appserver":       "agent agent/* local local/chat cmd/config cmd/rpc sandbox/action",
	"cmd/setup":           "local local/chat probes cmd/config",
	"cmd/interpreter":     "*",
}

// helpers stand beside what they test and may be imported by tests alone.
var helpers = []string{"local/localtest", "harness/harnesstest", "sandbox/sandboxtest"}

// No package imports one above it or beside it, but for what its row allows.
func TestImportsPointDown(t *testing.T) {
	root := filepath.Join("..", "..")
	seen := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && path != root && (name == "testdata" || name == "bin" || strings.HasPrefix(name, ".")) {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		rel, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		from := filepath.ToSlash(rel)
		for _, h := range helpers {
			if from == h {
				return nil
			}
		}
		allowed, ok := row(from)
		if !ok {
			t.Errorf("%s has no row in the table of layers", from)
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			to, ours := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), "interpreter/")
			if !ours {
				continue
			}
			seen++
			if !allows(from, allowed, to) {
				t.Errorf("%s imports %s; it may import: %s", path, to, allowed)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 20 {
		t.Fatalf("saw %d imports of ours; the walk is broken", seen)
	}
}

func row(from string) (string, bool) {
	for p := from; p != "."; p = filepath.ToSlash(filepath.Dir(p)) {
		if allowed, ok := layers[p]; ok {
			return allowed, true
		}
		if allowed, ok := layers[filepath.ToSlash(filepath.Join(filepath.Dir(p), "*"))]; ok {
			return allowed, true
		}
	}
	return "", false
}

func allows(from, allowed, to string) bool {
	if to == from || strings.HasPrefix(to, from+"/") && from == "sandbox/helper" {
		return true
	}
	for _, a := range strings.Fields(allowed) {
		if a == "*" || a == to {
			return true
		}
		if dir, ok := strings.CutSuffix(a, "/*"); ok && filepath.ToSlash(filepath.Dir(to)) == dir {
			// harness/* for a harness means what harnesses share, not a sibling
			return from != "harness" && !(strings.HasPrefix(from, "harness/") && from != "harness/catalog")
		}
	}
	return false
}
