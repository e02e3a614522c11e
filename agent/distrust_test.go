package agent

import (
	"slices"
	"strings"
	"testing"

	"interpreter/agent/event"
)

// Two calls within ten turns that cannot be read are passed on, once; two that are further apart are not.
func TestDistrust(t *testing.T) {
	bad, good := "reply\n miscall read {\"path\":\n", "reply\n say well\n"
	turn := bad + good
	for _, test := range []struct {
		name   string
		script string
		turns  int
		told   int
	}{
		{"one", turn + good, 2, 0},
		{"two in two turns", turn + turn + turn, 3, 1},
		{"two in a turn", bad + bad + good, 1, 1},
		{"the tenth turn", turn + strings.Repeat(good, 8) + turn, 10, 1},
		{"the eleventh turn", turn + strings.Repeat(good, 9) + turn, 11, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			told := 0
			w := start(t, test.script, func(c *Config) {
				c.Distrust = func() string { told++; return "it cannot be trusted" }
			})
			for range test.turns {
				w.prompt("go")
			}
			warned := slices.DeleteFunc(bodies[event.Warned](w.log), func(b event.Warned) bool { return b.Text != "it cannot be trusted" })
			if told != test.told || len(warned) != test.told {
				t.Errorf("told %d times, warned %d times, want %d", told, len(warned), test.told)
			}
		})
	}
}
