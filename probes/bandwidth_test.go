package probes

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestMeasure(t *testing.T) {
	got, _ := measure(t.Context(), leastRead, time.Millisecond)
	if got < 0.05 || got > 1e5 {
		t.Errorf("got %v GB/s", got)
	}
	if got, _ := measure(t.Context(), leastRead-1, time.Millisecond); got != 0 {
		t.Errorf("with too little memory: got %v", got)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if got, _ := measure(ended, leastRead, time.Millisecond); got != 0 {
		t.Errorf("after the end: got %v", got)
	}
}

// What was measured since the machine started is not measured again; what was measured elsewhere or before is.
func TestKeptBandwidth(t *testing.T) {
	boot := bootID(os.DirFS("/"))
	if boot == "" {
		t.Skip("this system does not number its starts")
	}
	file := filepath.Join(t.TempDir(), "home", "bandwidth.json")
	m := Machine{Cores: 7, CPU: CPU{Name: "chip"}}
	good := kept{boot, "chip", 7, 123.4}
	for _, test := range []struct {
		name string
		kept kept
		want float64
	}{
		{"the same machine", good, 123.4},
		{"an earlier start", kept{"before", "chip", 7, 99}, 0},
		{"other limits", kept{boot, "chip", 8, 99}, 0},
		{"another processor", kept{boot, "other", 7, 99}, 0},
		{"nonsense", kept{boot, "chip", 7, -4}, 0},
	} {
		if err := test.kept.write(file); err != nil {
			t.Fatal(err)
		}
		now := m
		now.bandwidth(t.Context(), Ask{Cache: file})
		if now.CPU.Bandwidth != test.want || test.want > 0 && now.CPU.Source != "measured" {
			t.Errorf("%s: got %+v", test.name, now.CPU)
		}
	}
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	m.bandwidth(t.Context(), Ask{Cache: file, Bandwidth: true}) // no memory is available on this machine
	if m.CPU.Bandwidth != 0 || len(m.Notes) != 1 {
		t.Errorf("got %+v", m)
	}
	left, err := os.ReadDir(filepath.Dir(file))
	if err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
