package local

import (
	"strings"
	"testing"
)

// The sum that the help page makes by hand is the one that is printed.
func TestExplainByHand(t *testing.T) {
	machine := withRAM(56*gib, 60, rated(24*gib, 1008))
	machine.GPUs[0].Free = 2327 * gib / 100
	j := Judge(known(t, "qwen3-coder:30b"), machine, Held{}, Want{Window: Floor, Own: true})
	text := strings.Join(j.Explain(), "\n")
	for _, line := range []string{
		"   17.53 GiB  weights", "    3.19 GiB  keys and values", "    0.40 GiB  compute", "    0.45 GiB  driver", "   21.57 GiB  needed", "   22.27 GiB  usable            23.27 GiB free, less 1.00",
	} {
		if !strings.Contains(text, line) {
			t.Errorf("%q is not in\n%s", line, text)
		}
	}
	if j = Judge(known(t, "qwen3-coder:30b"), machine, Held{}, Want{Window: Floor}); j.Verdict != ExpertOffload || Bytes(j.Fit.Need) != "24.4 GiB" {
		t.Errorf("in f16: %s, %s", j.Verdict, Bytes(j.Fit.Need))
	}
}
