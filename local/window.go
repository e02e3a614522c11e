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

// Want is what a person said about the window. Zero is nothing.
type Want struct {
	Window    int // exactly this many tokens
	Most      int // at most this many
	CacheType CacheType
}

// Fit is a window and where the model goes with it.
type Fit struct {
	Window   int
	Place    Place
	Need     int64     // bytes predicted
	Room     int64     // bytes usable there
	Loaded   bool      // it is the window of a model in memory already
	Cache    CacheType // number format of keys and values this was computed for
	Sum      Sum       // what Need is made of
	Speed    Speed     // predicted; zero when nothing is known of the machine's bandwidth
	Warnings []string
}

// Sum is the memory of a model with a window, in bytes. Need of a Fit is the sum of what its Place holds.
type Sum struct {
	Weights   int64 `json:"weights"`
	OnCPU     int64 `json:"on_cpu,omitempty"` // part of Weights that stays in main memory beside a GPU
	Cache     int64 `json:"cache"`            // keys and values
	State     int64 `json:"state,omitempty"`  // of recurrent layers
	Compute   int64 `json:"compute"`
	Host      int64 `json:"host,omitempty"` // compute in main memory
	Projector int64 `json:"projector,omitempty"`
	Driver    int64 `json:"driver,omitempty"`
	HostCache int64 `json:"host_cache,omitempty"` // prompts that the server keeps in main memory
}

// Speed is predicted from bandwidth: tokens written in a second with an empty window and at 32k tokens, and the
// seconds until the first token of a session. 0 is unknown.
type Speed struct {
	Fresh float64 `json:"fresh"`
	Deep  float64 `json:"deep"`
	First float64 `json:"first_seconds,omitempty"`
	Class string  `json:"class"` // of Deep: "fast", "good", "usable", "slow", "too slow"
}

// Why says the choice in one line.
func (f Fit) Why() string {
	if f.Loaded {
		return fmt.Sprintf("loaded already with a window of %d tokens", f.Window)
	}
	if f.Place == "" {
		return fmt.Sprintf("a window of %d tokens, its memory not predicted", f.Window)
	}
	return fmt.Sprintf("a window of %d tokens in %s: about %s of %s", f.Window, f.Place, Bytes(f.Need), Bytes(f.Room))
}

// ChooseWindow picks the window of a model on a machine: the largest step of the ladder that fits, up to 131,072
// unless more was asked for, and never below the floor unless a person said so. The formulas and their
// sources are in the help page models. A Refusal names both numbers and a way out.
func ChooseWindow(m ModelInfo, machine probes.Machine, h Held, want Want) (Fit, error) {
	floor, ceiling, err := bounds(m, want)
	if err != nil {
		return Fit{}, err
	}
	if want.Window > 0 {
		return explicit(m, machine, h, want)
	}
	var fit Fit
	if want.Most > 0 && want.Most < min(floor, max(m.Trained, NearFloor)) {
		fit.Warnings = append(fit.Warnings, fmt.Sprintf("a window of at most %d tokens was asked for; work of any length needs %d", want.Most, Floor))
	}
	floor = min(floor, ceiling)
	if machine.RAM.Available <= 0 && len(machine.GPUs) == 0 || m.Size == 0 && !m.Geometry.Known() {
		fit.Window = floor
		fit.Warnings = append(fit.Warnings, "memory could not be judged beforehand; the server decides whether the model fits")
		return fit, nil
	}
	target := min(ceiling, usual)
	if want.Most > 0 || m.Configured >= floor {
		target = min(ceiling, max(want.Most, m.Configured))
	}
	device, _ := m.Geometry.compute(floor)
	all := rooms(machine, h, device+driver)
	for _, r := range all {
		top := target
		if r.place == OnBoth {
			top = floor
		}
		cost := func(window int) int64 { return need(m, window, want.CacheType, r.place) }
		if n := largestStep(r.bytes, cost, floor, top); n > 0 {
			fit.Window, fit.Place, fit.Need, fit.Room = n, r.place, cost(n), r.bytes
			return warned(m, fit), nil
		}
	}
	return Fit{}, tooBig(m, all, floor, want.CacheType)
}

// bounds are the floor and the ceiling of a model, before a person's wishes below the floor are honoured.
func bounds(m ModelInfo, want Want) (floor, ceiling int, err error) {
	floor, ceiling = Floor, m.Trained
	if ceiling == 0 {
		ceiling = Floor // unknown: the server clamps, and the loaded window is checked
		if m.Configured > ceiling {
			ceiling = m.Configured
		}
	}
	if want.Window == 0 && m.Trained > 0 && m.Trained < NearFloor {
		return 0, 0, &Refusal{
			Code: TooShort, Model: m.Name, Needed: Floor, Available: int64(m.Trained),
			Text: fmt.Sprintf("choose %s: it was trained for a context of %d tokens, an agent needs %d", m.Name, m.Trained, Floor),
			Try:  fmt.Sprintf("name another model with -m, or accept the small window with -c model_context_window=%d", m.Trained/granule*granule),
		}
	}
	if want.Most > 0 {
		ceiling = min(ceiling, want.Most)
	}
	if ceiling >= granule {
		ceiling = ceiling / granule * granule
	}
	return floor, ceiling, nil
}

// largestStep is the largest window between floor and top whose cost fits, 0 when not even floor does.
func largestStep(room int64, cost func(window int) int64, floor, top int) int {
	if top >= floor && cost(top) <= room {
		return top
	}
	for _, n := range ladder {
		if n < top && n >= floor && cost(n) <= room {
			return n
		}
	}
	if cost(floor) <= room {
		return floor
	}
	return 0
}

// explicit honours a window that a person named: below the floor with a warning, above the trained context cut.
func explicit(m ModelInfo, machine probes.Machine, h Held, want Want) (Fit, error) {
	n := want.Window
	if n >= handRound {
		n = n / handRound * handRound
	} else {
		n = max(n/granule*granule, granule)
	}
	var fit Fit
	if m.Trained > 0 && n > m.Trained {
		fit.Warnings = append(fit.Warnings, fmt.Sprintf("a window of %d tokens was asked for; %s was trained for %d", want.Window, m.Name, m.Trained))
		n = max(m.Trained/granule*granule, granule)
	}
	if n < Floor && n < m.Trained/granule*granule || n < NearFloor {
		fit.Warnings = append(fit.Warnings, fmt.Sprintf("a window of %d tokens is small: work of any length needs %d", n, Floor))
	}
	fit.Window = n
	if machine.RAM.Available <= 0 && len(machine.GPUs) == 0 || m.Size == 0 && !m.Geometry.Known() {
		return fit, nil
	}
	device, _ := m.Geometry.compute(n)
	all := rooms(machine, h, device+driver)
	for _, r := range all {
		if cost := need(m, n, want.CacheType, r.place); cost <= r.bytes {
			fit.Place, fit.Need, fit.Room = r.place, cost, r.bytes
			return warned(m, fit), nil
		}
	}
	return Fit{}, tooBig(m, all, n, want.CacheType)
}

func warned(m ModelInfo, fit Fit) Fit {
	if fit.Place == OnBoth {
		fit.Warnings = append(fit.Warnings, fmt.Sprintf("%s does not fit the GPU alone; part of it runs on the processor, which is slow", m.Name))
	}
	return fit
}

// tooBig refuses with the numbers of the roomiest place, and names the largest window that would fit there.
func tooBig(m ModelInfo, all []room, window int, kind CacheType) error {
	var best room
	for _, r := range all {
		if r.bytes >= best.bytes {
			best = r
		}
	}
	needed := need(m, window, kind, best.place)
	refusal := &Refusal{
		Code: TooBig, Model: m.Name, Needed: needed, Available: best.bytes,
		Text: fmt.Sprintf("fit %s with a window of %d tokens: needs about %s of %s, %s usable", m.Name, window, Bytes(needed), best.place, Bytes(best.bytes)),
		Try:  "name a smaller model with -m, or free memory",
	}
	for n := (window - 1) / handRound * handRound; n >= handRound; n -= handRound {
		if need(m, n, kind, best.place) <= best.bytes {
			refusal.Try += fmt.Sprintf(", or accept a smaller window with -c model_context_window=%d", n)
			break
		}
	}
	return refusal
}
