package local

import (
	"context"
	"fmt"
	"slices"
	"time"

	"interpreter/local/chat"
)

// verify asks the server what it loaded. Less than an agent needs is refused unless a person asked for so little.
func (r *run) verify(ctx context.Context, c choice, window int) (Resident, error) {
	loaded, err := c.Loaded(ctx)
	if err != nil {
		return Resident{}, fmt.Errorf("list the loaded models of %s at %s: %w", c.Name(), c.Address(), err)
	}
	have, ok := resident(slices.DeleteFunc(slices.Clone(loaded), func(have Resident) bool { return have.Window != window }), c.model)
	if !ok {
		have, ok = resident(loaded, c.model)
	}
	if !ok && len(loaded) == 1 && !loaded[0].Guessed {
		// Ollama lists models that share weights under the name that was loaded first.
		have, ok = loaded[0], true
	}
	switch {
	case !ok || have.Window == 0:
		return have, r.warn("load", "the server does not say what window it loaded; it cannot be verified")
	case have.Window == window:
		return have, r.tell("load", "loaded with %d tokens", have.Window)
	case have.Window < min(window, Floor):
		return have, &Refusal{
			Code: WrongWindow, Model: c.model.Name, Needed: int64(window), Available: int64(have.Window),
			Text: fmt.Sprintf("load %s: asked for a window of %d tokens, the server loaded %d", c.model.Name, window, have.Window),
			Try:  "end other programs that use this model with another window, or free memory; -c model_context_window=N accepts a smaller one",
		}
	}
	return have, r.warn("load", fmt.Sprintf("asked for a window of %d tokens, the server loaded %d: that is what counts", window, have.Window))
}

// spilled is the share on the GPU below which a model that was to be wholly there is not.
const spilled = 0.98

// placed compares where the model went with the prediction. One that was to be on the GPU alone and is not is loaded
// once more with a smaller batch, which needs less there; then it is taken as it is.
func (r *run) placed(ctx context.Context, c *choice, fit *Fit, l *Loading, model chat.Model, have Resident) (chat.Model, Resident, error) {
	whole := fit.Place == OnGPU || fit.Place == OnGPUs || fit.Place == OnUnified
	share := func() float64 { return float64(have.VRAM) / float64(have.Size) }
	if have.Guessed || have.Size <= 0 || have.VRAM >= have.Size || share() >= spilled {
		return model, have, nil
	}
	if whole && l.Batch == 0 && !l.Adopt {
		text := fmt.Sprintf("only %.0f%% of %s is on the GPU, all of it was to be; loading it again to read %d tokens at a time", 100*share(), c.model.Name, smallBatch)
		if err := r.warn("load", text); err != nil {
			return nil, have, err
		}
		l.Batch = smallBatch
		again, err := r.obtain(ctx, c, fit, l)
		if err != nil {
			return nil, have, err
		}
		model = again
		if have, err = r.verify(ctx, *c, l.Window); err != nil {
			return nil, have, err
		}
		if have.Size <= 0 || share() >= spilled {
			return model, have, nil
		}
	}
	if !whole && have.VRAM == 0 {
		return model, have, nil // a model in main memory, as was expected
	}
	text := fmt.Sprintf("only %.0f%% of %s is on the GPU; the rest runs on the processor, which is slow", 100*share(), c.model.Name)
	return model, have, r.warn("load", text)
}

// warnSlots tells of a model that was loaded with room for several conversations, by a server that may or may not have
// them share one window, and how to have room for one.
func (r *run) warnSlots(c choice, fit Fit, have Resident) error {
	single, can := c.Provider.(Single)
	if !can || have.Slots <= 1 {
		return nil
	}
	keeps := func(slots int) int64 {
		s := sum(c.model, fit.Window, serving{kind: fit.Cache, slots: slots, batch: microBatch})
		return s.Cache + s.State
	}
	text := fmt.Sprintf("room is kept for %d conversations of %s", have.Slots, c.model.Name)
	if more := keeps(have.Slots) - keeps(1); more > 0 && c.model.Size > 0 {
		text += fmt.Sprintf(": unless they share one window of %d tokens, which %s does not tell, that takes up to %s more than one", fit.Window, c.Name(), Bytes(more))
	}
	return r.warn("load", text+"; to keep room for one: "+single.LoadSingle(c.model.Name, fit.Window))
}

// remember records what was loaded, and how well its memory was predicted. A record that cannot be kept is a warning.
func (r *run) remember(c choice, fit Fit, l Loading, have Resident) error {
	if r.Loads == "" {
		return nil
	}
	// The server counts neither its driver nor the prompts that it sets aside.
	s := fit.Sum
	predicted := s.Weights + s.Cache + s.State + s.Compute + s.Host + s.Projector
	ratio := measuredRatio(have.Size, predicted)
	file, err := changeLoads(r.Loads, func(file *loadFile) {
		if l.Adopt {
			file.drop(c.Address(), Resident{Name: c.model.Name, Digest: c.model.Digest})
		} else {
			file.keep(load{
				Address: c.Address(), Model: c.model.Name, Digest: c.model.Digest, Window: l.Window, Batch: l.Batch, OnCPU: l.OnCPU,
				When: r.Now().UTC().Truncate(time.Second),
			})
		}
		if ratio > 0 && !have.Guessed && !fit.Loaded && l.Batch == 0 {
			if file.Ratios == nil {
				file.Ratios = map[string]float64{}
			}
			file.Ratios[ratioKey(c)] = ratio
		}
	})
	r.record = &file
	if err != nil {
		return r.warn("load", err.Error())
	}
	return nil
}
