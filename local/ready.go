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
	Machine    func(context.Context) probes.Machine // probes.Probe; asked at most once, when a fit or a disk must be judged
	Model      string                               // the wish of this run
	Configured string                               // the wish of the configuration
	Window     int                                  // exactly this window in tokens; 0: choose
	MaxWindow  int                                  // at most this window; 0: no cap
	CacheType  CacheType                            // what the server keeps keys and values in, when it is known not to be f16
	CacheAt    func(address string) CacheType       // the same of one server, where that is known; before CacheType. May be nil
	Pull       bool                                 // download a named model that is missing
	Verdicts   string                               // path of the file of verdicts; "": keep none
	SkipCheck  bool                                 // hand the model over without the tool check
	Patience   Patience
	// Rescue reads calls that a model writes as text, as the harness to come does; nil: such a model fails the check.
	Rescue func(chat.Message) (chat.Message, error)
	// Spoken says that the harness to come takes calls from text, so that a model need not declare tools.
	Spoken bool
	// CheckFor bounds the tool check; a model that is too slow for it is handed over unproven. 0: 90 seconds for a model
	// that is wholly on a GPU, else three minutes.
	CheckFor time.Duration
	Thorough bool             // the tool check with all its stages, whatever verdict is kept
	Now      func() time.Time // time.Now unless a test says otherwise

	// Prefix is how the session to come will begin; the tool check is made behind it, so that the server has read it
	// by then. nil: the check stands alone.
	Prefix func(ModelInfo, int) (Prefix, error)
	// Reload is the consent to load a model again that somebody else has loaded with too small a window, or to evict
	// one that is in use. nil is no.
	Reload func(question string) bool
	// Remote allows the model named for this run to run on another machine than the server's.
	Remote bool
	// Forwarded reports a loopback port behind which another machine may be: probes.Forwarded. nil: none is.
	Forwarded func(port int) bool
	// Loads is the path of the record of what this program has loaded; "": keep none.
	Loads string
}

// Prefix is how every request of a session begins: its first messages and its tools, in their final bytes.
type Prefix struct {
	Harness  string
	Messages []chat.Message
	Tools    []chat.Spec
	Effort   string // of the session's requests
	Join     bool   // the first prompt goes on the last of Messages, which is the user's
	Spoken   bool   // calls are text: no tools are offered, and Read finds them
	Read     func(chat.Message) (chat.Message, error)
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
	Report   Report   // of the tool check; zero when it was skipped
	Prefill  float64  // tokens it reads in a second, as the last tool check measured; 0: not known
	Warm     bool     // the server has just read the session's opening, with the tool check
	Resident Resident // what the server says it loaded; zero when it does not say
	ledger   ledger   // where the verdict is kept
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
	record  *loadFile
}

// Ready takes a wish to a model that is ready: it finds the server, chooses and if allowed pulls a model, fits the
// window, loads, verifies what was loaded, and has the model call a tool. It yields its stages as they come; the last
// one carries the result, or an error ends the sequence.
func Ready(ctx context.Context, o Options) iter.Seq2[Stage, error] {
	return func(yield func(Stage, error) bool) {
		if o.Now == nil {
			o.Now = time.Now
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

func (r *run) want() Want {
	return Want{Window: r.Window, Most: r.MaxWindow, CacheType: r.CacheType, Images: true}
}

// cacheOf is what a choice's server keeps keys and values in, as far as that is known.
func (r *run) cacheOf(c choice) CacheType {
	if r.CacheAt != nil {
		if kind := r.CacheAt(c.Address()); kind != "" {
			return kind
		}
	}
	return r.CacheType
}

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
	if err := r.warnElsewhere(c); err != nil {
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
	fit, l, err := r.window(ctx, &c)
	if err != nil {
		return nil, err
	}
	p, err := r.load(ctx, c, fit, l)
	if err != nil {
		return nil, err
	}
	if p.Verdict, err = r.proven(ctx, c, p); err != nil {
		return nil, err
	}
	return p, nil
}

// window adopts what is loaded when it is enough, and fits a window otherwise.
func (r *run) window(ctx context.Context, c *choice) (Fit, Loading, error) {
	if c.remote {
		return r.remoteWindow(*c)
	}
	if fit, l, ok := r.adopt(*c); ok {
		if err := r.warn("window", fit.Warnings...); err != nil {
			return Fit{}, Loading{}, err
		}
		text := fmt.Sprintf("%s is loaded already with a window of %d tokens", c.model.Name, l.Window)
		if l.Window != fit.Window {
			text += fmt.Sprintf("; %d of them are used", fit.Window)
		}
		return fit, l, r.tell("window", "%s", text)
	}
	fit, err := r.beside(ctx, c)
	if err == nil {
		err = r.displace(ctx, *c, fit)
	}
	if err == nil {
		err = r.warn("window", fit.Warnings...)
	}
	if err != nil {
		return Fit{}, Loading{}, err
	}
	return fit, Loading{Window: fit.Window}, r.tell("window", "%s", fit.Why())
}

// resident finds a model among those in memory, the one with the largest window when it is there more than once.
func resident(list []Resident, m ModelInfo) (Resident, bool) {
	var found Resident
	ok := false
	for _, have := range list {
		same := SameModel(have.Name, m.Name) && (have.Digest == "" || m.Digest == "" || bare(have.Digest) == bare(m.Digest))
		if same && (!ok || have.Window > found.Window) {
			found, ok = have, true
		}
	}
	return found, ok
}

// fit chooses a window for a model that may have all that its server holds. A server on another machine is not judged
// by this one.
func (r *run) fit(ctx context.Context, c *choice) (Fit, error) {
	machine, err := r.judging(ctx, c)
	if err != nil {
		return Fit{}, err
	}
	return ChooseWindow(c.model, machine, held(c.residents), r.corrected(*c))
}

// corrected is the wish, with what is known of the server: its engine, and what earlier predictions were wrong by.
func (r *run) corrected(c choice) Want {
	want := r.want()
	want.CacheType = r.cacheOf(c)
	return want.OnServer(Server{Provider: c.Provider, Version: c.version}, c.model, c.residents, Lessons{r.Verdicts, r.Loads})
}

// refit predicts anew when another window was loaded than was to be.
func (r *run) refit(ctx context.Context, c choice, fit Fit, planned, window int) Fit {
	if window == planned {
		return fit
	}
	fit.Window = window
	if fit.Place == "" {
		return fit
	}
	want := r.corrected(c)
	want.Window, want.Most = window, 0
	if again, err := ChooseWindow(c.model, r.measured(ctx), held(c.residents), want); err == nil && again.Window == window {
		return again
	}
	return fit
}

// load loads a model, reads back what the server made of it, and keeps a record of both.
func (r *run) load(ctx context.Context, c choice, fit Fit, l Loading) (*Prepared, error) {
	if !fit.Loaded && !l.Remote {
		if err := r.begin("load", "loading %s with %d tokens", c.model.Name, l.Window); err != nil {
			return nil, err
		}
	}
	planned := l.Window
	model, err := r.obtain(ctx, &c, &fit, &l)
	if err != nil {
		return nil, err
	}
	var have Resident
	if !l.Remote {
		if have, err = r.verify(ctx, c, l.Window); err != nil {
			return nil, err
		}
		if model, have, err = r.placed(ctx, &c, &fit, &l, model, have); err != nil {
			return nil, err
		}
		if have.Window > 0 && have.Window != l.Window {
			l.Window = have.Window
			// The handle must name the window that is loaded: any other number would load the model again.
			if model, err = c.Load(ctx, c.model, l); err != nil {
				return nil, fmt.Errorf("load %s: %w", c.model.Name, err)
			}
		}
		if fit.Loaded {
			fit.Window = min(fit.Window, l.Window)
		} else {
			fit = r.refit(ctx, c, fit, planned, l.Window)
			if err := r.warnSlots(c, fit, have); err != nil {
				return nil, err
			}
		}
		if err := r.remember(c, fit, l, have); err != nil {
			return nil, err
		}
	}
	p := &Prepared{
		Model: Retry(model, r.Patience), Info: c.model, Window: fit.Window, Provider: c.Name(), Address: c.Address(),
		Local: OnThisMachine(c.Address()), Leaves: l.Remote, Server: c.version, Why: c.why + "; " + l.why(fit), Resident: have,
	}
	if wired, ok := c.Provider.(Wired); ok {
		p.Wire = wired.Wire()
	}
	return p, nil
}

// ask loads, and waits for a server that is busy as for an answer.
func (r *run) ask(ctx context.Context, c choice, l Loading) (chat.Model, error) {
	b := backoff{Patience: r.Patience.filled()}
	for {
		model, err := c.Load(ctx, c.model, l)
		if err == nil || isCrash(err) || isStall(err) {
			return model, err
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

// isStall reports a load that made no progress: to wait as long again helps nobody.
func isStall(err error) bool {
	var failure *chat.Error
	return errors.As(err, &failure) && failure.Kind == chat.Idle
}
