package local

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"interpreter/probes"
)

var update = flag.Bool("update", false, "write the goldens")

func recorded(t *testing.T, path string) probes.Machine {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var m probes.Machine
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return m
}

// told is a ranking and what is recommended of it, as in the goldens.
func told(m probes.Machine, want Want) string {
	var b strings.Builder
	for _, j := range Rank(m, Held{}, want) {
		f := j.Fit
		kind := f.Cache
		if kind == "" {
			kind = "-"
		}
		fmt.Fprintf(&b, "%-28s %-15s %7d %-4s %12d of %12d %5.1f %5.1f %-8s %-6s", j.Model.Name, j.Verdict, f.Window, kind, f.Need, f.Room, f.Speed.Fresh, f.Speed.Deep, f.Speed.Class, j.Confidence)
		if j.Refusal != nil {
			fmt.Fprintf(&b, " %s; rather %s", j.Refusal.Code, strings.Join(j.Alternatives, ", "))
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
	for _, r := range Recommend(m, Held{}, want, 3) {
		fmt.Fprintf(&b, "%s, %d tokens. %s\n", r.Model.Name, r.Fit.Window, r.Why)
	}
	return b.String()
}

// Each recorded machine's whole ranking, with the largest windows, for a server that is ours.
func TestMachines(t *testing.T) {
	machines, err := filepath.Glob("testdata/machines/*.json")
	if err != nil || len(machines) < 8 {
		t.Fatalf("%d machines, %v", len(machines), err)
	}
	for _, path := range machines {
		name := strings.TrimSuffix(filepath.Base(path), ".json")
		t.Run(name, func(t *testing.T) {
			got := told(recorded(t, path), Want{Own: true, Largest: true})
			golden := filepath.Join("testdata", "fit", name+".golden")
			if *update {
				if err := os.MkdirAll(filepath.Dir(golden), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got == string(want) {
				return
			}
			have := strings.Split(got, "\n")
			for i, line := range strings.Split(string(want), "\n") {
				if i >= len(have) || have[i] != line {
					t.Fatalf("line %d is not as in %s; -update writes what it is now\nwant %s\ngot  %s", i+1, golden, line, have[min(i, len(have)-1)])
				}
			}
			t.Fatalf("more lines than in %s", golden)
		})
	}
}
