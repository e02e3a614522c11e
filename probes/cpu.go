package probes

import (
	"encoding/binary"
	"io/fs"
	"path"
	"strings"

	"golang.org/x/sys/cpu"
)

// processor reads the processor's name, its cores and what it can do.
func processor(root fs.FS) finding {
	name, cores := platformCPU(root)
	able := features()
	return func(m *Machine) { m.CPU.Name, m.CPU.Physical, m.CPU.Features = name, cores, able }
}

// features lists what inference gains from, under the names that kernels and llama.cpp use for them.
func features() (able []string) {
	x, a := &cpu.X86, &cpu.ARM64
	for _, f := range []struct {
		name string
		has  bool
	}{
		{"avx", x.HasAVX}, {"avx2", x.HasAVX2}, {"f16c", x.HasF16C}, {"fma", x.HasFMA}, {"avx_vnni", x.HasAVXVNNI},
		{"avx512f", x.HasAVX512F}, {"avx512_vnni", x.HasAVX512VNNI}, {"avx512_bf16", x.HasAVX512BF16}, {"amx", x.HasAMXTile && x.HasAMXInt8},
		{"neon", a.HasASIMD}, {"fp16", a.HasASIMDHP}, {"dotprod", a.HasASIMDDP}, {"i8mm", a.HasI8MM}, {"sve", a.HasSVE}, {"sve2", a.HasSVE2},
	} {
		if f.has {
			able = append(able, f.name)
		}
	}
	return able
}

// linuxCPU reads /proc/cpuinfo, and the topology below /sys where that says no cores.
func linuxCPU(root fs.FS) (name string, cores int) {
	name, cores = cpuinfo(text(root, "proc/cpuinfo"))
	if cores == 0 {
		cores = topology(root)
	}
	return name, cores
}

// cpuinfo reads the name and counts the cores, each a pair of package and core, in /proc/cpuinfo. On ARM there is neither:
// the name is made of the maker's number for the part, the last of several kinds being the fastest as a rule.
func cpuinfo(text string) (name string, cores int) {
	seen := map[[2]string]bool{}
	var at [2]string
	var implementer string
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(line, ":")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		if !ok {
			at = [2]string{}
			continue
		}
		switch key {
		case "model name", "cpu model":
			name = strings.Join(strings.Fields(value), " ")
		case "physical id":
			at[0] = value
		case "core id":
			at[1] = value
			seen[at] = true
		case "CPU implementer":
			implementer = value
		case "CPU part":
			if part := armPart(implementer, value); part != "" {
				name = part
			}
		}
	}
	return name, len(seen)
}

// armPart names the parts that run models at home and in rented machines.
func armPart(implementer, part string) string {
	switch implementer + " " + part {
	case "0x41 0xd08":
		return "Cortex-A72"
	case "0x41 0xd0b":
		return "Cortex-A76"
	case "0x41 0xd42":
		return "Cortex-A78AE"
	case "0x41 0xd81":
		return "Cortex-A720"
	case "0x41 0xd85":
		return "Cortex-X925"
	case "0x41 0xd87":
		return "Cortex-A725"
	case "0x41 0xd0c":
		return "Neoverse-N1"
	case "0x41 0xd40":
		return "Neoverse-V1"
	case "0x41 0xd49":
		return "Neoverse-N2"
	case "0x41 0xd4f":
		return "Neoverse-V2"
	case "0x51 0x001":
		return "Oryon"
	case "0xc0 0xac3", "0xc0 0xac4":
		return "Ampere-1"
	}
	if implementer == "0x61" {
		return "Apple silicon"
	}
	return ""
}

// topology counts the pairs of package and core that the kernel lists.
func topology(root fs.FS) int {
	const dir = "sys/devices/system/cpu"
	entries, err := fs.ReadDir(root, dir)
	if err != nil {
		return 0
	}
	seen := map[[2]string]bool{}
	for _, entry := range entries {
		at := path.Join(dir, entry.Name(), "topology")
		if core := text(root, path.Join(at, "core_id")); strings.HasPrefix(entry.Name(), "cpu") && core != "" {
			seen[[2]string{text(root, path.Join(at, "physical_package_id")), core}] = true
		}
	}
	return len(seen)
}

// windowsCores counts the records of one core (kind 0) in what GetLogicalProcessorInformationEx writes: each starts with its
// kind and its length.
func windowsCores(records []byte) (cores int) {
	for len(records) >= 8 {
		kind, length := binary.LittleEndian.Uint32(records), binary.LittleEndian.Uint32(records[4:])
		if length < 8 || int64(length) > int64(len(records)) {
			break
		}
		if kind == 0 {
			cores++
		}
		records = records[length:]
	}
	return cores
}
