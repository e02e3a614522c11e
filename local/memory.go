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

// Bounds of the memory model. microBatch is what servers fall back to when memory is tight; windowBatch is the largest
// they use, which decides how many cells a sliding-window layer keeps.
const (
	granule     = 256 // cells are allocated in steps of this
	microBatch  = 512
	windowBatch = 2048
	vocabBound  = 262_144 // when the vocabulary is unknown
	vision      = gib     // working space of a vision projector
	driver      = 45 * gib / 100
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

func pad(n int) int { return (n + granule - 1) / granule * granule }

// Cache is the bytes that one conversation of window tokens keeps: keys and values of each layer as far as it sees,
// latent rows, and states of fixed size.
func (g Geometry) Cache(window int, kind CacheType) int64 {
	b := kind.element()
	var total float64
	for i := range g.Layers - g.Shared {
		if at(g.Recurrent, i) {
			total += float64(g.State)
			continue
		}
		if g.Latent > 0 {
			total += float64(pad(window)) * float64(g.Latent) * b
			continue
		}
		key, value, cells := g.KeyDim, g.ValueDim, pad(window)
		if at(g.Windowed, i) {
			cells = min(cells, pad(g.Window+windowBatch))
			if g.WindowKeyDim > 0 {
				key, value = g.WindowKeyDim, g.WindowValueDim
			}
		}
		total += float64(cells) * float64(at(g.KVHeads, i)*(key+value)) * b
	}
	return int64(total)
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
func (g Geometry) compute(window int) (device, host int64) {
	vocab, width := g.Vocab, g.Embedding
	if vocab == 0 {
		vocab = vocabBound
	}
	device = int64(vocab)*microBatch*4 + int64(window)*microBatch*2 + 48*int64(width)*microBatch
	host = int64(window)*microBatch*2 + int64(width)*microBatch*4
	return device, host
}

// unknownCache bounds the cache of a model of which only the file size is known: 448 KiB a token for each GiB of
// file, and from about 0.3 GiB on 128 KiB a token plus 8 KiB for each GiB. Dense 4-bit models of all sizes lie
// below it; hybrid and windowed ones far below.
func unknownCache(size int64, window int) int64 {
	gibs := float64(size) / gib
	perToken := min(448*kib*gibs, 128*kib+8*kib*gibs)
	return int64(perToken * float64(window))
}

// need is the bytes of a model with a window, in one place.
func need(m ModelInfo, window int, kind CacheType, place Place) int64 {
	device, host := m.Geometry.compute(window)
	total := m.Size + device
	if m.Geometry.Known() {
		total += m.Geometry.Cache(window, kind)
	} else {
		total += unknownCache(m.Size, window)
	}
	if m.Can("vision") {
		total += vision
	}
	switch place {
	case OnGPU, OnGPUs:
		total += driver - m.Geometry.OnCPU
	case OnCPU:
		total += host
	case OnBoth:
		total += host + driver
	}
	return total
}

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

// room is a place and the bytes a model may use there.
type room struct {
	place Place
	bytes int64
}

// Held is what a server's models occupy now and would give back.
type Held struct{ GPU, RAM int64 }

func held(residents []Resident) Held {
	var h Held
	for _, r := range residents {
		h.GPU += r.VRAM
		h.RAM += max(r.Size-r.VRAM, 0)
	}
	return h
}

func margin(total int64) int64 { return max(gib, total/25) }

// rooms lists the places a machine offers. extra is what each further GPU needs for a buffer and driver of its own.
func rooms(m probes.Machine, h Held, extra int64) []room {
	var out []room
	available := min(m.RAM.Available+h.RAM, max(m.RAM.Total, m.RAM.Available))
	var best int64
	sums, counts := map[string]int64{}, map[string]int{}
	unified := m.Unified
	for _, gpu := range m.GPUs {
		if gpu.Unified {
			// A part that shares RAM and says nothing of a memory of its own may use all of it.
			if gpu.Total == 0 && gpu.Vendor == "nvidia" {
				unified = m.RAM.Total
			}
			continue
		}
		free := min(gpu.Free+h.GPU, gpu.Total) - margin(gpu.Total)
		if free <= 0 {
			continue
		}
		best = max(best, free)
		sums[gpu.Vendor] += free
		counts[gpu.Vendor]++
	}
	var pooled int64
	for vendor, n := range counts {
		if n > 1 {
			pooled = max(pooled, sums[vendor]-int64(n-1)*extra)
		}
	}
	if best > 0 {
		out = append(out, room{OnGPU, best})
	}
	if pooled > best {
		out = append(out, room{OnGPUs, pooled})
	}
	if unified > 0 {
		usable := min(unified, m.RAM.Available+h.RAM+h.GPU) - margin(m.RAM.Physical)
		return append(out, room{OnUnified, max(usable, 0)})
	}
	cpu := max(available*85/100-3*gib/2, 0)
	if best > 0 {
		out = append(out, room{OnBoth, max(best, pooled) + cpu})
	}
	return append(out, room{OnCPU, cpu})
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
