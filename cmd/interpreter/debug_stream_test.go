package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"interpreter/harness/native"
	"interpreter/local/localtest"
)

// The cases of both wires through the door, whole and in every split: the same is said each time.
func TestStreamCases(t *testing.T) {
	passed := 0
	for wire, pattern := range map[string]string{"chat": "../../local/openai/testdata/streams/*.sse", "ollama": "../../local/ollama/testdata/streams/*.ndjson"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no cases, %v", pattern, err)
		}
		for _, file := range files {
			t.Run(filepath.Base(file), func(t *testing.T) {
				body, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				at := func(n int) streamed {
					for _, w := range wires {
						if w.name == wire {
							return hear(w.decode(&localtest.Pieces{Data: body, At: n}, nil), native.Harness, false)
						}
					}
					t.Fatal("no such wire")
					return streamed{}
				}
				whole := at(len(body))
				checkStreamed(t, strings.TrimSuffix(file, filepath.Ext(file))+".expected.json", whole)
				for n := -1; n < len(body); n++ {
					if got := at(n); !reflect.DeepEqual(got, whole) {
						t.Fatalf("split at %d: %+v, want %+v", n, got, whole)
					}
				}
			})
			passed++
		}
	}
	if passed < 19 {
		t.Errorf("only %d cases", passed)
	}
}

func checkStreamed(t *testing.T, file string, got streamed) {
	t.Helper()
	var want streamed
	var more struct {
		MustMention []string `json:"error_must_mention"`
		CallIDs     []string `json:"call_ids"`
	}
	localtest.ReadJSON(t, file, &want)
	localtest.ReadJSON(t, file, &more)
	if got.Text != want.Text || got.Reasoning != want.Reasoning || got.Outcome != want.Outcome || got.Notice != want.Notice || len(got.Calls) != len(want.Calls) {
		t.Fatalf("got %+v, want %+v", got, want)
	}
	if want.Usage != nil && !reflect.DeepEqual(got.Usage, want.Usage) {
		t.Errorf("usage %+v, want %+v", got.Usage, want.Usage)
	}
	ids := map[string]bool{}
	for i, c := range got.Calls {
		var a, b any
		if json.Unmarshal(c.Arguments, &a) != nil || json.Unmarshal(want.Calls[i].Arguments, &b) != nil || !reflect.DeepEqual(a, b) || c.Name != want.Calls[i].Name || c.ID == "" || ids[c.ID] {
			t.Errorf("call %+v, want %+v", c, want.Calls[i])
		}
		if more.CallIDs != nil && c.ID != more.CallIDs[i] {
			t.Errorf("id %q, want %q", c.ID, more.CallIDs[i])
		}
		ids[c.ID] = true
	}
	for _, words := range more.MustMention {
		if !strings.Contains(got.Error, words) {
			t.Errorf("error %q does not mention %q", got.Error, words)
		}
	}
}
