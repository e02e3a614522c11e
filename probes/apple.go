package probes

import (
	"strings"
)

// appleFacts is what the kernel of an Apple machine tells; present is false elsewhere and on Intel Macs.
type appleFacts struct {
	present bool
	chip    string
	cores   int
	wired   int64 // bytes that a person allowed the GPU to wire, 0 is the system's choice
}

// apple tells the part of RAM that the graphics of an Apple chip may hold.
func apple(facts appleFacts) finding {
	if !facts.present {
		return nothing
	}
	return func(m *Machine) {
		m.Chip = facts.chip
		m.Unified = workingSet(m.RAM.Physical, facts.wired)
		bandwidth := appleBandwidth(facts.chip, facts.cores)
		m.GPUs = []GPU{{Name: facts.chip, Vendor: "apple", Total: m.Unified, Free: min(m.Unified, m.RAM.Available),
			Unified: true, Bandwidth: bandwidth, Source: "sysctl"}}
		if bandwidth > 0 && m.CPU.Bandwidth == 0 {
			m.CPU.Bandwidth, m.CPU.Source = bandwidth, "table"
		}
	}
}

// workingSet is the part of RAM that the GPU of an Apple machine may wire: what the person set, else two thirds up
// to 32 GB and three quarters from 36 GB, as public start-up logs of llama.cpp show.
func workingSet(total, wired int64) int64 {
	if wired > 0 {
		return min(wired, total)
	}
	if total < 36_000_000_000 {
		return total / 3 * 2
	}
	return total / 4 * 3
}

// wiredLimit is what a person set, in bytes: iogpu.wired_limit_mb in MiB, or the setting of older systems,
// which was in bytes.
func wiredLimit(megabytes, older uint64) int64 {
	switch {
	case megabytes > 0 && megabytes < 1<<30:
		return int64(megabytes) * mib
	case older >= mib && older < 1<<60:
		return int64(older)
	}
	return 0
}

// appleChips are vendors' figures in GB/s. A Max with fewer cores than most has fewer memory channels.
var appleChips = []struct {
	name  string
	gbs   float64
	cores int     // the smaller Max has this many or fewer
	small float64 // and this bandwidth
}{
	{"M1", 68, 0, 0}, {"M1 Pro", 200, 0, 0}, {"M1 Max", 400, 0, 0}, {"M1 Ultra", 800, 0, 0},
	{"M2", 100, 0, 0}, {"M2 Pro", 200, 0, 0}, {"M2 Max", 400, 0, 0}, {"M2 Ultra", 800, 0, 0},
	{"M3", 100, 0, 0}, {"M3 Pro", 150, 0, 0}, {"M3 Max", 400, 14, 300}, {"M3 Ultra", 800, 0, 0},
	{"M4", 120, 0, 0}, {"M4 Pro", 273, 0, 0}, {"M4 Max", 546, 14, 410},
	{"M5", 153, 0, 0}, {"M5 Pro", 307, 0, 0}, {"M5 Max", 614, 0, 0},
	{"A18 Pro", 60, 0, 0},
}

// appleBandwidth is that of a chip named as "Apple M3 Max", by its processor cores where two variants share the name; 0
// cores is the smaller one. 0 for a chip that is not in the table.
func appleBandwidth(chip string, cores int) float64 {
	name := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(chip), "Apple"))
	if known, _, ok := strings.Cut(name, " ("); ok { // "M1 (Virtual)"
		name = known
	}
	for _, c := range appleChips {
		if strings.EqualFold(c.name, name) {
			if cores <= c.cores && c.small > 0 {
				return c.small
			}
			return c.gbs
		}
	}
	return 0
}
