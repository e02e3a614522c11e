package local

import (
	"strings"
	"testing"

	"interpreter/probes"
)

// A refusal for want of memory says which other program holds the card, and does not blame the server itself.
func TestOccupied(t *testing.T) {
	card := func(used int64, users ...probes.User) probes.Machine {
		return probes.Machine{
			RAM:  probes.Memory{Total: 8 * gib, Available: 4 * gib},
			GPUs: []probes.GPU{{Name: "Card", Vendor: "nvidia", Total: 24 * gib, Free: (24 - used) * gib, Users: users}},
		}
	}
	trainer := probes.User{Name: "python3", PID: 812, Bytes: 17 * gib}
	server := probes.User{Name: "engine", PID: 7, Bytes: 6 * gib}
	m := ModelInfo{Name: "a:30b", Size: 18 * gib, Trained: 262144}
	const blamed = "are in use by python3 (process 812) with 17.0 GiB"
	for _, test := range []struct {
		name    string
		machine probes.Machine
		held    Held
		want    string
	}{
		{"another program", card(18, trainer), Held{}, "18.0 GiB of Card " + blamed},
		{"beside the server", card(23, trainer, server), Held{GPU: 5 * gib}, "23.0 GiB of Card " + blamed},
		{"amounts untold", card(18, probes.User{Name: "game", PID: 3}), Held{}, "in use by game (process 3); the driver does not say"},
		{"nobody known", card(18), Held{}, ""},
		{"a screen", card(3, trainer), Held{}, ""},
		{"the server alone, which does not tell", card(20, server), Held{Either: 19 * gib}, ""},
		{"the server alone", card(20, server), Held{GPU: 19 * gib}, ""},
	} {
		_, err := ChooseWindow(m, test.machine, test.held, Want{})
		if err == nil {
			if test.want != "" {
				t.Errorf("%s: it fits", test.name)
			}
			continue
		}
		if got := err.Error(); test.want != "" && !strings.Contains(got, test.want) || strings.Contains(got, "engine") || test.want == "" && strings.Contains(got, "in use") {
			t.Errorf("%s: got %q", test.name, got)
		}
		if j := Judge(m, test.machine, test.held, Want{}); test.want != "" && !strings.Contains(j.Refusal.Text, test.want) {
			t.Errorf("%s: judged %q", test.name, j.Refusal.Text)
		}
	}
}
