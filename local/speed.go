package local

import (
	"math"
	"strings"

	"interpreter/probes"
)

// Speed is predicted from bandwidth: tokens written in a second with an empty window and at 32k tokens, and the
// seconds until the first token of a session. 0 is unknown.
type Speed struct {
	Fresh float64 `json:"fresh"`
	Deep  float64 `json:"deep"`
	First float64 `json:"first_seconds,omitempty"`
	Class string  `json:"class"` // of Deep: "fast", "good", "usable", "slow", "too slow"
}

// Rates were measured with a model on this machine, in tokens a second. 0 is not measured.
type Rates struct {
	Prefill float64 // reading what is new
	Decode  float64 // writing, with a window that is nearly empty
}

// The classes of speed, the best first, and the tokens a second from which they begin.
const (
	fast   = "fast"
	good   = "good"
	usable = "usable"
	slow   = "slow"
	crawls = "too slow"

	fastFrom, goodFrom, usableFrom, slowFrom = 40, 20, 10, 4
)

func classOf(rate float64) string {
	switch {
	case rate >= fastFrom:
		return fast
	case rate >= goodFrom:
		return good
	case rate >= usableFrom:
		return usable
	case rate >= slowFrom:
		return slow
	}
	return crawls
}

// FirstClass says how long a wait for the first token of a session feels: "instant", "ok", "long" or "painful".
func (s Speed) FirstClass() string {
	switch {
	case s.First <= 0:
		return ""
	case s.First < 5:
		return "instant"
	case s.First < 30:
		return "ok"
	case s.First < 180:
		return "long"
	}
	return "painful"
}

// Writing a token reads the weights it takes and the keys and values so far; each device does so at a share of its
// bandwidth, and a fixed time is added. The shares are those seen in published measurements.
const (
	shareDense   = 0.65 // of a card's bandwidth
	shareApple   = 0.70
	shareMixture = 0.30 // of any GPU's, for a mixture: its reads are small and scattered
	shareSlow    = 0.45 // of a GPU's of less than 300 GB/s, which waits for memory rather than for small reads
	shareMain    = 0.60 // of main memory's, by a processor
	fixedTime    = 0.002

	shallow = 8_192
	deep    = 32_768
)

// Bandwidths that are taken when a probe told none: those of the slowest parts in use.
const (
	leastCard    = 200e9
	leastApple   = 68e9
	leastMain    = 25e9
	leastLaptops = 50e9 // of a graphics part that shares main memory
)

// spread is how a model lies on a machine: which share of the experts and of the rest the processor reads.
type spread struct {
	experts, rest float64
}

// reads is the weight bytes that writing one token reads, without and within experts.
func (m ModelInfo) reads() (rest, experts float64) {
	all := m.expertBytes()
	rest = float64(max(m.Size-m.Projector-m.Geometry.OnCPU-all, 0))
	if all > 0 && m.Geometry.Experts > 0 {
		experts = float64(all) * float64(m.Geometry.ExpertsUsed) / float64(m.Geometry.Experts)
	}
	return rest, experts
}

// expertBytes is the weight bytes of all experts, 0 for a dense model.
func (m ModelInfo) expertBytes() int64 {
	g := m.Geometry
	switch {
	case g.ExpertBytes > 0:
		return g.ExpertBytes
	case g.Experts > 0 && g.Parameters > 0 && g.ExpertParams > 0:
		share := min(float64(g.ExpertParams)/float64(g.Parameters), 1)
		return int64(share * float64(m.Size-m.Projector))
	}
	return 0
}

// history is the bytes of keys, values and states that writing a token reads at a position.
func (m ModelInfo) history(position int, kind CacheType) float64 {
	g := m.Geometry
	if !g.Known() {
		return float64(unknownCache(m.Size, position, kind))
	}
	// With nothing read at a time, a windowed layer has just the cells that it sees.
	cache, state := g.kept(position, serving{kind: kind, slots: 1})
	return float64(cache + state)
}

// bandwidth is what a pool's GPUs read in a second, in bytes, and whether that was told by a probe. Cards that share a
// model take turns, each with its part.
func (p pool) bandwidth() (rate float64, known bool) {
	if len(p.gpus) == 0 {
		if p.place == OnUnified {
			return leastApple, false
		}
		return p.memory()
	}
	var time, parts float64
	known = true
	for _, g := range p.gpus {
		bw, part := g.Bandwidth*1e9, max(float64(g.Total), 1)
		if bw <= 0 {
			bw, known = p.guess(g), known && g.Unified && p.cpu.Bandwidth > 0
		}
		time += part / bw
		parts += part
	}
	return parts / time, known
}

func (p pool) guess(g probes.GPU) float64 {
	switch {
	case g.Unified && g.Vendor == "apple":
		return leastApple
	case g.Unified && p.cpu.Bandwidth > 0:
		return p.cpu.Bandwidth * 1e9
	case g.Unified:
		return leastLaptops
	}
	return leastCard
}

// memory is what the processor reads in a second.
func (p pool) memory() (rate float64, known bool) {
	if p.cpu.Bandwidth > 0 {
		return p.cpu.Bandwidth * 1e9, true
	}
	return leastMain, false
}

// decode is the tokens a second written at a position.
func (p pool) decode(m ModelInfo, position int, kind CacheType, on spread) float64 {
	rest, experts := m.reads()
	if rest+experts <= 0 {
		return 0
	}
	history := m.history(position, kind)
	gpu, _ := p.bandwidth()
	main, _ := p.memory()
	main *= shareMain
	if p.place == OnCPU {
		return 1 / ((rest+experts+history)/main + fixedTime)
	}
	gpu *= p.share(experts > 0)
	inMain := rest*on.rest + experts*on.experts + history*on.rest
	onGPU := rest + experts + history - inMain
	return 1 / (onGPU/gpu + inMain/main + fixedTime)
}

func (p pool) share(mixture bool) float64 {
	switch {
	case mixture && p.slower():
		return shareSlow
	case mixture:
		return shareMixture
	case p.place == OnUnified && p.gpus0().Vendor == "apple":
		return shareApple
	}
	return shareDense
}

func (p pool) slower() bool {
	rate, _ := p.bandwidth()
	return rate < 300e9
}

// predict is the speed of a model that lies so.
func (p pool) predict(m ModelInfo, window int, kind CacheType, on spread, want Want) Speed {
	s := Speed{Fresh: p.decode(m, 0, kind, on), Deep: p.decode(m, min(deep, window), kind, on)}
	if s.Fresh <= 0 {
		return Speed{}
	}
	if want.Measured.Decode > 0 {
		s.Deep *= want.Measured.Decode / s.Fresh
		s.Fresh = want.Measured.Decode
	}
	rate := want.Measured.Prefill
	if rate <= 0 {
		rate = p.prefill(m, on)
	}
	prefix := want.Prefix
	if prefix <= 0 {
		prefix = usualPrefix
	}
	s.First = float64(min(prefix+shallow, window)) / rate
	s.Class = classOf(s.Deep)
	return s
}

// usualPrefix is the tokens of instructions and tools that a session begins with, when they are not known yet.
const usualPrefix = 6_000

// prefill is a guess at the tokens a second that are read, until one is measured: reading is bound by arithmetic, of
// which no probe knows. Each kind of machine has a range, and a model its place in it by what a token takes.
func (p pool) prefill(m ModelInfo, on spread) float64 {
	lowest, highest := p.reading()
	heavy := math.Log(max(m.active(), 1e9)/1e9) / math.Log(30) // 0 for a billion parameters a token, 1 for thirty
	rate := highest * math.Pow(lowest/highest, min(heavy, 1.2))
	if part := max(on.experts, on.rest); part > 0 {
		cpu := pool{place: OnCPU, cpu: p.cpu}.prefill(m, spread{})
		rate = 1 / ((1-part)/rate + part/(4*cpu)) // what lies in main memory is read in large batches
	}
	return rate
}

// reading is the range of tokens a second that a kind of machine reads.
func (p pool) reading() (lowest, highest float64) {
	g := p.gpus0()
	rate, _ := p.bandwidth()
	switch {
	case p.place == OnCPU:
		return 4, 60
	case p.shared && g.Vendor == "apple":
		if rate >= 300e9 {
			return 80, 800
		}
		return 30, 300
	case p.shared && g.Vendor == "amd":
		return 30, 250
	}
	return 500 * rate / 600e9, 3000 * rate / 600e9
}

// active is the parameters that a token takes.
func (m ModelInfo) active() float64 {
	rest, experts := m.reads()
	size := 0.6 // bytes of a parameter at 4 bits, with what is kept at more
	switch q := strings.ToLower(m.Quantization); {
	case strings.HasPrefix(q, "q8"):
		size = 1.07
	case strings.HasPrefix(q, "bf16"), strings.HasPrefix(q, "f16"), strings.HasPrefix(q, "fp16"):
		size = 2
	case m.Geometry.Parameters > 0 && m.Size > 0:
		size = float64(m.Size-m.Projector) / float64(m.Geometry.Parameters)
	}
	return (rest + experts) / size
}
