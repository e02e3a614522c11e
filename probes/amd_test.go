package probes

import (
	"encoding/binary"
	"testing"
)

func TestGFX(t *testing.T) {
	for version, want := range map[int64]string{110000: "gfx1100", 110501: "gfx1151", 90010: "gfx90a", 90402: "gfx942", 120001: "gfx1201", 0: "", -5: "", 99999999: ""} {
		if got := gfx(version); got != want {
			t.Errorf("%d: got %q, want %q", version, got, want)
		}
	}
}

func TestStacked(t *testing.T) {
	for _, test := range []struct {
		width, clock int64
		compute      string
		want         float64
	}{
		{4096, 1200, "gfx908", 1228},
		{4096, 1600, "gfx90a", 1638},
		{8192, 1300, "gfx942", 5324},
		{384, 1249, "gfx1100", 0}, // GDDR6
		{1 << 40, 1 << 40, "", 0},
	} {
		if got := stacked(test.width, test.clock, test.compute); got != test.want {
			t.Errorf("%+v: got %v", test, got)
		}
	}
}

func TestROCm(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"an object of cards":   {`{"card0":{"VRAM Total Memory (B)":"17163091968","VRAM Total Used Memory (B)":"2147483648","Card Series":"AMD Radeon RX 6900 XT"}}`, "AMD Radeon RX 6900 XT 16368/14320 false"},
		"a list of cards":      {`[{"device":"card0","VRAM Total Memory (B)":17163091968,"vram total used memory (b)":0,"Card SKU":"x"}]`, "AMD 0 16368/16368 false"},
		"card 2 before 10":     {`{"card10":{"VRAM Total Memory (B)":"1073741824"},"card2":{"VRAM Total Memory (B)":"2147483648"}}`, "AMD card2 2048/2048 false; AMD card10 1024/1024 false"},
		"the newer tool":       {`[{"gpu":0,"mem_usage":{"total_vram":{"value":24560,"unit":"MB"},"used_vram":{"value":60,"unit":"MB"}}}]`, "AMD 0 24560/24500 false"},
		"its newest layout":    {`{"gpu_data":[{"gpu":0,"mem_usage":{"total_vram":{"value":64,"unit":"GB"}}}]}`, "AMD 0 65536/65536 false"},
		"more used than there": {`{"card0":{"VRAM Total Memory (B)":"1073741824","VRAM Total Used Memory (B)":"9073741824"}}`, "AMD card0 1024/0 false"},
		"no card":              {`{"system":{"Driver version":"6"}}`, ""},
		"sizes that are none":  {`{"card0":{"VRAM Total Memory (B)":"N/A"},"card1":{"VRAM Total Memory (B)":"-1"},"card2":{"VRAM Total Memory (B)":"9999999999999999999"}}`, ""},
	} {
		gpus, err := parseROCm(test.text)
		if got := brief(gpus); err != nil || got != test.want {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
	for _, text := range []string{"", "ROCm is not here", `{"card0":`, `WARNING {`} {
		if gpus, notes := rocmSMI(func(...string) (string, error) { return text, nil }); len(gpus) != 0 || len(notes) != 1 {
			t.Errorf("%q: got %v, %v", text, gpus, notes)
		}
	}
}

func TestListedNames(t *testing.T) {
	const ids = "# comment\n1.0.0\n744C,\tC8,\tAMD Radeon RX 7900 XTX\n744C,\tCC,\tAMD Radeon RX 7900 XT\nbroken\n"
	if got := amdListed(ids, "744c", "cc"); got != "AMD Radeon RX 7900 XT" {
		t.Errorf("got %q", got)
	}
	for _, pair := range [][2]string{{"744c", "00"}, {"", ""}, {"1", "c8"}} {
		if got := amdListed(ids, pair[0], pair[1]); got != "" {
			t.Errorf("%v: got %q", pair, got)
		}
	}
}

// The answers of the two Intel drivers, as their headers lay them out.
func TestRegions(t *testing.T) {
	region := func(class uint16, size, second uint64) []byte {
		r := make([]byte, regionSize)
		binary.NativeEndian.PutUint16(r, class)
		binary.NativeEndian.PutUint64(r[8:], size)
		binary.NativeEndian.PutUint64(r[16:], second)
		return r
	}
	answer := func(head int, count uint32, all ...[]byte) []byte {
		a := make([]byte, head)
		binary.NativeEndian.PutUint32(a, count)
		for _, r := range all {
			a = append(a, r...)
		}
		return a
	}
	if total, free := parseI915(answer(16, 2, region(0, 64*gib, 60*gib), region(1, 16*gib, 15*gib))); total != 16*gib || free != 15*gib {
		t.Errorf("i915: got %d, %d", total, free)
	}
	if total, free := parseXe(answer(8, 3, region(0, 64*gib, 9*gib), region(1, 12*gib, 2*gib), region(1, 4*gib, 9*gib))); total != 16*gib || free != 10*gib {
		t.Errorf("xe: got %d, %d", total, free)
	}
	if total, _ := parseXe(answer(8, 9, region(1, 1<<63, 0), region(1, gib, 0)[:50])); total != 0 {
		t.Errorf("cut: got %d", total)
	}
	if total, _ := parseI915(nil); total != 0 {
		t.Errorf("empty: got %d", total)
	}
}

func TestDiscreteArc(t *testing.T) {
	for name, want := range map[string]bool{
		"Intel(R) Arc(TM) A770 Graphics": true, "Arc B580": true, "Intel(R) Arc(TM) Pro B60 Graphics": true, "Arc A370M": true,
		"Intel(R) Arc(TM) Graphics": false, "Intel(R) Arc(TM) 140V GPU (16GB)": false, "Intel(R) Arc(TM) 140T GPU": false,
		"Intel(R) UHD Graphics 770": false, "Intel(R) Iris(R) Xe Graphics": false, "Intel(R) Iris(R) Xe MAX Graphics": true,
	} {
		if discreteArc(name) != want {
			t.Errorf("%s: got %v", name, !want)
		}
	}
}
