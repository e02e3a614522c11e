package local

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"interpreter/probes"
)

// expiring is how soon a server will give up a model so that nobody needs to be asked.
const expiring = 30 * time.Second

// ours finds what this program loaded of what is in memory.
func (r *run) ours(c choice, have Resident) (load, bool) {
	return r.loads().of(c.Address(), have, r.Now())
}

// loads is the record, read once.
func (r *run) loads() *loadFile {
	if r.record == nil {
		file := readLoads(r.Loads)
		r.record = &file
	}
	return r.record
}

// fixed reports a server that serves one window and loads nothing again.
func fixed(c choice) bool {
	f, ok := c.Provider.(Fixed)
	return ok && f.FixedWindow()
}

// going reports a model that the server is about to unload.
func (r *run) going(have Resident) bool {
	left := have.Until.Sub(r.Now())
	return !have.Until.IsZero() && left > 0 && left < expiring
}

// adopted is the window to work with in a resident model that needs no other, 0 when there is none. It may be less
// than what is loaded, when less was asked for.
func adopted(c choice, want Want) int {
	have, ok := resident(c.residents, c.model)
	if !ok || have.Window == 0 {
		return 0
	}
	if want.Window > 0 {
		if fit := stated(c.model, want); fit.Window <= have.Window {
			return fit.Window
		}
		return 0
	}
	if c.model.Trained > 0 && c.model.Trained < NearFloor {
		return 0
	}
	floor := Floor
	if c.model.Trained >= NearFloor {
		floor = min(floor, c.model.Trained/granule*granule)
	}
	switch {
	case have.Window < floor:
		return 0
	case want.Most > 0 && want.Most < have.Window:
		return max(want.Most/granule*granule, granule)
	}
	return have.Window
}

// adopt uses a resident model as it is, when it is enough: with all the options it was loaded with when we did that,
// and with nothing but its window when somebody else did. Our own is loaded again for another window that a person
// names.
func (r *run) adopt(c choice) (Fit, Loading, bool) {
	n := adopted(c, r.want())
	have, _ := resident(c.residents, c.model)
	less := n == 0 && r.Window > 0 && fixed(c) && have.Window >= Floor
	if less {
		n = have.Window
	}
	if n == 0 {
		return Fit{}, Loading{}, false
	}
	fit := Fit{Window: n, Loaded: true, Cache: r.cacheOf(c)}
	if r.Window > 0 {
		fit.Warnings = stated(c.model, r.want()).Warnings
	}
	if less {
		fit.Warnings = append(fit.Warnings, fmt.Sprintf("a window of %d tokens was asked for, %s serves %d: that is what counts", r.Window, c.Name(), have.Window))
	}
	if l, ours := r.ours(c, have); ours && !fixed(c) {
		if n != have.Window {
			return Fit{}, Loading{}, false
		}
		return fit, Loading{Window: have.Window, Batch: l.Batch, OnCPU: l.OnCPU}, true
	}
	return fit, Loading{Window: have.Window, Adopt: true}, true
}

// displace settles what a load would do to models in memory that other programs use: the same one with another
// window, and those that must go for it. A person is asked, or the load is refused.
func (r *run) displace(ctx context.Context, c choice, fit Fit) error {
	have, ok := resident(c.residents, c.model)
	if !ok || have.Window == 0 || have.Window == fit.Window {
		return nil
	}
	if fixed(c) {
		return nil // Load says what its server serves, and how to start it with more
	}
	text := fmt.Sprintf("%s is loaded with a window of %d tokens; it is loaded again with %d", c.model.Name, have.Window, fit.Window)
	if _, ours := r.ours(c, have); ours || r.going(have) {
		return r.warn("window", text)
	}
	text = fmt.Sprintf("%s is loaded by another program with a window of %d tokens; %d are needed here", c.model.Name, have.Window, fit.Window)
	if r.Reload != nil && r.Reload(text+". Load it again? The other program loses what the server has read for it.") {
		return r.warn("window", text+"; it is loaded again with "+fmt.Sprint(fit.Window))
	}
	if err := r.warn("window", text+"; without consent it is left alone"); err != nil {
		return err
	}
	return &Refusal{
		Code: InUse, Model: c.model.Name, Needed: int64(fit.Window), Available: int64(have.Window),
		Text: fmt.Sprintf("load %s: another program has loaded it with a window of %d tokens, %d are needed here", c.model.Name, have.Window, fit.Window),
		Try:  strings.Join(r.waysOut(ctx, c, fit.Window), ", or "),
	}
}

// waysOut is what a person can do about a model that another program uses.
func (r *run) waysOut(ctx context.Context, c choice, window int) []string {
	ways := []string{"--reload, to load it again all the same"}
	if counsel, ok := c.Provider.(Counsel); ok {
		ways = append(ways, counsel.Share(c.model.Name, window)...)
	}
	if other := r.another(ctx, c.model.Name); strings.HasPrefix(other, "-m ") {
		ways = append(ways, other)
	} else {
		ways = append(ways, "another model with -m")
	}
	return ways
}

// others are the residents that are not the model.
func others(c choice) []Resident {
	return slices.DeleteFunc(slices.Clone(c.residents), func(have Resident) bool {
		_, same := resident([]Resident{have}, c.model)
		return same
	})
}

// beside fits a model next to what other programs have in memory, and if there is no room for both asks whether they
// may go. Models of our own count as gone.
func (r *run) beside(ctx context.Context, c *choice) (Fit, error) {
	machine, err := r.judging(ctx, c)
	if err != nil {
		return Fit{}, err
	}
	want := r.corrected(*c)
	alone, err := ChooseWindow(c.model, machine, held(c.residents), want)
	if err != nil || alone.Place == "" {
		return alone, err
	}
	var staying []Resident
	for _, have := range others(*c) {
		if _, ours := r.ours(*c, have); !ours && !r.going(have) {
			staying = append(staying, have)
		}
	}
	if len(staying) == 0 {
		return alone, nil
	}
	gone := slices.DeleteFunc(slices.Clone(c.residents), func(have Resident) bool {
		return slices.ContainsFunc(staying, func(s Resident) bool { return s.Name == have.Name && s.ID == have.ID })
	})
	names, bytes := residentNames(staying)
	together, err := ChooseWindow(c.model, machine, held(gone), want)
	if err == nil && together.Place == alone.Place {
		if together.Window < alone.Window {
			together.Warnings = append(together.Warnings, fmt.Sprintf("%s stays in memory beside it; without, the window could have %d tokens", names, alone.Window))
		}
		return together, nil
	}
	text := fmt.Sprintf("%s fits only when %s (%s, loaded by another program) goes", c.model.Name, names, Bytes(bytes))
	if r.Reload != nil && r.Reload(text+". May the server unload it?") {
		alone.Warnings = append(alone.Warnings, text+"; the server unloads it")
		return alone, nil
	}
	if warned := r.warn("window", text+"; without consent it is left alone"); warned != nil {
		return Fit{}, warned
	}
	if err == nil { // it fits beside it after all, in a slower place
		return together, nil
	}
	ways := []string{"--reload, to let the server unload it"}
	if counsel, ok := c.Provider.(Counsel); ok {
		for _, have := range staying {
			ways = append(ways, counsel.Share(have.Name, 0)...)
		}
	}
	ways = append(ways, "-m "+staying[0].Name+", or a smaller model")
	return Fit{}, &Refusal{
		Code: InUse, Model: c.model.Name, Needed: alone.Need, Available: max(alone.Room-bytes, 0),
		Text: fmt.Sprintf("load %s: needs about %s of %s, and %s, which another program has loaded, holds %s of it",
			c.model.Name, Bytes(alone.Need), alone.Place, names, Bytes(bytes)),
		Try: strings.Join(ways, ", or "),
	}
}

func residentNames(list []Resident) (names string, bytes int64) {
	for i, have := range list {
		if i > 0 {
			names += " and "
		}
		names += have.Name
		bytes += have.Size
	}
	return names, bytes
}

// judging is the machine that a model is judged by: none at all for a server elsewhere. Counts per layer that are
// costly to ask for are asked for now.
func (r *run) judging(ctx context.Context, c *choice) (probes.Machine, error) {
	if !r.here(c.Address()) {
		return probes.Machine{}, nil
	}
	if measurer, ok := c.Provider.(Measurer); ok && c.model.Geometry.Partial {
		full, err := measurer.Measure(ctx, c.model)
		if err != nil {
			return probes.Machine{}, fmt.Errorf("look at %s: %w", c.model.Name, err)
		}
		c.model.Geometry = full.Geometry
	}
	return r.measured(ctx), nil
}
