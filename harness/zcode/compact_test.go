package zcode

import "testing"

func TestDigest(t *testing.T) {
	const tail = "\nTake the work up where it stands, without retelling it and without questions that this answers."
	for given, want := range map[string]string{
		"<analysis>a</analysis>\n<summary>\n1. x\n</summary>": "Summary:\n1. x" + tail,
		"plain words": "Summary:\nplain words" + tail,
		"  ":          "",
	} {
		if got := digest(given); got != want {
			t.Errorf("%q becomes %q, want %q", given, got, want)
		}
	}
}
