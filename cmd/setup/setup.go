// Package setup is the first-run wizard: from a machine that it has never seen to a model that is loaded, has called a
// tool and is written into the configuration. Each step is a plain function from what is known to what is known then,
// and to the step that comes next; what a step needs of the world it is handed in World. The wizard refuses to install
// anything, to download or to write unasked, and to hide what went wrong.
package setup

import (
	"context"
	"errors"
	"fmt"
	"time"

	"interpreter/cmd/config"
	"interpreter/local"
	"interpreter/probes"
)

// World is what the wizard may use.
type World struct {
	Screen Screen
	Ask    Asker
	OS     string // as runtime.GOOS says it

	Probe     func(context.Context) probes.Machine // with the speed of its memory
	Providers func() ([]local.Provider, error)     // those that a person could mean, in the order of preference
	Forwarded func(port int) bool                  // another machine may be behind a loopback port; nil: never
	Startable func(local.Provider) bool            // its server's program is on this machine
	Start     func(context.Context, local.Provider) (Started, error)
	Cache     func(address string) local.CacheType        // what a server keeps keys and values in; "" where nobody knows
	Download  func(context.Context, local.Download) error // shows how it goes
	Ready     func(context.Context, Wish) (*local.Prepared, error)
	Save      func(...config.Value) error

	Config Configured
	Path   string // of the file that Save writes, as a person knows it
	Name   string // of this program, as a person calls it
}

// Configured is what the configuration says so far.
type Configured struct {
	Model, Provider, OSS string
	Window               int // tokens
}

// Started is a server that was started and outlives the program. What is not known is "" or 0.
type Started struct {
	PID int
	Log string // path of what it prints
	End string // the command that ends it

	Warnings []string // what is odd about how it was started
}

// Wish is what is to be made ready.
type Wish struct {
	Provider local.Provider
	Model    string
	Window   int // tokens; 0: whatever fits
	Cache    local.CacheType
	Consent  func(question string) bool // to load again what another program uses
	Stage    func(local.Stage)
	Tick     func(time.Time) // each second in between
}

// State is what is known and decided so far.
type State struct {
	Machine probes.Machine
	Servers []Server
	Server  int // the one in use, counted from 1; 0: none
	InVain  int // how often servers were asked without an answer
	Started string
	Cache   local.CacheType // what the server in use keeps keys and values in, where that is known

	Model    Choice // "" as its name: none
	Next     []Choice
	Window   int // tokens, only if the person said so
	Pulled   []string
	Part     string            // a model of which a part is downloaded
	Failed   map[string]string // what a model answered that cannot do the work
	Prepared *local.Prepared
	Unproved bool // the person skipped the check
	Saved    []string
	revisit  bool // the person came back to a step that has nothing to ask
}

// server is the one in use.
func (s State) server() Server {
	if s.Server == 0 || s.Server > len(s.Servers) {
		return Server{}
	}
	return s.Servers[s.Server-1]
}

// The steps, in their order.
const (
	machineStep = "machine"
	serverStep  = "server"
	modelStep   = "model"
	fetchStep   = "download"
	proveStep   = "check"
	writeStep   = "write"
	endStep     = ""
)

// step does one thing and says what comes next.
type step func(context.Context, World, State) (State, string, error)

func steps() map[string]step {
	return map[string]step{
		machineStep: lookAtMachine, serverStep: findServer, modelStep: pickModel, fetchStep: fetch, proveStep: prove, writeStep: write,
	}
}

// ErrLeft is returned by an Asker when the person has had enough, and by Run after it has said what is kept.
var ErrLeft = errors.New("left the wizard")

// Run goes through the steps until the person has a model, skips, or leaves with ErrLeft.
func Run(ctx context.Context, w World) error {
	w.Screen.lines("Setting up a model that runs on your own machine.")
	if hint := w.Ask.Hint(); hint != "" {
		w.Screen.lines(hint)
	}
	w.Screen.lines("")
	s, err := follow(ctx, w, State{})
	switch {
	case ctx.Err() != nil || errors.Is(err, ErrLeft):
		w.Screen.lines(leaving(w, s)...)
		return ErrLeft
	case err != nil:
		return err
	}
	w.Screen.lines(ending(w, s)...)
	return nil
}

// follow takes one step after the other.
func follow(ctx context.Context, w World, s State) (State, error) {
	at := machineStep
	for at != endStep {
		if ctx.Err() != nil {
			return s, ErrLeft
		}
		next, to, err := steps()[at](ctx, w, s)
		s = next
		if err != nil {
			return s, err
		}
		at = to
	}
	return s, nil
}

// stuck is what a step returns when nobody is there to decide.
func stuck(text, remedy string) error { return &local.Refusal{Text: "set up: " + text, Try: remedy} }

// leaving says what is kept when a person leaves.
func leaving(w World, s State) []string {
	out := []string{"", "Left. " + kept(s)}
	return append(out, fmt.Sprintf("Go on at any time with: %s setup", w.Name))
}

const unchanged = "Nothing was changed."

func kept(s State) string {
	var done []string
	if s.Started != "" {
		done = append(done, s.Started+" keeps running")
	}
	for _, name := range s.Pulled {
		done = append(done, name+" is downloaded")
	}
	if s.Part != "" {
		done = append(done, "what came of "+s.Part+" (the next download goes on there)")
	}
	if s.Prepared != nil && len(s.Saved) == 0 {
		done = append(done, s.Prepared.Info.Name+" has passed the check")
	}
	if len(s.Saved) > 0 {
		done = append(done, "the configuration is written")
	}
	if len(done) == 0 {
		return unchanged
	}
	return "What was done stays: " + listed(done) + "."
}
