package agent

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"interpreter/agent/event"
)

// contextCase is a session in a small window, and what may be sent in it.
type contextCase struct {
	Window int
	Turns  []struct {
		UserTokens   int `json:"user_tokens"`
		OutputTokens int `json:"tool_output_tokens"`
	}
	History int `json:"history_tokens"`
	Summary int `json:"compaction_prompt_tokens"`
	want    struct {
		MaxRequest  int `json:"max_request_tokens"`
		MaxSummary  int `json:"compaction_request_tokens_max"`
		Compactions int `json:"compactions_max"`
	}
}

func readContextCase(t *testing.T, name string) (c contextCase) {
	t.Helper()
	for suffix, into := range map[string]any{".json": &c, ".expected.json": &c.want} {
		data, err := os.ReadFile(filepath.Join("testdata", "context", name+suffix))
		if err == nil {
			err = json.Unmarshal(data, into)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// wordsOf is a text of about that many tokens that does not repeat itself.
func wordsOf(tokens int) string {
	var b strings.Builder
	for i := 0; b.Len() < int(float64(tokens)*charsPerToken); i++ {
		fmt.Fprintf(&b, "word %d and ", i)
	}
	return b.String()
}

// A tool may say several times more than the window holds: each request stays below it all the same.
func TestOutputLargerThanTheWindow(t *testing.T) {
	c := readContextCase(t, "cx-05")
	for _, factor := range []int{1, 4} {
		t.Run(fmt.Sprintf("times %d", factor), func(t *testing.T) {
			output := run(fmt.Sprintf("head -c %d big", int(float64(factor*c.Turns[1].OutputTokens)*charsPerToken)))
			w := start(t, script(output, "say The summary.\ntokens 100 10", "say done"), window(c.Window))
			w.file("big", wordsOf(4*c.Turns[1].OutputTokens+2000))
			if ended := w.prompt(wordsOf(c.Turns[0].UserTokens)); ended.Reason != event.Finished {
				t.Fatalf("got %+v", ended)
			}
			requests := w.model.Requests()
			if len(requests) < 2 {
				t.Fatalf("%d requests", len(requests))
			}
			for i, r := range requests {
				if size := estimate(r.Messages) + estimateSpecs(r.Tools); size > c.want.MaxRequest {
					t.Errorf("request %d has %d tokens, at most %d are wanted", i, size, c.want.MaxRequest)
				}
			}
			if n := len(bodies[event.Compacted](w.log)); n > c.want.Compactions {
				t.Errorf("%d compactions", n)
			}
		})
	}
}

// A history that leaves no room for the compaction prompt is shortened for it, and the session goes on.
func TestHistoryWithoutRoomForTheSummary(t *testing.T) {
	c := readContextCase(t, "cx-06")
	long := func(cfg *Config) {
		prose := maps.Clone(cfg.Harness.Prose.(fstest.MapFS))
		prose["compact.md"] = &fstest.MapFile{Data: []byte(wordsOf(c.Summary))}
		cfg.Harness.Prose = prose
	}
	w := start(t, script(fmt.Sprintf("say %s\ntokens %d 100", strings.TrimSpace(wordsOf(2000)), c.History-100), "say The summary.", "say went on"), window(c.Window), long)
	w.prompt(wordsOf(c.History - 2500))
	if ended := w.prompt("next"); ended.Final != "went on" {
		t.Fatalf("got %+v", ended)
	}
	if n := len(bodies[event.Compacted](w.log)); n != 1 {
		t.Fatalf("%d compactions", n)
	}
	asked := false
	for i, r := range w.model.Requests()[1:] {
		last := r.Messages[len(r.Messages)-1]
		asked = asked || tokens(last.Text) >= c.Summary*9/10 && last.Text != "next"
		if size := estimate(r.Messages) + estimateSpecs(r.Tools); size > c.want.MaxSummary {
			t.Errorf("request %d has %d tokens, at most %d are wanted", i+1, size, c.want.MaxSummary)
		}
	}
	if !asked {
		t.Error("the summary was not asked for with the long prompt")
	}
}
