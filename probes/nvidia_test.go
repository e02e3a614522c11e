package probes

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestSMI(t *testing.T) {
	full := strings.Join(smiFields, ", ")
	for _, test := range []struct {
		text  string
		want  string
		notes int
	}{
		{"NVIDIA GeForce RTX 4090, 24564, 23010\nNVIDIA T4, 15360, 15000\n",
			"NVIDIA GeForce RTX 4090 24564/23010 false; NVIDIA T4 15360/15000 false", 0},
		{"NVIDIA GH200, [N/A], [N/A]\n", "NVIDIA GH200 0/0 true", 0},
		{"NVIDIA GB10, [N/A]\n", "NVIDIA GB10 0/0 true", 0},
		{"NVIDIA X, [Not Supported], 3\n", "NVIDIA X 0/0 true", 0},
		{"NVIDIA X, 8192, [N/A]\n", "NVIDIA X 8192/8192 false", 1},
		{"NVIDIA X, 8192 MiB, 8000 MiB\n", "NVIDIA X 8192/8000 false", 0},
		{"NVIDIA X, 8192, 9000\n", "NVIDIA X 8192/8192 false", 0},
		{"NVIDIA X, 0, 0\r\n", "NVIDIA X 0/0 true", 0},
		{"NVIDIA X, -5, 0\n", "", 1},
		{"NVIDIA X, 99999999999999999999, 0\n", "", 1},
		{"NVIDIA X, [Unknown Error], [Unknown Error]\n", "", 1},
		{"NVIDIA X\n", "", 1},
		{", 8192, 8000\n", "", 1},
		{"NVIDIA-SMI has failed because it could not talk to the driver\n", "", 1},
		{"No devices were found\n", "", 1},
		{"NVIDIA X, 12x4, 3\n", "", 1},
		{full + "\n0, GPU-1, NVIDIA X, 8192, [N/A], 192, 8.9, 570, 8001, [N/A]\n", "NVIDIA X 8192/8000 false", 0},
		{"0, GPU-1, NVIDIA X, 8192, 8000, 192, 8.9\n", "", 1},
		{"name, memory.total, memory.free\nNVIDIA X, 8192, 8000\n", "NVIDIA X 8192/8000 false", 0},
		{"", "", 0},
	} {
		gpus, _, notes := parseSMI(test.text, smiFields)
		if s := brief(gpus); s != test.want || len(notes) != test.notes {
			t.Errorf("%q: got %q with %v, want %q with %d", test.text, s, notes, test.want, test.notes)
		}
	}
}

func brief(gpus []GPU) string {
	var got []string
	for _, g := range gpus {
		got = append(got, fmt.Sprintf("%s %d/%d %v", g.Name, g.Total/mib, g.Free/mib, g.Unified))
	}
	return strings.Join(got, "; ")
}

// A driver that complains without end is left after the shortest question.
func TestSMIComplaints(t *testing.T) {
	asked := 0
	gpus, notes := nvidiaSMI(func(...string) (string, error) {
		if asked++; asked > 30 {
			t.Fatal("asked without end")
		}
		return `Field "name" is not a valid field to query.`, errors.New(`exit status 2: Field "name" is not a valid field to query.`)
	})
	if len(gpus) != 0 || len(notes) != 1 {
		t.Errorf("got %v, %v", gpus, notes)
	}
	// The complaint may come with a good exit, on the output.
	asked = 0
	gpus, notes = nvidiaSMI(func(args ...string) (string, error) {
		if asked++; asked == 1 {
			return `Field "compute_cap" is not a valid field to query.` + "\n", nil
		}
		if strings.Contains(args[0], "compute_cap") {
			t.Errorf("asked again for %s", args[0])
		}
		return "0, GPU-1, NVIDIA X, 8192, 8000, 192, 440.1, 8001, [N/A]\n", nil
	})
	if brief(gpus) != "NVIDIA X 8192/8000 false" || len(notes) != 0 || gpus[0].Driver != "440.1" {
		t.Errorf("got %v, %v", gpus, notes)
	}
}

func TestMIGListing(t *testing.T) {
	found := parseMIG(`  MIG 9g.90gb Device 0: (UUID: MIG-of-nothing)
GPU 0: NVIDIA A100-PCIE-40GB (UUID: GPU-9d)
  MIG 4g.20gb Device 0: (UUID: MIG-GPU-9d/2/0)
  MIG odd Device 1: (UUID: MIG-x)
  MIG 1g.5gb+me Device  2: (UUID: MIG-y)
GPU 1: NVIDIA H100 (UUID: GPU-b)
  MIG 1g.20gb     Device  0: (UUID: MIG-z)
`, nil)
	var got []string
	for _, s := range found {
		got = append(got, fmt.Sprintf("%s|%s|%d|%d|%s", s.gpu.Name, s.gpu.ID, s.gpu.Total/1e9, s.place, s.card.ID))
	}
	want := "NVIDIA A100-PCIE-40GB MIG 4g.20gb|MIG-GPU-9d/2/0|20|0|GPU-9d;NVIDIA A100-PCIE-40GB MIG 1g.5gb+me|MIG-y|5|2|GPU-9d;NVIDIA H100 MIG 1g.20gb|MIG-z|20|0|GPU-b"
	if s := strings.Join(got, ";"); s != want {
		t.Errorf("got %s", s)
	}
}

func TestCardBandwidth(t *testing.T) {
	for _, test := range []struct {
		name  string
		gib   float64
		clock float64
		want  float64
	}{
		// The three checks of the formula, and what it gives for cards of a name that sold in several kinds.
		{"NVIDIA GeForce RTX 4090", 24, 10501, 1008},
		{"NVIDIA GeForce RTX 5090", 31.8, 14001, 1792},
		{"NVIDIA H100 80GB HBM3", 79.6, 2619, 3352},
		{"NVIDIA A100-SXM4-80GB", 80, 1593, 2039},
		{"NVIDIA A100 80GB PCIe", 80, 1512, 1935},
		{"NVIDIA GeForce RTX 4060 Laptop GPU", 8, 8001, 256},
		{"NVIDIA GeForce RTX 3060", 12, 7501, 360},
		{"NVIDIA GeForce RTX 3060", 12, 405, 360}, // an idle clock is no maximum
		// Without a clock.
		{"NVIDIA GeForce RTX 3060", 12, 0, 360},
		{"NVIDIA GeForce RTX 3060", 8, 0, 240},
		{"NVIDIA GeForce RTX 3060 Ti", 8, 0, 448},
		{"NVIDIA GeForce RTX 3060 Laptop GPU", 6, 0, 336},
		{"NVIDIA GeForce RTX 3080", 12, 0, 912},
		{"NVIDIA GeForce RTX 4070", 12, 0, 504},
		{"NVIDIA GeForce RTX 4070 Ti SUPER", 16, 0, 672},
		{"NVIDIA GeForce RTX 4090 Laptop GPU", 16, 0, 576},
		{"NVIDIA GeForce RTX 4090 D", 24, 0, 1008},
		{"GeForce RTX 2070 with Max-Q Design", 8, 0, 384},
		{"NVIDIA GeForce RTX 2070 Super with Max-Q Design", 8, 0, 352},
		{"NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition", 96, 0, 1792},
		{"NVIDIA RTX 6000 Ada Generation", 48, 0, 960},
		{"NVIDIA RTX A6000", 48, 0, 768},
		{"NVIDIA L4", 24, 0, 300},
		{"NVIDIA L40S", 48, 0, 864},
		{"Tesla T4", 15, 0, 320},
		{"NVIDIA H100 PCIe", 80, 0, 2039},
		{"NVIDIA H100 NVL", 94, 0, 3938},
		{"NVIDIA H200", 140, 0, 4800},
		{"NVIDIA A100-PCIE-40GB", 40, 0, 1555},
		{"NVIDIA GB10", 0, 0, 273},
		{"AMD Radeon RX 7900 XT", 20, 0, 800},
		{"AMD Radeon RX 7900 XTX", 24, 0, 960},
		{"Radeon RX 6900 XT", 16, 0, 512},
		{"AMD Radeon(TM) 8060S Graphics", 96, 0, 256},
		{"AMD Instinct MI300X OAM", 192, 0, 5300},
		{"Intel(R) Arc(TM) B580 Graphics", 12, 0, 456},
		// Nothing is better than the number of a namesake.
		{"NVIDIA GeForce RTX 3050 Ti", 4, 0, 0},
		{"NVIDIA RTX A5000 Laptop GPU", 16, 0, 0},
		{"Radeon RX 7900 XT/7900 XTX/7900 GRE/7900M", 24, 0, 0},
		{"NVIDIA GeForce RTX 6090", 48, 12000, 0},
		{"AMD Radeon 780M Graphics", 1, 0, 0},
		{"", 0, 0, 0},
	} {
		if got := cardBandwidth(test.name, int64(test.gib*gib), test.clock); got != test.want {
			t.Errorf("%s, %v GiB at %v MHz: got %v, want %v", test.name, test.gib, test.clock, got, test.want)
		}
	}
}
