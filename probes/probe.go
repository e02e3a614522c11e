// Package probes measures the machine: memory, its limits, processors and GPUs. A file per source. It judges
// nothing: what a model needs and whether it fits is package local's business. Every number names where it came from,
// and a source that fails becomes a note, never a guess.
package probes

import (
	"cmp"
	"context"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"
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

// GPU is one graphics processor. A Unified one has no memory of its own to speak of: it uses RAM.
type GPU struct {
	Name    string `json:"name"`
	Vendor  string `json:"vendor"`
	Total   int64  `json:"total,omitempty"`
	Free    int64  `json:"free,omitempty"`
	Unified bool   `json:"unified,omitempty"`
	// SharedTotal and SharedFree are main memory that a Unified part may use beside its carve-out.
	SharedTotal int64   `json:"shared_total,omitempty"`
	SharedFree  int64   `json:"shared_free,omitempty"`
	Bandwidth   float64 `json:"bandwidth,omitempty"` // GB/s (10^9 bytes), 0 when unknown
	Compute     string  `json:"compute,omitempty"`   // CUDA compute capability "8.9", or "gfx1151"
	Driver      string  `json:"driver,omitempty"`
	ID          string  `json:"id,omitempty"`
	Slice       bool    `json:"slice,omitempty"` // one instance of a card that is partitioned (MIG): never pooled with others
	Source      string  `json:"source"`
}

// Note says what a source could not tell, or what limit it found.
type Note struct {
	Source string `json:"source"`
	Text   string `json:"text"`
}

// patience bounds every probe; one that hangs (a driver tool of a sleeping card) leaves a note.
const patience = 2 * time.Second

// Probe asks all sources side by side.
func Probe(ctx context.Context) Machine {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	root := os.DirFS("/")
	var (
		wait               sync.WaitGroup
		ram                Memory
		ramNotes, smiNotes []Note
		limits             limits
		nvidia, amd        []GPU
		apple              appleFacts
	)
	wait.Go(func() { ram, ramNotes = memory(ctx) })
	wait.Go(func() { nvidia, smiNotes = nvidiaSMI(ctx) })
	wait.Go(func() { apple = probeApple() })
	if runtime.GOOS == "linux" {
		wait.Go(func() { limits = readLimits(root) })
		wait.Go(func() { amd = amdCards(root) })
	}
	wait.Wait()
	m := Machine{OS: runtime.GOOS, Arch: runtime.GOARCH, Cores: runtime.NumCPU(), Chip: apple.chip}
	m.Notes = append(ramNotes, smiNotes...)
	m.RAM = ram
	m.limit(limits)
	m.GPUs = order(append(nvidia, amd...))
	if apple.present {
		m.Unified = workingSet(m.RAM.Physical, apple.wiredLimitMB)
		m.GPUs = []GPU{{Name: apple.chip, Vendor: "apple", Total: m.Unified, Unified: true, Source: "sysctl"}}
	}
	return m
}

// limit lowers memory and cores to what a control group allows.
func (m *Machine) limit(l limits) {
	if l.total > 0 && (m.RAM.Total == 0 || l.total < m.RAM.Total) {
		m.RAM.Total = l.total
		left := max(l.total-l.used, 0)
		m.RAM.Available = min(m.RAM.Available, left)
		m.RAM.Source = l.source
		m.Notes = append(m.Notes, Note{l.source, "a control group limits memory below what the machine has"})
	}
	if l.cores > 0 && l.cores < m.Cores {
		m.Cores = l.cores
		m.Notes = append(m.Notes, Note{l.source, "a control group limits the processors"})
	}
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
