package probes

import "testing"

func TestWorkingSet(t *testing.T) {
	for _, test := range []struct{ total, wired, want int64 }{
		{16 * gib, 0, 11_453_246_122},
		{24 * gib, 0, 16 * gib},
		{32 * gib, 0, 22_906_492_245},
		{36 * gib, 0, 27 * gib},
		{64 * gib, 0, 48 * gib},
		{128 * gib, 0, 96 * gib},
		{64 * gib, 60000 * mib, 60000 * mib},
		{16 * gib, 99999 * mib, 16 * gib},
		{0, 0, 0},
	} {
		if got := workingSet(test.total, test.wired); got/mib != test.want/mib {
			t.Errorf("workingSet(%d, %d) = %d, want %d", test.total, test.wired, got, test.want)
		}
	}
}

func TestWiredLimit(t *testing.T) {
	for _, test := range []struct {
		megabytes, older uint64
		want             int64
	}{
		{0, 0, 0}, {57344, 0, 56 * gib}, {0, 30 * gib, 30 * gib}, {57344, 30 * gib, 56 * gib}, {0, 12, 0}, {1 << 63, 1 << 63, 0},
	} {
		if got := wiredLimit(test.megabytes, test.older); got != test.want {
			t.Errorf("%d, %d: got %d, want %d", test.megabytes, test.older, got, test.want)
		}
	}
}

func TestAppleBandwidth(t *testing.T) {
	for _, test := range []struct {
		chip  string
		cores int
		want  float64
	}{
		{"Apple M1", 8, 68}, {"Apple M1 Max", 10, 400}, {"Apple M2 Ultra", 24, 800}, {"Apple M3 Pro", 12, 150},
		{"Apple M3 Max", 14, 300}, {"Apple M3 Max", 16, 400}, {"Apple M3 Max", 0, 300},
		{"Apple M4 Max", 14, 410}, {"Apple M4 Max", 16, 546}, {"Apple M4 Max", 0, 410}, {"Apple M4 Pro", 0, 273},
		{"Apple M5", 10, 153}, {"Apple M1 (Virtual)", 4, 68}, {"Apple M9 Max", 20, 0}, {"", 0, 0},
	} {
		if got := appleBandwidth(test.chip, test.cores); got != test.want {
			t.Errorf("%s with %d cores: got %v, want %v", test.chip, test.cores, got, test.want)
		}
	}
}

func TestApple(t *testing.T) {
	m := Machine{RAM: Memory{Physical: 64 * gib, Total: 64 * gib, Available: 40 * gib}}
	apple(appleFacts{present: true, chip: "Apple M1 Max", cores: 10})(&m)
	if m.Unified != 48*gib || len(m.GPUs) != 1 || m.GPUs[0].Free != 40*gib || !m.GPUs[0].Unified || m.GPUs[0].Bandwidth != 400 || m.CPU.Source != "table" {
		t.Errorf("got %+v", m)
	}
	before := Machine{GPUs: []GPU{{Name: "Radeon Pro 5500M"}}}
	apple(appleFacts{})(&before)
	if len(before.GPUs) != 1 || before.Unified != 0 {
		t.Errorf("an Intel Mac: got %+v", before)
	}
}
