// Package probes measures the machine: memory and its limits, processors, graphics processors, disks. A small file per
// source, each a pure reader of text or of a file tree with a thin caller. It judges nothing: what a model needs
// and whether it fits is package local's business. Every number names where it came from, and a source that fails
// becomes a note, never a guess.
//
// NVIDIA cards are asked through the driver's own tool and not through its library (NVML): loading a library at run
// time needs a dynamic loader in the program, and on Linux the program is static. Windows adapter memory comes from the
// registry, never from WMI, whose number wraps at 4 GB.
package probes

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"time"
)

const (
	mib = 1 << 20
	gib = 1 << 30
)

// Machine is what was found. Sizes are bytes; 0 is unknown.
type Machine struct {
	OS    string `json:"os"`
	Arch  string `json:"arch"`
	Cores int    `json:"cores"` // processors this process may use, a CPU quota included
	RAM   Memory `json:"ram"`
	GPUs  []GPU  `json:"gpus,omitempty"` // cards with memory of their own first, the largest first
	// Unified is the part of RAM that the GPU of an Apple machine may hold, 0 elsewhere.
	Unified int64    `json:"unified,omitempty"`
	Chip    string   `json:"chip,omitempty"`
	CPU     CPU      `json:"cpu,omitzero"`
	Virtual string   `json:"virtual,omitempty"` // "wsl2", "container", "vm"; "" on bare metal or when nothing says
	Disks   []Volume `json:"disks,omitempty"`   // where models live, as far as that is known
	Notes   []Note   `json:"notes,omitempty"`
}

// CPU is the processor. Bandwidth is main memory's, in GB/s (10^9 bytes), 0 when unknown.
type CPU struct {
	Name      string   `json:"name,omitempty"`
	Physical  int      `json:"physical,omitempty"` // cores, without threads and quotas
	Features  []string `json:"features,omitempty"` // what inference gains from: "avx2", "avx512f", "amx", "neon", …
	Bandwidth float64  `json:"bandwidth,omitempty"`
	Source    string   `json:"source,omitempty"` // of the bandwidth: "measured", "table"
}

// Volume is the file system that holds a folder; sizes are bytes, Free is what this account may use.
type Volume struct {
	Path  string `json:"path"`
	What  string `json:"what,omitempty"` // whose models: "ollama", "lmstudio"
	Total int64  `json:"total"`
	Free  int64  `json:"free"`
}

// Memory is main memory as this process may use it. Physical is what is built in; Total and Available are after
// limits such as a container's.
type Memory struct {
	Physical  int64  `json:"physical"`
	Total     int64  `json:"total"`
	Available int64  `json:"available"`
	SwapTotal int64  `json:"swap_total,omitempty"`
	SwapFree  int64  `json:"swap_free,omitempty"`
	Source    string `json:"source"`
}

// GPU is one graphics processor. A Unified one has no memory of its own to speak of: it uses RAM. Where a source tells
// the size but not what is free, Free is the size and a note says so.
type GPU struct {
	Name    string `json:"name"`
	Vendor  string `json:"vendor"`
	Total   int64  `json:"total,omitempty"`
	Free    int64  `json:"free"`
	Unified bool   `json:"unified,omitempty"`
	// SharedTotal and SharedFree are main memory that a Unified part may use beside its carve-out.
	SharedTotal int64   `json:"shared_total,omitempty"`
	SharedFree  int64   `json:"shared_free,omitempty"`
	Bandwidth   float64 `json:"bandwidth,omitempty"` // GB/s (10^9 bytes), 0 when unknown
	Compute     string  `json:"compute,omitempty"`   // CUDA compute capability "8.9", or "gfx1151"
	Driver      string  `json:"driver,omitempty"`
	ID          string  `json:"id,omitempty"`
	Slice       bool    `json:"slice,omitempty"` // one instance of a card that is partitioned (MIG): never pooled with others
	Users       []User  `json:"users,omitempty"` // processes that hold much of it, the largest first
	Source      string  `json:"source"`
}

// Note says what a source could not tell, or what limit it found.
type Note struct {
	Source string `json:"source"`
	Text   string `json:"text"`
}

// Ask is what to measure beyond what Probe does.
type Ask struct {
	// Disks are the folders whose file systems are wanted, by Path and What; the rest is filled in. A folder need not
	// exist yet.
	Disks []Volume
	// Bandwidth measures main memory's unless Cache knows it since the machine started; that takes about half a
	// second, a sixteenth of the free memory and all cores.
	Bandwidth bool
	// Cache is the file that keeps a measured bandwidth until the next start; "" keeps nothing. Without Bandwidth
	// it is only read.
	Cache string
}

// patience bounds every source; one that hangs (a driver tool of a sleeping card) leaves a note.
const patience = 2 * time.Second

// Probe asks all sources side by side, in at most two seconds and mostly in a few milliseconds. It measures no
// bandwidth and no disk.
func Probe(ctx context.Context) Machine { return ProbeAll(ctx, Ask{}) }

// ProbeAll is Probe and what ask adds.
func ProbeAll(ctx context.Context, ask Ask) Machine {
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	m := Machine{OS: runtime.GOOS, Arch: runtime.GOARCH, Cores: runtime.NumCPU()}
	for _, tell := range gather(bounded, thisWorld().sources(ask.Disks)) {
		tell(&m)
	}
	m.GPUs = order(m.GPUs)
	if m.CPU.Bandwidth == 0 || ask.Bandwidth {
		m.bandwidth(ctx, ask)
	}
	return m
}

// world is where sources look: a file tree, tools by name, and the driver behind a render file.
type world struct {
	os      string
	root    fs.FS
	find    func(tool string) string // "" when it is not there
	run     func(ctx context.Context, tool string, args ...string) (string, error)
	regions func(file string) (total, free int64, ok bool)
}

func thisWorld() world { return world{runtime.GOOS, os.DirFS("/"), findTool, output, askRegions} }

// sources lists who is asked, in the order in which their answers are entered: limits need the memory they limit, and
// the registry adds what no driver tool told.
func (w world) sources(disks []Volume) []source {
	all := []source{{"memory", memory}}
	all = append(all, w.devices()...)
	for _, v := range disks {
		all = append(all, source{"disk", func(context.Context) finding { return volume(v) }})
	}
	return all
}

func (w world) devices() []source {
	all := []source{
		{"cpu", func(context.Context) finding { return processor(w.root) }},
		{"virtual", func(context.Context) finding { return virtual(w.root) }},
		{"nvidia-smi", w.nvidia},
	}
	switch w.os {
	case "linux":
		return append(all,
			source{"cgroup", func(context.Context) finding { l := readLimits(w.root); return func(m *Machine) { m.limit(l) } }},
			source{"sysfs", w.amd},
			source{"drm", func(context.Context) finding { return w.intel() }})
	case "darwin":
		return append(all, source{"sysctl", func(context.Context) finding { return apple(probeApple()) }})
	case "windows":
		return append(all, source{"registry", func(context.Context) finding { return display() }})
	}
	return all
}

// limit lowers memory and cores to what control groups allow. Each level of the tree has a limit and a usage
// of its own, so the tightest limit and the least that is left may be at different levels.
func (m *Machine) limit(l limits) {
	before, known := m.RAM.Total, m.RAM.Total > 0
	for _, level := range l.levels {
		if m.RAM.Physical > 0 && level.total >= m.RAM.Physical {
			continue // the number that stands for "no limit", or as good as none
		}
		if m.RAM.Total == 0 || level.total < m.RAM.Total {
			m.RAM.Total = level.total
			m.RAM.Source = l.source
		}
		left := max(level.total-level.used, 0)
		if !known || left < m.RAM.Available {
			m.RAM.Available, known = left, true
		}
	}
	if m.RAM.Total != before && before > 0 {
		m.note(l.source, fmt.Sprintf("a control group limits memory to %s of %s", size(m.RAM.Total), size(before)))
	}
	if l.cores > 0 && l.cores < m.Cores {
		m.note(l.source, fmt.Sprintf("a control group limits the processors to %d of %d", l.cores, m.Cores))
		m.Cores = l.cores
	}
}

func (m *Machine) note(source, text string) { m.Notes = append(m.Notes, Note{source, text}) }

// size writes bytes of memory for a note.
func size(n int64) string {
	if n < gib {
		return fmt.Sprintf("%d MiB", n/mib)
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/gib)
}

// order puts cards before parts that share RAM, and the larger first.
func order(all []GPU) []GPU {
	slices.SortStableFunc(all, func(a, b GPU) int {
		if a.Unified != b.Unified {
			if a.Unified {
				return 1
			}
			return -1
		}
		return cmp.Compare(b.Total, a.Total)
	})
	return all
}
