package probes

import "testing"

// The registry as four machines had it.
func TestAdapters(t *testing.T) {
	const nvidia, amd, intel, remote = `pci\ven_10de&dev_2684`, `PCI\VEN_1002&DEV_744C&REV_C8`, `PCI\VEN_8086&DEV_46A6`, `root\basicdisplay`
	for _, test := range []struct {
		name  string
		told  []GPU
		all   []adapter
		want  string
		notes int
	}{
		{"a card of 24 GB beside the processor's graphics", nil, []adapter{
			{key: "0000", name: "AMD Radeon(TM) Graphics", device: amd, memory: 512 * mib},
			{key: "0001", name: "AMD Radeon RX 7900 XTX", device: amd, driver: "32.0.1", memory: 24 * gib},
		}, "AMD Radeon(TM) Graphics 512/512 true; AMD Radeon RX 7900 XTX 24576/24576 false", 1},
		{"the driver's tool told of the card already", []GPU{{Name: "NVIDIA GeForce RTX 4090", Vendor: "nvidia"}}, []adapter{
			{key: "0000", name: "NVIDIA GeForce RTX 4090", device: nvidia, memory: 24 * gib},
			{key: "0001", name: "Intel(R) UHD Graphics 770", device: intel, memory: 128 * mib},
		}, "NVIDIA GeForce RTX 4090 0/0 false; Intel(R) UHD Graphics 770 0/0 true", 0},
		{"the tool is missing", nil, []adapter{{key: "0000", name: "NVIDIA GeForce RTX 3060", device: nvidia, memory: 12 * gib}},
			"NVIDIA GeForce RTX 3060 12288/12288 false", 1},
		{"Arc cards and Arc processors", nil, []adapter{
			{name: "Intel(R) Arc(TM) A770 Graphics", device: intel, memory: 16 * gib},
			{name: "Intel(R) Arc(TM) Graphics", device: intel, memory: 128 * mib},
		}, "Intel(R) Arc(TM) A770 Graphics 16384/16384 false; Intel(R) Arc(TM) Graphics 0/0 true", 1},
		{"half of the memory carved out", nil, []adapter{{name: "AMD Radeon(TM) 8060S Graphics", device: amd, memory: 64 * gib}},
			"AMD Radeon(TM) 8060S Graphics 65536/65536 false", 1},
		{"no memory recorded, and nonsense", nil, []adapter{
			{name: "AMD Radeon RX 580", device: amd}, {name: "AMD Radeon RX 570", device: amd, memory: 1 << 63},
		}, "", 2},
		{"no card", nil, []adapter{{name: "Microsoft Remote Display Adapter", device: remote}, {name: "", device: nvidia, memory: gib}, {}}, "", 0},
	} {
		m := Machine{GPUs: test.told}
		adapters(test.all)(&m)
		if got := brief(m.GPUs); got != test.want || len(m.Notes) != test.notes {
			t.Errorf("%s: got %q with %v", test.name, got, m.Notes)
		}
	}
	if got := littleEndian([]byte{0, 0, 0, 0, 6, 0, 0, 0, 9}); got != 24*gib {
		t.Errorf("got %d", got)
	}
}
