package local

import (
	"fmt"

	"interpreter/probes"
)

// Floor is the smallest window an agent is given unasked, in tokens. A model trained for a little less, from
// NearFloor on, is its own floor.
const (
	Floor     = 65_536
	NearFloor = 64_000
	usual     = 131_072 // more costs reading time and quality: only on request
	handRound = 4096    // a number typed by a person is rounded down to this
)

// ladder are the windows tried, largest first.
var ladder = [...]int{262_144, 196_608, 131_072, 98_304, 65_536}

// Want is what a person said about the window, and what is known of the server. Zero is nothing.
type Want struct {
	Window    int // exactly this many tokens
	Most      int // at most this many
	CacheType CacheType
	Ratio     float64 // measured over predicted bytes, from earlier loads at this server; 0: none known

	Own      bool   // the server is ours to start: keys and values may be kept in q8_0
	Largest  bool   // the largest window of the ladder, not just the usual one
	Slow     bool   // a person asked for this model: any speed will do
	Images   bool   // pictures will be shown to it: its projector needs room to work
	Engine   Engine // that the server runs; "": that of Provider and Version, else LlamaCPP
	Slots    int    // conversations the server keeps room for at once; 0: one
	Unified  bool   // they share one window: only states and sliding windows are there for each
	Batch    int    // tokens it reads at a time; 0: few, as servers do when memory is tight
	NoFlash  bool   // flash attention is off
	Drafting bool   // layers that draft tokens are used
	// Prompts are the kinds of prompt that take turns in one slot, beside the main one; for each, the server sets
	// what it has read aside in main memory, at most HostCache bytes in all (0: 8 GiB).
	Prompts   int
	HostCache int64
	Prefix    int // tokens a session begins with; 0: a usual number

	Provider, Version string // of the server, "" when it is not known: different models may run on different engines there
	Measured          Rates  // of this model on this machine
}

// serving is what a server is told, with keys and values of a kind.
func (w Want) serving(kind CacheType, p pool) serving {
	s := serving{
		kind: kind, slots: max(w.Slots, 1), engine: w.Engine, batch: w.Batch, noFlash: w.NoFlash || p.noFlash,
		unified: w.Unified, images: w.Images, drafting: w.Drafting, prompts: w.Prompts, cap: w.HostCache,
	}
	if s.batch <= 0 {
		s.batch = microBatch
	}
	if s.cap <= 0 {
		s.cap = 8 * gib
	}
	switch w.Engine {
	case OllamaOwn, OldLlamaCPP, MLX: // none sets prompts aside so
		s.prompts = 0
	}
	return s
}

// Fit is a window and where the model goes with it.
type Fit struct {
	Window   int
	Place    Place
	Need     int64     // bytes predicted in Place
	Room     int64     // bytes usable there
	Main     int64     // bytes in main memory: what lies beside a GPU, of Need or on top of it
	Bound    bool      // the model's layers are not known: Need is an upper bound made from its size, and no prediction
	Loaded   bool      // it is the window of a model in memory already
	Cache    CacheType // number format of keys and values this was computed for
	Sum      Sum       // what Need is made of
	Speed    Speed     // predicted; zero when nothing is known of the model's size
	Warnings []string
}

// Sum is the memory of a model with a window, in bytes. Need of a Fit is the sum of what its Place holds.
type Sum struct {
	Weights   int64 `json:"weights"`
	OnCPU     int64 `json:"on_cpu,omitempty"` // part of Weights that stays in main memory beside a GPU
	Cache     int64 `json:"cache"`            // keys and values
	State     int64 `json:"state,omitempty"`  // of recurrent layers
	Compute   int64 `json:"compute"`          // on all GPUs together
	Host      int64 `json:"host,omitempty"`   // compute in main memory
	Masks     int64 `json:"masks,omitempty"`  // of Ollama's own engine, always in main memory
	Projector int64 `json:"projector,omitempty"`
	Driver    int64 `json:"driver,omitempty"`
	HostCache int64 `json:"host_cache,omitempty"` // prompts that the server keeps in main memory
}

// Why says the choice in one line.
func (f Fit) Why() string {
	if f.Loaded {
		return fmt.Sprintf("loaded already with a window of %d tokens", f.Window)
	}
	if f.Place == "" {
		return fmt.Sprintf("a window of %d tokens, its memory not predicted", f.Window)
	}
	kind := ""
	if f.Cache.quantised() {
		kind = " kept in " + string(f.Cache)
	}
	return fmt.Sprintf("a window of %d tokens%s in %s: %s of %s", f.Window, kind, f.Place, amount(f.Need, f.Bound, "about "), Bytes(f.Room))
}

// amount is a need in words: what a bound is, is said to be one.
func amount(need int64, bound bool, otherwise string) string {
	if bound {
		return "at most " + Bytes(need)
	}
	return otherwise + Bytes(need)
}

// ChooseWindow picks the window of a model on a machine: the largest step of the ladder that fits, up to 131,072
// unless more was asked for, and never below the floor unless a person said so. The formulas and their
// sources are in the help page models. A Refusal names both numbers and a way out. Speed is not judged here: whoever
// names a slow model gets it, with a warning.
func ChooseWindow(m ModelInfo, machine probes.Machine, h Held, want Want) (Fit, error) {
	want.Slow = true
	m = completed(m)
	d, err := decide(m, machine, h, want.at(m))
	return d.fit, blame(err, machine, h)
}

// bounds are the floor, and the window to aim for and never to pass.
type bounds struct{ floor, target, ceiling int }

// bound reads them off a model and a person's wishes.
func bound(m ModelInfo, want Want) (bounds, error) {
	b := bounds{floor: Floor, ceiling: m.Trained}
	if b.ceiling == 0 {
		b.ceiling = max(Floor, m.Configured) // unknown: the server clamps, and the loaded window is checked
	}
	if want.Window == 0 && m.Trained > 0 && m.Trained < NearFloor {
		return b, &Refusal{
			Code: TooShort, Model: m.Name, Needed: Floor, Available: int64(m.Trained),
			Text: fmt.Sprintf("choose %s: it was trained for a context of %d tokens, an agent needs %d", m.Name, m.Trained, Floor),
			Try:  fmt.Sprintf("name another model with -m, or accept the small window with -c model_context_window=%d", m.Trained/granule*granule),
		}
	}
	if want.Most > 0 {
		b.ceiling = min(b.ceiling, want.Most)
	}
	if b.ceiling >= granule {
		b.ceiling = b.ceiling / granule * granule
	}
	b.floor = min(b.floor, b.ceiling)
	b.target = min(b.ceiling, usual)
	if want.Largest {
		b.target = min(b.ceiling, ladder[0])
	}
	if want.Most > 0 || m.Configured >= b.floor {
		b.target = max(b.target, min(b.ceiling, max(want.Most, m.Configured)))
	}
	return b, nil
}

// largestStep is the largest window between floor and top that fits, 0 when not even floor does.
func largestStep(fits func(window int) bool, floor, top int) int {
	if top >= floor && fits(top) {
		return top
	}
	for _, n := range ladder {
		if n < top && n > floor && fits(n) {
			return n
		}
	}
	if floor < top && fits(floor) {
		return floor
	}
	return 0
}

// stated reads a window that a person named: below the floor with a warning, above the trained context cut. No
// machine is judged.
func stated(m ModelInfo, want Want) Fit {
	n := want.Window
	if n >= handRound {
		n = n / handRound * handRound
	} else {
		n = max(n/granule*granule, granule)
	}
	fit := Fit{Cache: want.CacheType}
	if m.Trained > 0 && n > m.Trained {
		fit.Warnings = append(fit.Warnings, fmt.Sprintf("a window of %d tokens was asked for; %s was trained for %d", want.Window, m.Name, m.Trained))
		n = max(m.Trained/granule*granule, granule)
	}
	if n < Floor && n < m.Trained/granule*granule || n < NearFloor {
		fit.Warnings = append(fit.Warnings, fmt.Sprintf("a window of %d tokens is small: work of any length needs %d", n, Floor))
	}
	fit.Window = n
	return fit
}
