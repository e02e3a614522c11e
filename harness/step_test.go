package harness_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"interpreter/harness"
	"interpreter/harness/claudecode"
	"interpreter/local/chat"
)

// Another product's name for a tool with arguments that do not fit is answered about the tool it stands for.
func TestAliasWithBadArguments(t *testing.T) {
	h := claudecode.Harness
	for _, c := range []struct {
		call chat.Call
		tool string // "": unknown
		what string
	}{
		{chat.Call{Name: "run_shell_command", Args: json.RawMessage(`{}`)}, "Bash", "command"},
		{chat.Call{Name: "read_file", Args: json.RawMessage(`{"limit":3}`)}, "Read", "file_path"},
		{chat.Call{Name: "run_shell_command", Args: json.RawMessage(`{}`), Raw: `{"command":"a" "b"`}, "Bash", "not JSON"},
		{chat.Call{Name: "frobnicate", Args: json.RawMessage(`{}`)}, "", ""},
	} {
		_, err := h.Step(c.call)
		var bad *harness.ArgumentsError
		if !errors.As(err, &bad) {
			if c.tool != "" {
				t.Errorf("%s: %v", c.call.Name, err)
			}
			continue
		}
		words := h.Say(c.call.Name, err)
		if bad.Tool != c.tool || bad.Called != c.call.Name || !strings.Contains(words, c.what) || !strings.Contains(words, "there is no tool "+c.call.Name+" here; "+c.tool+" does this") {
			t.Errorf("%s: %+v, said %q", c.call.Name, bad, words)
		}
	}
}

// Spellings are kept for people and not told to the model.
func TestSpelled(t *testing.T) {
	step, err := claudecode.Harness.Step(chat.Call{Name: "Bash", Args: json.RawMessage(`{"cmd":["ls","-l"],"timeout":"9000"}`)})
	if want := []string{"cmd for command", "command as a list", "timeout as text"}; err != nil || !slices.Equal(step.Spelled, want) || len(step.Note) != 0 {
		t.Errorf("spelled %q, notes %q, %v", step.Spelled, step.Note, err)
	}
}
