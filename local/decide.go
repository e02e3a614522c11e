package local

import (
	"fmt"
	"slices"

	"interpreter/probes"
)

// decision is a fit, and how it came about.
type decision struct {
	fit     Fit
	pool    pool
	on      spread
	verdict string
	spilled int64 // weight bytes that a GPU had no room for
}

// The bounds of speed below which a place is no use, in tokens a second, and of the experts that may leave the GPU.
const (
	leastOffload = 10  // with experts in main memory, at 32k tokens
	leastPartial = 6   // with layers in main memory, at 8k tokens
	leastCPU     = 4   // on the processor alone, at 32k tokens
	mostSpill    = 0.6 // of the experts
)

// decide finds the best place of a machine for a model, with the largest window that fits there. Places are tried in
// their order: wholly on GPUs, split, on the processor. Split and on the processor it must be fast enough, unless any
// speed will do.
//
// Room for pictures is given up where it would cost the place: a model that only sees less is worth more than one that
// runs half on the processor, or not at all.
func decide(m ModelInfo, machine probes.Machine, h Held, want Want) (decision, error) {
	d, err := decideOne(m, machine, h, want)
	if !want.Images || !m.Can("vision") || err == nil && (d.verdict == "" || d.verdict == FullGPU) {
		return d, err
	}
	want.Images = false
	blind, blindErr := decideOne(m, machine, h, want)
	if err == nil && (blindErr != nil || worth(blind.verdict) <= worth(d.verdict)) {
		return d, nil
	}
	if blindErr != nil {
		return blind, blindErr
	}
	blind.fit.Warnings = append(blind.fit.Warnings, fmt.Sprintf("no room for pictures is left beside %s; with pictures it would need %s more", m.Name, Bytes(vision)))
	return blind, nil
}

// worth orders the places: what is wholly on GPUs is fastest.
func worth(verdict string) int {
	return slices.Index([]string{CPUOnly, PartialOffload, ExpertOffload, MultiGPU, FullGPU}, verdict)
}

// decideOne decides with room for pictures as it was asked for.
func decideOne(m ModelInfo, machine probes.Machine, h Held, want Want) (decision, error) {
	b, err := bound(m, want)
	if err != nil {
		return decision{}, err
	}
	var d decision
	if want.Window > 0 {
		d.fit = stated(m, want)
		b = bounds{d.fit.Window, d.fit.Window, d.fit.Window}
	} else if want.Most > 0 && want.Most < min(Floor, max(m.Trained, NearFloor)) {
		d.fit.Warnings = append(d.fit.Warnings, fmt.Sprintf("a window of at most %d tokens was asked for; work of any length needs %d", want.Most, Floor))
	}
	all := pools(machine, h)
	if len(all) == 0 && machine.RAM.Available <= 0 && len(machine.GPUs) == 0 || m.Size == 0 {
		if want.Window == 0 {
			d.fit.Window = b.floor
			d.fit.Warnings = append(d.fit.Warnings, "memory could not be judged beforehand; the server decides whether the model fits")
		}
		d.fit.Cache = want.CacheType
		return d, nil
	}
	for _, p := range all {
		if p.place != OnCPU && d.hold(p, m, b, want) {
			return d, nil
		}
	}
	if d.split(all, m, b, want, false) || d.onCPU(all, m, b, want, leastCPU) {
		return d, nil
	}
	if want.Slow && (d.split(all, m, b, want, true) || d.onCPU(all, m, b, want, 0)) {
		return d, nil
	}
	return d, tooBig(m, all, b.floor, want)
}

// kinds are the number formats of keys and values to try in a pool. A quantised one needs flash attention and heads
// of whole blocks, and slows a processor, so it is only chosen unasked on a GPU, and for a server of ours.
func (p pool) kinds(m ModelInfo, want Want) []CacheType {
	g := m.Geometry
	whole := g.Known() && g.KeyDim%32 == 0 && g.ValueDim%32 == 0 && g.Latent%32 == 0 && g.WindowKeyDim%32 == 0 && g.WindowValueDim%32 == 0
	flash := !want.NoFlash && !p.noFlash && g.flash(want.Engine)
	switch {
	case want.CacheType.quantised() && (!flash || g.Known() && !whole):
		return []CacheType{"f16"}
	case want.CacheType != "":
		return []CacheType{want.CacheType}
	case want.Own && whole && flash && p.place != OnCPU && want.Engine != MLX:
		return []CacheType{"f16", "q8_0"}
	}
	return []CacheType{"f16"}
}

// hold puts a model wholly in a pool of GPUs, if it fits. q8_0 is taken only where f16 ends below the usual window.
func (d *decision) hold(p pool, m ModelInfo, b bounds, want Want) bool {
	window, chosen := 0, CacheType("")
	for _, kind := range p.kinds(m, want) {
		if window >= min(usual, b.target) {
			break
		}
		fits := func(n int) bool { return p.take(sum(m, n, want.serving(kind, p)), want).fits }
		if n := largestStep(fits, b.floor, b.target); n > window {
			window, chosen = n, kind
		}
	}
	if window == 0 {
		return false
	}
	d.settle(p, m, window, chosen, want)
	d.verdict = FullGPU
	if p.place == OnGPUs {
		d.verdict = MultiGPU
	}
	return true
}

// settle fills in the fit of a model that a pool holds.
func (d *decision) settle(p pool, m ModelInfo, window int, kind CacheType, want Want) {
	s := sum(m, window, want.serving(kind, p))
	t := p.take(s, want)
	if p.place != OnCPU {
		s.Driver = int64(max(len(p.gpus), 1)) * driverOf(p.gpus0())
		s.Compute *= int64(max(len(p.gpus), 1))
	} else {
		s.OnCPU, s.Host = 0, 0
	}
	d.pool, d.on = p, spread{}
	d.fit.Window, d.fit.Place, d.fit.Cache, d.fit.Sum = window, p.place, kind, s
	d.fit.Need, d.fit.Room, d.fit.Main, d.fit.Bound = t.need, t.room, t.main, !m.Geometry.Known()
	d.fit.Speed = p.predict(m, window, kind, spread{}, want)
	d.warn(m, want)
}

// warn tells what a person should know of a place before the model is loaded.
func (d *decision) warn(m ModelInfo, want Want) {
	rate := d.fit.Speed.Deep
	_, known := d.pool.bandwidth()
	switch {
	case d.fit.Place == OnBoth && d.verdict == ExpertOffload && rate >= usableFrom:
		d.fit.Warnings = append(d.fit.Warnings, fmt.Sprintf("%s does not fit the GPU alone; %s of its experts (%.0f%%) stay in main memory", m.Name, Bytes(d.spilled), 100*d.on.experts))
	case d.fit.Place == OnBoth:
		d.fit.Warnings = append(d.fit.Warnings, fmt.Sprintf("%s does not fit the GPU alone; part of it runs on the processor, which is slow", m.Name))
	}
	if known && rate > 0 && rate < usableFrom && (d.fit.Place == OnBoth || d.fit.Place == OnCPU) {
		d.fit.Warnings = append(d.fit.Warnings, fmt.Sprintf("%s is predicted to write about %.1f tokens a second", m.Name, rate))
	}
	if want.CacheType.quantised() && !d.fit.Cache.quantised() {
		d.fit.Warnings = append(d.fit.Warnings, fmt.Sprintf("keys and values cannot be kept in %s here: it takes flash attention, and heads of whole blocks of 32", want.CacheType))
	}
}

// split leaves part of a model in main memory: experts, or with a dense model layers. A mixture may have the next
// window after the floor, when it is as fast as with the floor.
func (d *decision) split(all []pool, m ModelInfo, b bounds, want Want, anyhow bool) bool {
	gpu, main := sides(all)
	if gpu.bytes == 0 || main.bytes == 0 {
		return false
	}
	windows := []int{b.floor}
	if m.expertBytes() > 0 && b.target > b.floor {
		next := b.target
		for _, n := range ladder {
			if n > b.floor && n < next {
				next = n
			}
		}
		windows = append(windows, next)
	}
	found, before := false, slices.Clip(d.fit.Warnings)
	for _, window := range windows {
		kinds := gpu.kinds(m, want) // the last is the smallest, and what is smaller spills less
		attempt := decision{fit: Fit{Warnings: before}}
		if !attempt.spill(gpu, main, m, window, kinds[len(kinds)-1], want, anyhow) {
			continue
		}
		if !found || attempt.fit.Speed.Class == d.fit.Speed.Class {
			*d, found = attempt, true
		}
	}
	return found
}

// spill judges one window of a split model.
func (d *decision) spill(gpu, main pool, m ModelInfo, window int, kind CacheType, want Want, anyhow bool) bool {
	s := sum(m, window, want.serving(kind, gpu))
	t := gpu.take(s, want)
	over := max(t.need-gpu.bytes, 0)
	room := max(main.bytes-s.HostCache-s.beside(), 0)
	if over > room {
		return false
	}
	experts := m.expertBytes()
	depth, least := deep, float64(leastOffload)
	d.verdict = ExpertOffload
	if experts > 0 && float64(over) <= mostSpill*float64(experts) {
		d.on = spread{experts: float64(over) / float64(experts)}
		s.OnCPU += over
	} else {
		if experts > 0 && !anyhow {
			return false
		}
		layers := max(s.Weights-s.OnCPU+s.Cache+s.State, 1)
		part := min(float64(over)/float64(layers), 1)
		d.verdict, d.on = PartialOffload, spread{part, part}
		depth, least = shallow, leastPartial
		s.OnCPU += int64(part * float64(s.Weights-s.OnCPU))
	}
	rate := gpu.decode(m, min(depth, window), kind, d.on)
	if want.Measured.Decode > 0 {
		rate = want.Measured.Decode
	}
	if rate < least && !anyhow {
		return false
	}
	s.Driver = int64(len(gpu.gpus)) * driverOf(gpu.gpus0())
	s.Compute *= int64(len(gpu.gpus))
	d.pool, d.spilled = gpu, over
	d.fit.Window, d.fit.Place, d.fit.Cache, d.fit.Sum = window, OnBoth, kind, s
	d.fit.Need, d.fit.Room, d.fit.Main, d.fit.Bound = t.need, gpu.bytes+room, over+t.main, !m.Geometry.Known()
	d.fit.Speed = gpu.predict(m, window, kind, d.on, want)
	d.warn(m, want)
	return true
}

// onCPU leaves a model to the processor, if it writes at least so many tokens a second there.
func (d *decision) onCPU(all []pool, m ModelInfo, b bounds, want Want, least float64) bool {
	for _, p := range all {
		if p.place != OnCPU {
			continue
		}
		kind := p.kinds(m, want)[0]
		fits := func(n int) bool { return p.take(sum(m, n, want.serving(kind, p)), want).fits }
		n := largestStep(fits, b.floor, b.target)
		if n == 0 || p.predict(m, n, kind, spread{}, want).Deep < least {
			return false
		}
		d.verdict = CPUOnly
		d.settle(p, m, n, kind, want)
		return true
	}
	return false
}

// tooBig refuses with the numbers of the roomiest place, and names the largest window that would fit there.
func tooBig(m ModelInfo, all []pool, window int, want Want) error {
	if r := tooSlow(m, all, window, want); r != nil {
		return r
	}
	gpu, main := sides(all)
	best, kind := roomiest(m, all, want)
	t := best.take(sum(m, window, want.serving(kind, best)), want)
	where := string(best.place)
	switch {
	case gpu.bytes > 0 && main.bytes > 0: // not even with both
		kinds := gpu.kinds(m, want)
		s := sum(m, window, want.serving(kinds[len(kinds)-1], gpu))
		t.need, t.room, where = gpu.take(s, want).need, gpu.bytes+max(main.bytes-s.HostCache-s.beside(), 0), string(OnBoth)
	case t.need <= t.room && best.shared:
		t.need, t.room = t.need+t.main, best.most
	case t.need <= t.room:
		t.need, t.room, where = t.main, max(best.main, 0), "main memory beside the GPU"
	}
	refusal := &Refusal{
		Code: TooBig, Model: m.Name, Needed: t.need, Available: t.room,
		Text: fmt.Sprintf("fit %s with a window of %d tokens: needs %s of %s, %s usable", m.Name, window, amount(t.need, !m.Geometry.Known(), "about "), where, Bytes(t.room)),
		Try:  "name a smaller model with -m, or free memory",
	}
	if !m.Geometry.Known() {
		refusal.Text += "; its layers are not known, so this is a bound made from the size of its files"
	}
	for n := (window - 1) / handRound * handRound; n >= handRound; n -= handRound {
		if best.take(sum(m, n, want.serving(kind, best)), want).fits {
			refusal.Try += fmt.Sprintf(", or accept a smaller window with -c model_context_window=%d", n)
			break
		}
	}
	return refusal
}

// tooSlow refuses a model that would fit split or on the processor, but be no use there; nil when it does not even fit.
func tooSlow(m ModelInfo, all []pool, window int, want Want) error {
	if want.Slow {
		return nil
	}
	var d decision
	b := bounds{window, window, window}
	if !d.split(all, m, b, want, true) && !d.onCPU(all, m, b, want, 0) {
		return nil
	}
	refusal := &Refusal{
		Code: TooSlow, Model: m.Name, Needed: d.fit.Need, Available: d.fit.Room, Try: "name a smaller model with -m",
	}
	if d.verdict == PartialOffload && m.expertBytes() > 0 {
		refusal.Code, refusal.Available = TooBig, d.pool.bytes
		refusal.Text = fmt.Sprintf("fit %s with a window of %d tokens: only with %s of its experts (%.0f%%) in main memory, more than the %.0f%% that it can spare",
			m.Name, window, Bytes(d.spilled), 100*float64(d.spilled)/float64(m.expertBytes()), 100*mostSpill)
		return refusal
	}
	depth, rate, least := deep, d.fit.Speed.Deep, leastCPU
	switch d.verdict {
	case ExpertOffload:
		least = leastOffload
	case PartialOffload:
		depth, least = shallow, leastPartial
		rate = d.pool.decode(m, min(shallow, window), d.fit.Cache, d.on)
	}
	refusal.Text = fmt.Sprintf("fit %s with a window of %d tokens: it fits only in %s, and would write about %.1f tokens a second at %d tokens; %d are needed",
		m.Name, window, d.fit.Place, rate, min(depth, window), least)
	if d.fit.Bound {
		refusal.Text += "; its layers are not known, so these are bounds made from the size of its files"
	}
	return refusal
}

// sides are the roomiest pool of cards with memory of their own, and main memory; zero where there is none.
func sides(all []pool) (gpu, main pool) {
	for _, p := range all {
		switch {
		case p.place == OnCPU:
			main = p
		case !p.shared && p.bytes > gpu.bytes:
			gpu = p
		}
	}
	return gpu, main
}

// roomiest is the pool with the most room for a model, and the smallest format of keys and values there.
func roomiest(m ModelInfo, all []pool, want Want) (pool, CacheType) {
	best := pool{place: OnCPU}
	for i, p := range all {
		if i == 0 || p.bytes > best.bytes {
			best = p
		}
	}
	kinds := best.kinds(m, want)
	return best, kinds[len(kinds)-1]
}
