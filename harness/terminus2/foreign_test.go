package terminus2

import (
	"errors"
	"testing"

	"interpreter/harness"
	"interpreter/local/chat"
)

// A call in another family's form is read when the reply is in none of the own forms; one that tries an own form is sent
// back for what is wrong with it.
func TestForeignCalls(t *testing.T) {
	for text, want := range map[string]string{
		`<tool_call>{"name":"bash","arguments":{"command":"ls"}}</tool_call>`:                            "bash",
		"I look.\n<function=run_shell_command>\n<parameter=command>ls</parameter>\n</function>":          "run_shell_command",
		`{"analysis":"a","plan":"b","commands":[{"keystrokes":"ls\n"}]`:                                  "terminal", // mended
		`{"plan":"b","commands":[]} <tool_call>{"name":"bash","arguments":{"command":"ls"}}</tool_call>`: "",
		"Nothing to be read.": "",
	} {
		read, err := decode(harness.Answer{Message: chat.Message{Role: chat.Assistant, Text: text}, Finish: chat.Stopped})
		var bad *ParseError
		switch calls := read.Message.Calls; {
		case want == "":
			if !errors.As(err, &bad) || len(calls) != 0 {
				t.Errorf("%s: %v, %v", text, calls, err)
			}
		case err != nil || len(calls) != 1 || calls[0].Name != want:
			t.Errorf("%s: %v, %v", text, calls, err)
		default:
			if step, err := Harness.Step(calls[0]); err != nil || step.Tool != "terminal" {
				t.Errorf("%s: %+v, %v", text, step, err)
			}
		}
	}
}
