package harnesstest_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"interpreter/harness"
	"interpreter/harness/catalog"
	"interpreter/local/chat"
	"interpreter/sandbox"
	"interpreter/sandbox/action"
)

// step is one call of a small piece of work, and what the words must say.
type step struct{ tool, args, want string }

// The same work under each harness, with real actions: look, edit, run, miss.
var work = map[string][]step{
	"native": {
		{"exec_command", `{"cmd":"cat greet.go"}`, "Process exited with code 0\nOriginal token count: 14\nOutput:\npackage greet // helo"},
		{"apply_patch", `{"input":"*** Begin Patch\n*** Update File: greet.go\n@@\n-package greet // helo\n+package greet // hello\n*** End Patch"}`, "M greet.go"},
		{"apply_patch", `{"input":"*** Begin Patch\n*** Update File: greet.go\n@@\n-package nothing\n+package x\n*** End Patch"}`, "apply_patch verification failed"},
		{"exec_command", `{"cmd":"apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: sub/new.txt\n+x\n*** End Patch\nEOF\n"}`, "A sub/new.txt"},
		{"exec_command", `{"cmd":"exit 3"}`, "Process exited with code 3"},
		{"write_stdin", `{"session_id":12345}`, "unknown session"},
		{"update_plan", `{"plan":[{"step":"a","status":"completed"}]}`, "Plan updated"},
		{"request_user_input", `{"questions":[{"id":"a","header":"h","question":"q","options":["x","y"]}]}`, "nobody can be asked"},
		{"shell", `{"command":["bash","-lc","echo hi"]}`, "Exit code: 0\n"},
	},
	"qwen-code": {
		{"list_directory", `{"path":"."}`, "greet.go"},
		{"read_file", `{"file_path":"greet.go"}`, "package greet // helo"},
		{"read_file", `{"file_path":"greet.go"}`, "unchanged"},
		{"read_file", `{"file_path":"gret.go"}`, "File not found: gret.go. There is: "},
		{"edit", `{"file_path":"greet.go","old_string":"helo","new_string":"hello"}`, "Edited greet.go in 1 place.\nLines 1-3 of 3."},
		{"edit", `{"file_path":"greet.go","old_string":"func nothing()","new_string":"x"}`, "0 occurrences"},
		{"edit", `{"file_path":"new.txt","old_string":"","new_string":"x\n"}`, "Created new.txt"},
		{"write_file", `{"file_path":"new.txt","content":"y\n"}`, "Overwrote file: new.txt"},
		{"grep_search", `{"pattern":"hel+o"}`, "greet.go:1:package greet // hello"},
		{"glob", `{"pattern":"**/*.go"}`, "Found 1 file(s)"},
		{"run_shell_command", `{"command":"echo out; exit 4"}`, "Output: out\nError: (none)\nExit Code: 4"},
		{"todo_write", `{"todos":[{"content":"a","status":"pending","id":"1"}]}`, "<system-reminder>"},
	},
	"minimal": {
		{"ls", `{}`, "greet.go"},
		{"read", `{"path":"greet.go"}`, "package greet // helo"},
		{"read", `{"path":"greet.go","offset":90}`, "3 lines"},
		{"edit", `{"path":"greet.go","old_text":"helo","new_text":"hello"}`, "Replaced 1 block in greet.go."},
		{"edit", `{"path":"greet.go","old_text":"hello","new_text":"hello"}`, "identical. Nothing was changed."},
		{"write", `{"path":"sub/new.txt","content":"x\n"}`, "Wrote 2 bytes to sub/new.txt."},
		{"grep", `{"pattern":"hello"}`, "greet.go:1: package greet // hello"},
		{"find", `{"pattern":"*.txt"}`, "sub/new.txt"},
		{"bash", `{"command":"false"}`, "(no output)\n\nExit code 1."},
		{"update_plan", `{"plan":["a","b"]}`, "Plan updated"},
	},
}

func TestWork(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands are for a Unix shell")
	}
	for _, h := range catalog.All() {
		t.Run(h.Name, func(t *testing.T) {
			w := workspace(t)
			file := filepath.Join(w.Dir, "greet.go")
			if err := os.WriteFile(file, []byte("package greet // helo\n\nfunc Hello() string { return x }\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			for _, s := range work[h.Name] {
				words := perform(t, h, w, chat.Call{ID: "1", Name: s.tool, Args: json.RawMessage(s.args)})
				if !strings.Contains(words, s.want) {
					t.Errorf("%s %s says\n%s\nwant …%s…", s.tool, s.args, words, s.want)
				}
			}
			text, err := os.ReadFile(file)
			if err != nil || !strings.Contains(string(text), "// hello") {
				t.Errorf("the file is %q, %v", text, err)
			}
		})
	}
}

func workspace(t *testing.T) *action.Workspace {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	policy, _, err := sandbox.Resolve(sandbox.Settings{Mode: sandbox.FullAccess, Dir: dir, Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	box, err := sandbox.New(policy)
	if err != nil {
		t.Fatal(err)
	}
	return &action.Workspace{Dir: dir, Box: box, Shell: "/bin/sh", Env: []string{"PATH=" + os.Getenv("PATH")}, Spill: t.TempDir()}
}

func perform(t *testing.T, h harness.Harness, w *action.Workspace, c chat.Call) string {
	t.Helper()
	s, err := h.Step(c)
	if err != nil {
		return h.Say(c.Name, err)
	}
	_, words, err := s.Run(context.Background(), w)
	if err != nil {
		return h.Say(s.Tool, err)
	}
	return words
}
