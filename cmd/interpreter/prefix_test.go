package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"interpreter/local/practice"
)

// The tool check is asked behind exactly what the session begins with: the messages of its requests, up to what the
// check itself says, and the tools, up to those of the check, are as bytes those of the session's first request. It
// is so in a new session, and when one goes on whose verdict was forgotten.
func TestCheckSharesTheOpening(t *testing.T) {
	for _, harness := range []string{"native", "qwen-code", "minimal"} {
		t.Run(harness, func(t *testing.T) {
			script, err := practice.Parse("capabilities completion tools thinking vision\nreply\n say one\nreply\n say two\nreply\n say three\n")
			if err != nil {
				t.Fatal(err)
			}
			played := practice.NewServer(script)
			server := httptest.NewServer(played)
			defer server.Close()
			home, dir := t.TempDir(), t.TempDir()
			for name, text := range map[string]string{"AGENTS.md": "Speak <plainly> & briefly.\n", "a.go": "package a\n"} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("INTERPRETER_HOME", home)
			t.Setenv("OLLAMA_HOST", server.URL)
			exec := func(args ...string) (checks, turns []practice.Received) {
				t.Helper()
				before := len(played.Requests())
				w := practiceWorld()
				var heard bytes.Buffer
				w.stdout, w.stderr, w.stdinTerminal = io.Discard, &heard, true
				args = append([]string{"exec", "--skip-git-repo-check", "-C", dir, "--harness", harness, "-c", "developer_instructions=Be kind."}, args...)
				if code := run(t.Context(), w, args); code != exitFine {
					t.Fatalf("exit code %d: %s", code, heard.String())
				}
				for _, r := range played.Requests()[before:] {
					switch {
					case bytes.Contains(r.Body, []byte(`"probe_sum"`)):
						checks = append(checks, r)
					case len(r.Request.Messages) > 0:
						turns = append(turns, r)
					}
				}
				if len(checks) != 2 && len(checks) != 0 || len(turns) != 1 {
					t.Fatalf("%d checks, %d turns", len(checks), len(turns))
				}
				return checks, turns
			}
			shares := func(check, first practice.Received, own int) {
				t.Helper()
				var asked, sent struct{ Tools, Messages []json.RawMessage }
				for body, into := range map[*practice.Received]any{&check: &asked, &first: &sent} {
					if err := json.Unmarshal(body.Body, into); err != nil {
						t.Fatal(err)
					}
				}
				opening := asked.Messages[:len(asked.Messages)-own]
				if len(opening) == 0 || len(sent.Messages) <= len(opening) || len(sent.Tools) == 0 && harness != "minimal" || len(asked.Tools) != len(sent.Tools)+1 {
					t.Fatalf("%d messages and %d tools in the check, %d and %d in the session", len(asked.Messages), len(asked.Tools), len(sent.Messages), len(sent.Tools))
				}
				for i := range opening {
					if !bytes.Equal(opening[i], sent.Messages[i]) {
						t.Errorf("message %d:\n%s\n%s", i, opening[i], sent.Messages[i])
					}
				}
				for i := range sent.Tools {
					if !bytes.Equal(asked.Tools[i], sent.Tools[i]) {
						t.Errorf("tool %d:\n%s\n%s", i, asked.Tools[i], sent.Tools[i])
					}
				}
			}
			checks, turns := exec("go")
			shares(checks[0], turns[0], 1)
			shares(checks[1], turns[0], 3)
			if again, _ := exec("resume", "--last", "on"); len(again) != 0 {
				t.Error("the verdict was not kept")
			}
			if err := os.WriteFile(filepath.Join(dir, "AGENTS.md"), []byte("Other words.\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(filepath.Join(home, "verdicts.json")); err != nil {
				t.Fatal(err)
			}
			checks, turns = exec("resume", "--last", "and on")
			shares(checks[0], turns[0], 1)
		})
	}
}
