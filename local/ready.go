package local

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"interpreter/local/chat"
	"interpreter/probes"
)

// Options are the wishes behind one Ready. Only Providers is needed.
type Options struct {
	Providers  []Provider                           // in order of preference
	Machine    func(context.Context) probes.Machine // probes.Probe; asked at most once, and only when a fit must be judged
	Model      string                               // the wish of this run
	Configured string                               // the wish of the configuration
	Window     int                                  // exactly this window in tokens; 0: choose
	MaxWindow  int                                  // at most this window; 0: no cap
	CacheType  CacheType                            // what the server keeps keys and values in, when it is known not to be f16
	Pull       bool                                 // download a named model that is missing
	Verdicts   string                               // path of the file of verdicts; "": keep none
	SkipCheck  bool                                 // hand the model over without the tool check
	Patience   Patience
	// Rescue reads calls that a model writes as text, as the harness to come does; nil: such a model fails the check.
	Rescue func(chat.Message) (chat.Message, error)
	// CheckFor bounds the tool check; a model that is too slow for it is handed over unproven. 0: three minutes.
	CheckFor time.Duration
	Now      func() time.Time // time.Now unless a test says otherwise

	// Prefix is how the session to come will begin; the tool check is made behind it, so that the server has read it
	// by then. nil: the check stands alone.
	Prefix func(ModelInfo, int) (Prefix, error)
	// Reload is the consent to load a model again that somebody else has loaded with too small a window, or to evict
	// one that is in use. nil is no.
	Reload func(question string) bool
	// Remote allows the model named for this run to run on another machine than the server's.
	Remote bool
	// Loads is the path of the record of what this program has loaded; "": keep none.
	Loads string
}

// Prefix is how every request of a session begins: its first messages and its tools, in their final bytes.
type Prefix struct {
	Harness  string
	Messages []chat.Message
	Tools    []chat.Spec
}

// Stage tells what Ready is doing. Name is "find", "choose", "pull", "window", "load", "check" or "ready"; the last
// Stage has Ready set.
type Stage struct {
	Name     string
	Text     string
	Long     bool // what begins now may take minutes
	Progress *Progress
	Warning  string
	Ready    *Prepared
}

// Prepared is a model that is loaded with the window named and has shown that it calls tools.
type Prepared struct {
	Model    chat.Model // asks again by Options.Patience
	Info     ModelInfo
	Window   int
	Provider string
	Address  string
	Local    bool   // the server is on this machine
	Leaves   bool   // what is said leaves this machine for a vendor's
	Wire     string // "ollama" or "chat"
	Server   string // version of the server
	Why      string // why this model and this window, in one line
	Verdict  Verdict
	Resident Resident // what the server says it loaded; zero when it does not say
}

// errStopped ends a run whose consumer has gone.
var errStopped = errors.New("stopped")

// run is one Ready in progress.
type run struct {
	Options
	yield   func(Stage, error) bool
	stage   string
	servers []answering
	machine *probes.Machine
}

// Ready takes a wish to a model that is ready: it finds the server, chooses and if allowed pulls a model, fits the
// window, loads, verifies what was loaded, and has the model call a tool. It yields its stages as they come; the last
// one carries the result, or an error ends the sequence.
func Ready(ctx context.Context, o Options) iter.Seq2[Stage, error] {
	return func(yield func(Stage, error) bool) {
		if o.Now == nil {
			o.Now = time.Now
		}
		if o.CheckFor == 0 {
			o.CheckFor = 3 * time.Minute
		}
		r := &run{Options: o, yield: yield}
		prepared, err := r.prepare(ctx)
		if errors.Is(err, errStopped) {
			return
		}
		if err != nil {
			yield(Stage{Name: r.stage}, err)
			return
		}
		yield(Stage{Name: "ready", Text: fmt.Sprintf("%s is ready, %s", prepared.Info.Name, prepared.Why), Ready: prepared}, nil)
	}
}

// say yields a stage.
func (r *run) say(s Stage) error {
	r.stage = s.Name
	if !r.yield(s, nil) {
		return errStopped
	}
	return nil
}

func (r *run) tell(name, format string, args ...any) error {
	return r.say(Stage{Name: name, Text: fmt.Sprintf(format, args...)})
}

// begin announces what may take minutes.
func (r *run) begin(name, format string, args ...any) error {
	return r.say(Stage{Name: name, Text: fmt.Sprintf(format, args...), Long: true})
}

func (r *run) warn(name string, warnings ...string) error {
	for _, w := range warnings {
		if err := r.say(Stage{Name: name, Warning: w}); err != nil {
			return err
		}
	}
	return nil
}

// measured probes the machine the first time it is asked.
func (r *run) measured(ctx context.Context) probes.Machine {
	if r.machine == nil {
		var m probes.Machine
		if r.Machine != nil {
			m = r.Machine(ctx)
		}
		r.machine = &m
	}
	return *r.machine
}

func (r *run) want() Want { return Want{Window: r.Window, Most: r.MaxWindow, CacheType: r.CacheType} }

func (r *run) prepare(ctx context.Context) (*Prepared, error) {
	r.stage = "find"
	servers, err := find(ctx, r.Providers)
	if err != nil {
		return nil, err
	}
	r.servers = servers
	for _, s := range servers {
		if err := r.tell("find", "%s %s answers at %s", s.Name(), s.version, where(s)); err != nil {
			return nil, err
		}
	}
	r.stage = "choose"
	c, err := r.choose(ctx, servers)
	if err != nil {
		return nil, err
	}
	if err := r.tell("choose", "%s from %s, %s", c.model.Name, c.Name(), c.why); err != nil {
		return nil, err
	}
	if guide, ok := c.Provider.(Guide); ok {
		if advice := guide.Advise(c.version); advice != "" {
			if err := r.warn("choose", advice); err != nil {
				return nil, err
			}
		}
	}
	r.stage = "window"
	fit, err := r.window(ctx, &c)
	if err != nil {
		return nil, err
	}
	p, err := r.load(ctx, c, fit)
	if err != nil {
		return nil, err
	}
	if p.Verdict, err = r.proven(ctx, c, p); err != nil {
		return nil, err
	}
	return p, nil
}

// window adopts what is loaded when it is enough, and fits a window otherwise.
func (r *run) window(ctx context.Context, c *choice) (Fit, error) {
	if n := adopted(*c, r.want()); n > 0 {
		fit := Fit{Window: n, Loaded: true}
		return fit, r.tell("window", "%s is %s", c.model.Name, fit.Why())
	}
	fit, err := r.fit(ctx, c)
	if err != nil {
		return Fit{}, err
	}
	if have, ok := resident(c.residents, c.model); ok && have.Window > 0 && have.Window != fit.Window {
		text := fmt.Sprintf("%s is loaded with a window of %d tokens; it is loaded again with %d", c.model.Name, have.Window, fit.Window)
		if err := r.warn("window", text); err != nil {
			return Fit{}, err
		}
	}
	if err := r.warn("window", fit.Warnings...); err != nil {
		return Fit{}, err
	}
	return fit, r.tell("window", "%s", fit.Why())
}

// adopted is the window of a resident model that needs no other, 0 when there is none.
func adopted(c choice, want Want) int {
	have, ok := resident(c.residents, c.model)
	if !ok {
		return 0
	}
	floor := Floor
	if c.model.Trained >= NearFloor {
		floor = min(floor, c.model.Trained/granule*granule)
	}
	switch {
	case want.Window > 0:
		if fit, err := explicit(c.model, probes.Machine{}, Held{}, want); err == nil && fit.Window == have.Window {
			return have.Window
		}
	case c.model.Trained > 0 && c.model.Trained < NearFloor:
	case have.Window >= floor && (want.Most == 0 || have.Window <= want.Most):
		return have.Window
	}
	return 0
}

func resident(list []Resident, m ModelInfo) (Resident, bool) {
	for _, r := range list {
		if SameModel(r.Name, m.Name) && (r.Digest == "" || m.Digest == "" || r.Digest == m.Digest) {
			return r, true
		}
	}
	return Resident{}, false
}

// fit chooses a window for a model that must be loaded. A server on another machine is not judged by this one.
func (r *run) fit(ctx context.Context, c *choice) (Fit, error) {
	machine := probes.Machine{}
	if OnThisMachine(c.Address()) {
		if measurer, ok := c.Provider.(Measurer); ok && c.model.Geometry.Partial {
			full, err := measurer.Measure(ctx, c.model)
			if err != nil {
				return Fit{}, fmt.Errorf("look at %s: %w", c.model.Name, err)
			}
			c.model.Geometry = full.Geometry
		}
		machine = r.measured(ctx)
	}
	return ChooseWindow(c.model, machine, held(c.residents), r.want())
}

// load loads a model and reads back what the server made of the window. One that turns out too large is tried again
// a step lower, as long as the window was ours to choose.
func (r *run) load(ctx context.Context, c choice, fit Fit) (*Prepared, error) {
	window := fit.Window
	if !fit.Loaded {
		if err := r.begin("load", "loading %s with %d tokens", c.model.Name, window); err != nil {
			return nil, err
		}
	}
	model, err := r.ask(ctx, c, window)
	for r.Window == 0 && isMemory(err) {
		lower := 0
		for _, n := range ladder {
			if n < window {
				lower = n
				break
			}
		}
		if lower == 0 {
			break
		}
		if warned := r.warn("load", fmt.Sprintf("the server ran out of memory with %d tokens; trying %d", window, lower)); warned != nil {
			return nil, warned
		}
		window = lower
		model, err = r.ask(ctx, c, window)
	}
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", c.model.Name, err)
	}
	have, err := r.verify(ctx, c, window)
	if err != nil {
		return nil, err
	}
	if have.Window > 0 && have.Window != window {
		window = have.Window
		// The handle must name the window that is loaded: any other number would load the model again.
		if model, err = c.Load(ctx, c.model, Loading{Window: window}); err != nil {
			return nil, fmt.Errorf("load %s: %w", c.model.Name, err)
		}
	}
	fit.Window = window
	if have.Size > 0 && have.VRAM < have.Size && have.VRAM > 0 {
		text := fmt.Sprintf("only %d%% of %s is on the GPU; the rest runs on the processor, which is slow", have.VRAM*100/have.Size, c.model.Name)
		if err := r.warn("load", text); err != nil {
			return nil, err
		}
	}
	return &Prepared{
		Model: Retry(model, r.Patience), Info: c.model, Window: window, Provider: c.Name(), Address: c.Address(),
		Local: OnThisMachine(c.Address()), Server: c.version, Why: c.why + "; " + fit.Why(), Resident: have,
	}, nil
}

func isMemory(err error) bool {
	var failure *chat.Error
	return errors.As(err, &failure) && failure.Kind == chat.Memory
}

// ask loads, and waits for a server that is busy as for an answer.
func (r *run) ask(ctx context.Context, c choice, window int) (chat.Model, error) {
	b := backoff{Patience: r.Patience.filled()}
	for {
		model, err := c.Load(ctx, c.model, Loading{Window: window})
		if err == nil {
			return model, nil
		}
		wait, again := b.next(err)
		if ctx.Err() != nil || !again {
			return nil, b.gaveUp(err)
		}
		text := fmt.Sprintf("%s; again in %s", wait.Why, wait.For.Round(100*time.Millisecond))
		if err := r.tell("load", "%s", text); err != nil {
			return nil, err
		}
		if err := b.Sleep(ctx, wait.For); err != nil {
			return nil, err
		}
	}
}

// verify asks the server what it loaded. Less than an agent needs is refused unless a person asked for so little.
func (r *run) verify(ctx context.Context, c choice, window int) (Resident, error) {
	loaded, err := c.Loaded(ctx)
	if err != nil {
		return Resident{}, fmt.Errorf("list the loaded models of %s at %s: %w", c.Name(), c.Address(), err)
	}
	have, ok := resident(loaded, c.model)
	if !ok && len(loaded) == 1 {
		// Models that share weights are listed under the name that was loaded first.
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
