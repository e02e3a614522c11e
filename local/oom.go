package local

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"interpreter/local/chat"
	"interpreter/probes"
)

// smallBatch is the tokens read at a time when memory is tight. It is the size that the memory model counts with.
const smallBatch = microBatch

// slowest is the fewest tokens a second at which a model on the processor is worth its memory.
const slowest = 4

// squeeze is what has been tried to make a model fit after the server ran out of memory. Each step is taken once, in
// this order: our other models go, less is read at a time, the window shrinks to the floor, the processor does it.
type squeeze struct {
	repeated bool // a crash without a word about memory is tried once more as it is
	unloaded bool
	steps    []string
	last     error
}

// obtain has the server load a model, and answers want of memory step by step. What was loaded in the end is in fit
// and l.
func (r *run) obtain(ctx context.Context, c *choice, fit *Fit, l *Loading) (chat.Model, error) {
	var s squeeze
	for {
		model, err := r.ask(ctx, *c, *l)
		if err == nil {
			return model, nil
		}
		crash := isCrash(err)
		if ctx.Err() != nil || l.Adopt || l.Remote || !crash && !isMemory(err) {
			return nil, fmt.Errorf("load %s: %w", c.model.Name, err)
		}
		s.last = err
		if crash && !s.repeated && len(s.steps) == 0 {
			s.repeated = true
			if err := r.warn("load", fmt.Sprintf("what runs %s ended while it loaded; once more", c.model.Name)); err != nil {
				return nil, err
			}
			continue
		}
		window := l.Window
		step := r.relieve(ctx, &s, c, fit, l)
		if step == "" {
			return nil, r.outOfMemory(ctx, s, *c, *fit, *l)
		}
		s.steps = append(s.steps, step)
		if err := r.warn("load", fmt.Sprintf("the server ran out of memory with %d tokens; trying %s", window, step)); err != nil {
			return nil, err
		}
	}
}

// relieve takes the next step and names it, "" when there is none left.
func (r *run) relieve(ctx context.Context, s *squeeze, c *choice, fit *Fit, l *Loading) string {
	if !s.unloaded {
		s.unloaded = true
		if names := r.unloadOurs(ctx, c); names != "" {
			return "again without " + names
		}
	}
	if l.Batch == 0 || l.Batch > smallBatch {
		l.Batch = smallBatch
		return fmt.Sprintf("to read %d tokens at a time", smallBatch)
	}
	if lower := lowerStep(l.Window, c.model); r.Window == 0 && lower > 0 {
		l.Window, fit.Window = lower, lower
		return fmt.Sprintf("%d tokens", lower)
	}
	if !l.OnCPU && r.runsOnCPU(ctx, *c, l.Window) {
		l.OnCPU, fit.Place = true, OnCPU
		return "the processor alone"
	}
	return ""
}

// lowerStep is the next smaller window of the ladder, 0 when that would be less than an agent needs.
func lowerStep(window int, m ModelInfo) int {
	for _, n := range ladder {
		if n < window {
			return n
		}
	}
	if own := m.Trained / granule * granule; own >= NearFloor && own < Floor && own < window {
		return own
	}
	return 0
}

// unloadOurs gives back the memory of other models that this program loaded, and names them.
func (r *run) unloadOurs(ctx context.Context, c *choice) string {
	unloader, ok := c.Provider.(Unloader)
	if !ok {
		return ""
	}
	var names []string
	for _, have := range others(*c) {
		if _, ours := r.ours(*c, have); !ours || unloader.Unload(ctx, have) != nil {
			continue
		}
		names = append(names, have.Name)
		r.loads().drop(c.Address(), have)
	}
	return strings.Join(names, " and ")
}

// runsOnCPU reports a model that a machine with a GPU can run at a bearable speed without it.
func (r *run) runsOnCPU(ctx context.Context, c choice, window int) bool {
	if !r.here(c.Address()) {
		return false
	}
	machine := r.measured(ctx)
	if len(machine.GPUs) == 0 || machine.Unified > 0 {
		return false
	}
	machine.GPUs = []probes.GPU{}
	want := r.corrected(c)
	want.Window, want.Most = window, 0
	fit, err := ChooseWindow(c.model, machine, held(c.residents), want)
	return err == nil && fit.Place == OnCPU && fit.Speed.Deep >= slowest
}

// outOfMemory says what was tried, and what is left for a person to do.
func (r *run) outOfMemory(ctx context.Context, s squeeze, c choice, fit Fit, l Loading) error {
	text := fmt.Sprintf("load %s with a window of %d tokens: the server ran out of memory", c.model.Name, l.Window)
	if len(s.steps) > 0 {
		text += "; tried " + strings.Join(s.steps, ", ")
	}
	var ways []string
	if counsel, ok := c.Provider.(Counsel); ok && r.cacheOf(c).element() == 2 {
		if relief := counsel.Relieve(); relief != "" {
			ways = append(ways, relief)
		}
	}
	if r.Window > Floor {
		ways = append(ways, fmt.Sprintf("-c model_context_window=%d", Floor))
	}
	if c.model.Can("vision") {
		ways = append(ways, "a variant of the model that cannot see, which needs less")
	}
	ways = append(ways, "a smaller quantization of it", r.another(ctx, c.model.Name))
	if entry, listed := Lookup(c.model.Name); listed && len(entry.Alternatives) > 0 {
		ways = append(ways, "one of "+strings.Join(entry.Alternatives[:min(len(entry.Alternatives), 3)], ", "))
	}
	return &Refusal{
		Code: NoMemory, Model: c.model.Name, Needed: fit.Need, Available: fit.Room,
		Text: text, Try: strings.Join(ways, ", or "), Err: s.last,
	}
}

func isMemory(err error) bool {
	if refusal := (*Refusal)(nil); errors.As(err, &refusal) && refusal.Code == NoMemory {
		return true
	}
	var failure *chat.Error
	return errors.As(err, &failure) && failure.Kind == chat.Memory
}

func isCrash(err error) bool {
	var failure *chat.Error
	return errors.As(err, &failure) && failure.Crash
}
