package probes

import (
	"runtime"
	"slices"
	"testing"
	"testing/fstest"
)

func TestCPUInfo(t *testing.T) {
	for _, test := range []struct {
		text, name string
		cores      int
	}{
		{"processor\t: 0\nmodel name\t: Intel(R)  Core(TM) i7\nphysical id\t: 0\ncore id\t: 0\n\nprocessor: 1\nmodel name: Intel(R) Core(TM) i7\nphysical id: 0\ncore id: 0\n\nprocessor: 2\nphysical id: 1\ncore id: 0\n", "Intel(R) Core(TM) i7", 2},
		{"processor: 0\nCPU implementer: 0x41\nCPU part: 0xd0c\n", "Neoverse-N1", 0},
		{"processor: 0\nCPU implementer: 0x61\nCPU part: 0x022\n", "Apple silicon", 0},
		{"processor: 0\nCPU implementer: 0x99\nCPU part: 0x1\n", "", 0},
		{"", "", 0},
	} {
		if name, cores := cpuinfo(test.text); name != test.name || cores != test.cores {
			t.Errorf("%q: got %q, %d", test.text, name, cores)
		}
	}
}

func TestWindowsCores(t *testing.T) {
	core := []byte{0, 0, 0, 0, 16, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8}
	other := []byte{3, 0, 0, 0, 12, 0, 0, 0, 1, 2, 3, 4}
	if got := windowsCores(slices.Concat(core, other, core)); got != 2 {
		t.Errorf("got %d", got)
	}
	if got := windowsCores(slices.Concat(core, []byte{0, 0, 0, 0, 0, 0, 0, 0}, core)); got != 1 {
		t.Errorf("a length of nothing: got %d", got)
	}
	if got := windowsCores(append(core, 0, 0, 0, 0, 255, 255, 255, 255)); got != 1 {
		t.Errorf("a length beyond the end: got %d", got)
	}
}

func TestFeatures(t *testing.T) {
	able := features()
	if runtime.GOARCH == "arm64" && !slices.Contains(able, "neon") || runtime.GOARCH != "arm64" && slices.Contains(able, "neon") {
		t.Errorf("got %v", able)
	}
	if slices.Contains(able, "avx2") && !slices.Contains(able, "avx") {
		t.Errorf("got %v", able)
	}
}

func TestVirtual(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	for _, test := range []struct {
		root fstest.MapFS
		want string
	}{
		{fstest.MapFS{}, ""},
		{fstest.MapFS{"proc/sys/kernel/osrelease": file("5.15.90.1-microsoft-standard-WSL2\n"), ".dockerenv": file("")}, "wsl2"},
		{fstest.MapFS{"proc/sys/kernel/osrelease": file("4.4.0-19041-Microsoft\n")}, ""},
		{fstest.MapFS{"proc/sys/kernel/osrelease": file("6.8.0-45-generic\n"), "proc/cpuinfo": file("flags\t: fpu vme\n")}, ""},
		{fstest.MapFS{"run/.containerenv": file("")}, "container"},
		{fstest.MapFS{"proc/self/cgroup": file("5:memory:/docker/0123\n")}, "container"},
		{fstest.MapFS{"proc/self/cgroup": file("0::/kubepods.slice/kubepods-burstable.slice\n")}, "container"},
		{fstest.MapFS{"proc/self/cgroup": file("0::/user.slice/user-1000.slice\n")}, ""},
		{fstest.MapFS{"proc/cpuinfo": file("flags\t: fpu hypervisor sse\n")}, "vm"},
		{fstest.MapFS{"sys/hypervisor/type": file("xen\n")}, "vm"},
		{fstest.MapFS{"sys/class/dmi/id/sys_vendor": file("Amazon EC2"), "sys/class/dmi/id/product_name": file("m7i.metal-24xl")}, ""},
		{fstest.MapFS{"sys/class/dmi/id/sys_vendor": file("QEMU")}, "vm"},
		{fstest.MapFS{"sys/class/dmi/id/sys_vendor": file("Microsoft Corporation"), "sys/class/dmi/id/product_name": file("Surface Laptop 5")}, ""},
		{fstest.MapFS{"sys/class/dmi/id/sys_vendor": file("Microsoft Corporation"), "sys/class/dmi/id/product_name": file("Virtual Machine")}, "vm"},
	} {
		if got := linuxVirtual(test.root); got != test.want {
			t.Errorf("%v: got %q, want %q", test.root, got, test.want)
		}
	}
}
