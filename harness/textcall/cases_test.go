package textcall

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"interpreter/local/chat"
)

func caseTools(t testing.TB) []chat.Spec {
	t.Helper()
	raw, err := os.ReadFile("testdata/tool-calls/tools.json")
	if err != nil {
		t.Fatal(err)
	}
	var tools []chat.Spec
	if err := json.Unmarshal(raw, &tools); err != nil {
		t.Fatal(err)
	}
	return tools
}

// wanted is what an answer must become.
type wanted struct {
	Text, Reasoning, Outcome, Notice string
	Calls                            []wantedCall
	Error                            string      `json:"tool_error"`
	Harness                          string      `json:"given_harness"`
	Finish                           chat.Finish `json:"given_finish_reason"`
}

type wantedCall struct {
	Name      string
	Arguments map[string]any
}

type recorded struct {
	name, text string
	want       wanted
}

// recordings are the cases, but for those of a harness that reads text by a rule of its own.
func recordings(t testing.TB) []recorded {
	t.Helper()
	files, _ := filepath.Glob("testdata/tool-calls/tc-*.txt")
	var all []recorded
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(strings.TrimSuffix(file, ".txt") + ".expected.json")
		if err != nil {
			t.Fatal(err)
		}
		r := recorded{name: strings.TrimSuffix(filepath.Base(file), ".txt"), text: string(text)}
		if err := json.Unmarshal(raw, &r.want); err != nil {
			t.Fatal(err)
		}
		if r.want.Harness == "" {
			all = append(all, r)
		}
	}
	if len(all) < 30 {
		t.Fatalf("%d cases found", len(all))
	}
	return all
}

func reads(c chat.Call) bool {
	return c.Name != "write_file" && c.Name != "run_shell_command" && c.Name != "edit"
}

// outcome words the result as the cases do.
func outcome(r Reading, err error) string {
	switch {
	case errors.Is(err, ErrCut):
		return "incomplete"
	case err != nil:
		return "error"
	case len(r.Message.Calls) == 0 && r.Message.Text == "" && r.Message.Thinking != "":
		return "no-answer"
	}
	return "ok"
}

func callsOf(t testing.TB, m chat.Message) []wantedCall {
	t.Helper()
	var all []wantedCall
	for _, c := range m.Calls {
		w := wantedCall{Name: c.Name}
		if err := json.Unmarshal(c.Args, &w.Arguments); err != nil {
			t.Fatalf("arguments %s: %v", c.Args, err)
		}
		all = append(all, w)
	}
	return all
}

// What each recorded answer must become.
func TestCases(t *testing.T) {
	tools := caseTools(t)
	for _, c := range recordings(t) {
		t.Run(c.name, func(t *testing.T) {
			r, err := Read(Answer{Message: chat.Message{Text: c.text}, Finish: c.want.Finish, Tools: tools, Sure: reads})
			if got := outcome(r, err); got != c.want.Outcome {
				t.Errorf("outcome %s (%v), want %s", got, err, c.want.Outcome)
			}
			if got := callsOf(t, r.Message); len(got)+len(c.want.Calls) > 0 && !reflect.DeepEqual(got, c.want.Calls) {
				t.Errorf("calls %v, want %v", got, c.want.Calls)
			}
			if got := strings.TrimSpace(r.Message.Text); got != c.want.Text {
				t.Errorf("text %q, want %q", got, c.want.Text)
			}
			if r.Message.Thinking != c.want.Reasoning {
				t.Errorf("thinking %q, want %q", r.Message.Thinking, c.want.Reasoning)
			}
			if c.want.Notice == Truncated || c.want.Notice == UnclosedThink || r.Notice != "" {
				if r.Notice != c.want.Notice {
					t.Errorf("notice %q, want %q", r.Notice, c.want.Notice)
				}
			}
			if r.Message.Text != c.text && r.Message.Written != c.text {
				t.Errorf("written %q", r.Message.Written)
			}
			ids := map[string]bool{}
			for _, call := range r.Message.Calls {
				if call.ID == "" || ids[call.ID] {
					t.Errorf("id %q", call.ID)
				}
				ids[call.ID] = true
			}
		})
	}
}
