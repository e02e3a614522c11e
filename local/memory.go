package local

import (
	"fmt"

	"interpreter/probes"
)

const (
	gib = 1 << 30
	mib = 1 << 20
	kib = 1 << 10
)

// Bounds of the memory model. Servers read microBatch tokens at a time when memory is tight, and windowBatch when there
// is plenty; the compute buffer and the cells of a sliding window grow with that. What must fit is judged by the first.
const (
	granule     = 256 // cells are allocated in steps of this
	microBatch  = 512
	windowBatch = 2048
	vocabBound  = 262_144 // when the vocabulary is unknown
	vision      = gib     // working space of a vision projector
)

// CacheType is the number format of keys and values, in the names that servers use.
type CacheType string

// element is its bytes per number.
func (c CacheType) element() float64 {
	switch c {
	case "q8_0":
		return 34.0 / 32
	case "q5_1":
		return 0.75
	case "q5_0":
		return 0.6875
	case "q4_1":
		return 0.625
	case "q4_0":
		return 18.0 / 32
	}
	return 2
}

// quantised reports a format that packs numbers in blocks of 32.
func (c CacheType) quantised() bool { return c.element() < 2 }

// serving is how a server keeps a model, as far as memory depends on it.
type serving struct {
	kind     CacheType
	slots    int  // at least 1
	unified  bool // they share one window
	engine   Engine
	batch    int // tokens read at a time
	noFlash  bool
	images   bool
	drafting bool
	prompts  int   // kinds of prompt that take turns; a server sets one aside for another
	cap      int64 // most bytes of those set aside
}

func pad(n int) int { return (n + granule - 1) / granule * granule }

// Cache is the bytes that one conversation of window tokens keeps at most: keys and values of each layer as far as it
// sees, latent rows, and states of fixed size.
func (g Geometry) Cache(window int, kind CacheType) int64 {
	kept, state := g.kept(window, serving{kind: kind, slots: 1, batch: windowBatch})
	return kept + state
}

// kept is the keys and values of all slots, and the states of recurrent layers.
func (g Geometry) kept(window int, s serving) (cache, state int64) {
	layers := g.Layers
	if s.drafting {
		layers += g.Drafts
	}
	b := s.kind.element()
	states := int64(s.slots)
	if s.engine == OllamaOwn {
		states *= 1 + ownCheckpoints
	}
	whole := pad(window)
	if !s.unified {
		whole *= s.slots
	}
	var total float64
	for i := range layers - g.Shared {
		if i < g.Layers && at(g.Recurrent, i) {
			state += g.State * states
			continue
		}
		row, cells := g.row(i), whole
		if g.Latent > 0 {
			if row = g.Latent; s.engine == OldLlamaCPP || s.engine == OllamaOwn { // as key, and as value
				row += g.LatentRank
			}
		} else if i < g.Layers && at(g.Windowed, i) {
			cells = min(cells, g.windowCells(s))
		}
		total += float64(cells) * float64(row) * b
	}
	return int64(total), state
}

// row is the numbers that one token keeps in a layer of ordinary attention. A drafting layer is like the last one
// that keeps something.
func (g Geometry) row(i int) int {
	if i >= g.Layers {
		for i = g.Layers - 1; i > 0 && at(g.KVHeads, i) == 0; {
			i--
		}
	}
	heads, key, value := at(g.KVHeads, i), g.KeyDim, g.ValueDim
	if at(g.Windowed, i) && g.WindowKeyDim > 0 {
		key, value = g.WindowKeyDim, g.WindowValueDim
	}
	return heads * (key + value)
}

// windowCells is the most cells that a sliding-window layer keeps.
func (g Geometry) windowCells(s serving) int {
	if s.engine != OllamaOwn {
		return pad(g.Window*s.slots + s.batch)
	}
	each := g.Window
	if s.slots > 1 { // room for the token that ends an answer
		each++
	}
	return pad(max(each, g.WindowFixed)*s.slots + microBatch)
}

// at reads a list with an entry for each layer, or one for all of them.
func at[T any](list []T, i int) T {
	var none T
	switch {
	case len(list) == 1:
		return list[0]
	case i < len(list):
		return list[i]
	}
	return none
}

// compute is the graph's buffer on the device that holds a model, and the part of it that stays in main memory.
// Without flash attention the scores of all heads are held at once.
func (g Geometry) compute(window int, s serving) (device, host int64) {
	vocab, width, batch := int64(g.Vocab), int64(g.Embedding), int64(s.batch)
	if vocab == 0 {
		vocab = vocabBound
	}
	device = vocab*batch*4 + int64(window)*batch*2 + 48*width*batch
	if s.noFlash || !g.flash(s.engine) {
		device += int64(max(g.Heads, 1)) * int64(window) * batch * 4
		if s.engine == OllamaOwn { // then it copies no mask into the graph
			device -= int64(window) * batch * 2
		}
	}
	return device, int64(window)*batch*2 + width*batch*4
}

// unknownCache bounds the cache of a model of which only the file size is known: 448 KiB a token for each GiB of
// file, and from about 0.3 GiB on 128 KiB a token plus 8 KiB for each GiB. Dense 4-bit models of all sizes lie
// below it; hybrid and windowed ones far below.
func unknownCache(size int64, window int, kind CacheType) int64 {
	gibs := float64(size) / gib
	perToken := min(448*kib*gibs, 128*kib+8*kib*gibs)
	return int64(perToken * float64(window) * kind.element() / 2)
}

// sum is the memory of a model with a window, whatever the place; Driver is left to the place.
func sum(m ModelInfo, window int, s serving) Sum {
	out := Sum{Weights: max(m.Size-m.Projector, 0), OnCPU: m.Geometry.OnCPU, Projector: m.Projector}
	if m.Geometry.Known() {
		out.Cache, out.State = m.Geometry.kept(window, s)
	} else {
		out.Cache = unknownCache(m.Size, window, s.kind) * int64(s.slots)
	}
	out.Compute, out.Host = m.Geometry.compute(window, s)
	out.Masks = m.Geometry.masks(window, s)
	if s.images && (m.Projector > 0 || m.Can("vision")) {
		out.Projector += vision
	}
	if s.prompts > 0 {
		out.HostCache = min(s.cap, int64(s.prompts)*(out.Cache+4*out.State))
	}
	return out
}

// onDevice is what devices of their own hold, each with a compute buffer and a driver; beside is what stays in main
// memory then.
func (s Sum) onDevice(devices int) int64 {
	return s.Weights - s.OnCPU + s.Cache + s.State + s.Projector + int64(devices)*s.Compute + s.Driver
}

func (s Sum) beside() int64 { return s.OnCPU + s.Host + s.Masks }

// inMain is what main memory holds when there is no other: one buffer for the graph.
func (s Sum) inMain() int64 { return s.Weights + s.Cache + s.State + s.Projector + s.Compute + s.Masks }

// driverOf is what a GPU's driver and context take. CUDA's and ROCm's are larger than Vulkan's; Metal has none.
func driverOf(g probes.GPU) int64 {
	switch g.Vendor {
	case "nvidia", "amd":
		return 45 * gib / 100
	case "apple":
		return 0
	}
	return 3 * gib / 10
}

// HostCacheFor is the most bytes of prompts that a server of ours should set aside in main memory beside a model: room
// for two long conversations, between 1 and 8 GiB, and less where main memory is short.
func HostCacheFor(m ModelInfo, f Fit, machine probes.Machine) int64 {
	s := serving{kind: f.Cache, slots: 1, batch: windowBatch}
	cache, state := m.Geometry.kept(f.Window, s)
	if !m.Geometry.Known() {
		cache = unknownCache(m.Size, f.Window, f.Cache)
	}
	want := min(max(2*(cache+state), gib), 8*gib)
	left := machine.RAM.Available - reserve
	switch f.Place {
	case OnUnified, OnCPU:
		left -= f.Need
	default:
		left -= f.Main
	}
	return max(min(want, left/2), 256*mib)
}

// Bytes writes a size of memory for people.
func Bytes(n int64) string {
	switch {
	case n >= gib:
		return fmt.Sprintf("%.1f GiB", float64(n)/gib)
	case n >= mib:
		return fmt.Sprintf("%d MiB", n/mib)
	}
	return fmt.Sprintf("%d KiB", n/kib)
}
