package textcall

import "testing"

// A form without words would be told to people by the name it has in here.
func TestEveryFormIsShown(t *testing.T) {
	forms := []string{"tag per tool", "functools", "list", "react", "code", "object", "arguments", "fence"}
	for _, f := range families() {
		forms = append(forms, f.name)
	}
	for _, form := range forms {
		if words, ok := Shown(form); !ok || words == "" || words == form {
			t.Errorf("%s is shown as %q", form, words)
		}
	}
	if len(labels) != len(forms) {
		t.Errorf("%d words for %d forms", len(labels), len(forms))
	}
}
