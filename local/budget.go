package local

import (
	"fmt"
	"slices"

	"interpreter/probes"
)

// Place is where the memory model puts a model.
type Place string

// The places, best first.
const (
	OnGPU     Place = "one GPU"
	OnGPUs    Place = "several GPUs"
	OnUnified Place = "unified memory"
	OnBoth    Place = "GPU and main memory together"
	OnCPU     Place = "main memory"
)

// Held is what a server's models occupy now and would give back, in bytes. Where Either lies the server does not tell.
type Held struct{ GPU, RAM, Either int64 }

func held(residents []Resident) Held {
	var h Held
	for _, r := range residents {
		if r.Guessed {
			h.Either += max(r.Size, 0)
			continue
		}
		h.GPU += r.VRAM
		h.RAM += max(r.Size-r.VRAM, 0)
	}
	return h
}

// placed decides where Either lies: on GPUs, as far as something lies there, and else in main memory. Servers fill GPUs
// first. Of memory that is all one nothing has to be decided.
func (h Held) placed(m probes.Machine) Held {
	occupied := int64(0)
	for _, g := range m.GPUs {
		if own := !g.Unified || g.Vendor == "amd"; own && m.Unified == 0 {
			occupied += max(g.Total-g.Free, 0) + max(g.SharedTotal-g.SharedFree, 0)
		}
	}
	onGPU := min(h.Either, max(occupied-h.GPU, 0))
	return Held{GPU: h.GPU + onGPU, RAM: h.RAM + h.Either - onGPU}
}

const (
	reserve   = 3 * gib / 2 // main memory that is left to everything else
	forSystem = 4 * gib     // what an operating system needs beside a GPU that shares its memory
	snapshots = 8 * gib     // prompts that the MLX engine keeps
	lent      = 2 * gib     // left free of memory that a graphics part borrows
)

// lessKept says how a room came about.
func lessKept(usable, kept int64, what string) string {
	return fmt.Sprintf("%.2f GiB %s, less %.2f", float64(usable+kept)/gib, what, float64(kept)/gib)
}

// margin is left free of a GPU's memory.
func margin(total int64) int64 { return max(gib, total/25) }

// pool is a place of one machine, and what a model may use of it.
type pool struct {
	place   Place
	bytes   int64  // on the devices, or in the memory they share
	main    int64  // in main memory beside devices of their own, -1 when it is unknown
	shared  bool   // the devices use main memory
	most    int64  // of everything together where memory is shared, 0: no such bound
	how     string // where bytes comes from
	gpus    []probes.GPU
	cpu     probes.CPU
	noFlash bool
}

// pools lists the places a machine offers, best first: one GPU, several of one maker, memory that a GPU shares, main
// memory. What a server holds now counts as free.
func pools(m probes.Machine, h Held) []pool {
	h = h.placed(m)
	available := m.RAM.Available
	if m.RAM.Total > 0 {
		available = min(available+h.RAM, max(m.RAM.Total, m.RAM.Available))
	}
	beside := int64(-1)
	if available > 0 {
		beside = max(available-reserve, 0)
	}
	var out []pool
	own := discrete(m, h)
	if len(own) > 0 {
		best := slices.MaxFunc(own, func(a, b pool) int { return int(a.bytes>>20) - int(b.bytes>>20) })
		best.main = beside
		out = append(out, best)
	}
	if together, ok := several(own, h); ok {
		together.main = beside
		out = append(out, together)
	}
	if p, ok := sharing(m, available, h); ok && (len(own) == 0 || p.gpus0().Vendor != "amd") {
		if m.Unified > 0 { // Apple: main memory is the same, and the processor gains nothing
			return append(out, p)
		}
		out = append(out, p)
	}
	if available > 0 {
		out = append(out, pool{place: OnCPU, bytes: max(available*85/100-reserve, 0), how: "85% of " + Bytes(available) + " available, less " + Bytes(reserve)})
	}
	for i := range out {
		out[i].cpu = m.CPU
	}
	return out
}

// discrete lists cards with memory of their own. What a server holds may be on any of them.
func discrete(m probes.Machine, h Held) []pool {
	var out []pool
	for _, g := range m.GPUs {
		if g.Unified || g.Total <= 0 {
			continue
		}
		if free := min(g.Free+h.GPU, g.Total) - margin(g.Total); free > 0 {
			out = append(out, pool{place: OnGPU, bytes: free, how: lessKept(free, margin(g.Total), "free"), gpus: []probes.GPU{g}, noFlash: withoutFlash(g)})
		}
	}
	return out
}

// several pools cards of one maker. Parts of a partitioned card are never pooled: a process sees one of them.
func several(own []pool, h Held) (pool, bool) {
	byMaker := map[string]pool{}
	var best pool
	for _, p := range own {
		g := p.gpus[0]
		if g.Slice {
			continue
		}
		sum := byMaker[g.Vendor]
		sum.place = OnGPUs
		sum.gpus = append(sum.gpus, g)
		sum.noFlash = sum.noFlash || p.noFlash
		var free, total, kept int64
		for _, each := range sum.gpus {
			free, total, kept = free+each.Free, total+each.Total, kept+margin(each.Total)
		}
		sum.bytes = min(free+h.GPU, total) - kept
		sum.how = lessKept(sum.bytes, kept, "free on all of them")
		byMaker[g.Vendor] = sum
		if len(sum.gpus) > 1 && sum.bytes > best.bytes {
			best = sum
		}
	}
	return best, len(best.gpus) > 1
}

// sharing is the memory of a GPU that uses main memory. Beside Apple's there are superchips, which may use all of it,
// and AMD's graphics parts, which may use a carve-out and what the driver lends them; those count only without a card.
func sharing(m probes.Machine, available int64, h Held) (pool, bool) {
	all := available
	if m.RAM.Available > 0 {
		all = min(m.RAM.Available+h.RAM+h.GPU, max(m.RAM.Total, m.RAM.Available))
	}
	if m.Unified > 0 {
		kept := margin(max(m.RAM.Physical, m.RAM.Total))
		p := pool{place: OnUnified, shared: true, bytes: max(min(m.Unified, all)-kept, 0), most: max(all-kept, 0)}
		p.how = lessKept(p.bytes, kept, "that the GPU may use")
		if all < m.Unified {
			p.how = lessKept(p.bytes, kept, "available")
		}
		if m.RAM.Physical > 0 {
			p.most = min(p.most, m.RAM.Physical-forSystem)
		}
		for _, g := range m.GPUs {
			if g.Unified {
				p.gpus = append(p.gpus, g)
			}
		}
		return p, true
	}
	for _, g := range m.GPUs {
		switch {
		case !g.Unified:
		case g.Vendor == "nvidia":
			total := max(g.Total, m.RAM.Total)
			kept := margin(total)
			usable := max(min(total, all)-kept, 0)
			return pool{place: OnUnified, shared: true, bytes: usable, how: lessKept(usable, kept, "available"), most: max(all-kept, 0), gpus: []probes.GPU{g}}, true
		case g.Vendor == "amd" && g.SharedTotal > 0:
			free := min(g.Free+g.SharedFree+h.GPU, g.Total+g.SharedTotal)
			usable := max(min(free, all)-lent, 0)
			return pool{place: OnUnified, shared: true, bytes: usable, how: lessKept(usable, lent, "of its own and lent by the driver"), most: max(all-reserve, 0), gpus: []probes.GPU{g}}, true
		}
	}
	return pool{}, false
}

// withoutFlash reports a card for which servers switch flash attention off: CUDA compute below 6, and 7.2.
func withoutFlash(g probes.GPU) bool {
	if g.Vendor != "nvidia" || g.Compute == "" {
		return false
	}
	major := 0
	for _, c := range g.Compute {
		if c < '0' || c > '9' {
			break
		}
		major = major*10 + int(c-'0')
	}
	return major > 0 && major < 6 || g.Compute == "7.2"
}

// taken is what a model takes of a pool, and what there is for it.
type taken struct {
	need, room int64
	main       int64 // of it, or beside it, in main memory
	fits       bool
}

// take judges a sum in a pool. Prompts that a server sets aside lie in main memory.
func (p pool) take(s Sum, want Want) taken {
	switch {
	case p.place == OnCPU:
		need := want.measured(s.inMain())
		room := max(p.bytes-s.HostCache, 0)
		return taken{need: need, room: room, main: need + s.HostCache, fits: need <= room}
	case p.shared:
		s.Driver = driverOf(p.gpus0())
		need := want.measured(s.onDevice(1))
		room, beside := p.bytes, s.beside()
		if want.Engine == MLX {
			room = max(room-snapshots, 0)
		} else if p.most > 0 {
			room = max(min(room, p.most-s.HostCache), 0)
		}
		return taken{need, room, beside + s.HostCache, need <= room && (p.most == 0 || need+beside+s.HostCache <= p.most)}
	}
	s.Driver = int64(len(p.gpus)) * driverOf(p.gpus0())
	need := want.measured(s.onDevice(len(p.gpus)))
	beside := s.beside() + s.HostCache
	return taken{need, p.bytes, beside, need <= p.bytes && (p.main < 0 || beside <= p.main)}
}

func (p pool) gpus0() probes.GPU {
	if len(p.gpus) > 0 {
		return p.gpus[0]
	}
	return probes.GPU{Vendor: "apple"}
}
