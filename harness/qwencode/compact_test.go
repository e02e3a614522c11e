package qwencode

import "testing"

func TestDigest(t *testing.T) {
	tests := map[string]string{
		"<analysis>first</analysis>\n<state_snapshot>\n<overall_goal>x</overall_goal>\n</state_snapshot>\nbye": "<state_snapshot>\n<overall_goal>x</overall_goal>\n</state_snapshot>",
		"<state_snapshot>\ncut off":           "<state_snapshot>\ncut off\n</state_snapshot>",
		"<analysis>aloud</analysis>the facts": "the facts",
		"<analysis>never ends":                "never ends",
		"plain words":                         "plain words",
	}
	for given, want := range tests {
		if got := digest(given); got != want {
			t.Errorf("%q becomes %q, want %q", given, got, want)
		}
	}
}
