package action

import (
	"strings"
	"testing"
)

func TestGarbled(t *testing.T) {
	for text, want := range map[string]bool{
		"":                           false,
		"plain text\n":               false,
		strings.Repeat("\uFFFD", 31): false,
		strings.Repeat("\uFFFD", 32): true,
		strings.Repeat("naïve caf\uFFFD au lait\n", 40): false, // Latin-1 with an accent here and there
		strings.Repeat("a\uFFFDb\uFFFD", 100):           true,
	} {
		if got := garbled(text); got != want {
			t.Errorf("%.40q is garbled: %v, want %v", text, got, want)
		}
	}
}

// A command that prints bytes of a program is answered with a line about them.
func TestGarbledOutput(t *testing.T) {
	w := workspace(t, nil)
	r, err := Run{Script: `printf '\200\201\377%.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20`}.Do(t.Context(), w)
	if err != nil || r.Output != garbledNote || r.Gap != nil {
		t.Errorf("it says %q, %v", r.Output, err)
	}
}
