package harness

import "testing"

func TestJobs(t *testing.T) {
	for id, want := range map[string]int{"bash-7": 7, " 12 ": 12, "`shell-3`": 3, "bash-": 0, "": 0, "the tests": 0, "bash-0": 0, "bash-99999999999999999999": 0, "Ω": 0} {
		n, err := JobNumber(id)
		if n != want || (err == nil) != (want > 0) {
			t.Errorf("%q is %d, %v; want %d", id, n, err, want)
		}
	}
	for script, want := range map[string]string{"npm run dev &": "npm run dev", "a && b": "a && b", "a &&": "a &&", "x&\n": "x", "y": "y"} {
		if got := Detached(script); got != want {
			t.Errorf("%q becomes %q, want %q", script, got, want)
		}
	}
	tests := []struct {
		asked  int
		waited bool
		want   int
		noted  bool
	}{
		{60, true, 60, false}, {300, true, 300, false}, {1800, true, 300, true}, {120_000, true, 120, true}, {600_000, true, 300, true},
		{1800, false, 1800, false}, {86_400, false, 86_400, false}, {120_000, false, 120, true},
	}
	for _, tt := range tests {
		if got, note := JobSeconds(tt.asked, tt.waited, 300, 86_400); got != tt.want || (note != "") != tt.noted {
			t.Errorf("%d s, waited for %v: %d and %q, want %d", tt.asked, tt.waited, got, note, tt.want)
		}
	}
}
