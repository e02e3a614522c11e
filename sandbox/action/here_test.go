package action

import "testing"

func TestHere(t *testing.T) {
	w := workspace(t, map[string]string{"sub/in": "", "top": "", "both": "", "sub/both": ""})
	if got := w.Here("in", false); got != "in" {
		t.Errorf("before any command in is %q", got)
	}
	do(t, w, Run{Script: "cd sub", Keep: KeepShell})
	for path, want := range map[string]string{"in": "sub/in", "both": "sub/both", "top": "top", "../top": "top", "none": "none", w.Dir + "/top": w.Dir + "/top", "~/x": "~/x", "": ""} {
		if got := w.Here(path, false); got != want {
			t.Errorf("%q is %q, want %q", path, got, want)
		}
	}
	if got := w.Here("new", true); got != "sub/new" {
		t.Errorf("a new file is %q", got)
	}
}
