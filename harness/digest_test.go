package harness

import "testing"

func TestSummaryDigest(t *testing.T) {
	tests := map[string]string{
		"<analysis>first</analysis>\n<summary>\n1. Intent: x\n</summary>\nbye": "Summary:\n1. Intent: x",
		"<summary>\ncut off":                "Summary:\ncut off",
		"<analysis>aloud</analysis>\nfacts": "facts",
		"<analysis>never ends":              "never ends",
		"<summary></summary>plain":          "<summary></summary>plain",
		"plain words":                       "plain words",
	}
	for given, want := range tests {
		if got := SummaryDigest(given); got != want {
			t.Errorf("%q becomes %q, want %q", given, got, want)
		}
	}
}
