package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"interpreter/cmd/config"
	"interpreter/cmd/setup"
	"interpreter/local"
	"interpreter/probes"
)

// setupFlags are how the wizard asks.
type setupFlags struct{ accessible, yes bool }

// newSetup runs the wizard.
func newSetup(w world, f *flags) *cobra.Command {
	x := setupFlags{}
	c := &cobra.Command{
		Use:   "setup",
		Short: "From nothing to a model that works: machine, server, model, check, configuration",
		Args:  usageArgs(cobra.NoArgs),
		RunE:  func(cmd *cobra.Command, _ []string) error { return w.setup(cmd.Context(), f, x) },
	}
	c.Flags().BoolVar(&x.accessible, "accessible", false, "plain questions, line by line, for a screen reader (or set ACCESSIBLE)")
	c.Flags().BoolVar(&x.yes, "yes", false, "take what is recommended at each step, without questions; installs nothing")
	return c
}

// setup goes through the wizard, or says what to do by hand where nobody can be asked.
func (w world) setup(ctx context.Context, f *flags, x setupFlags) error {
	s, err := w.settings(f, choices{})
	if err != nil {
		return err
	}
	terminal := w.stdinTerminal && w.stdoutTerminal
	plain := x.accessible || w.plain()
	columns, rows := w.extent()
	screen := setup.Screen{Out: w.stdout, Width: columns, Moves: w.stdoutTerminal && !plain}
	screen.Colour = screen.Moves && w.env("NO_COLOR") == ""
	w.stderrTerminal = w.stderrTerminal && !plain // nothing is drawn there either
	with := w.wizard(&s, f, screen)
	switch {
	case x.yes:
		with.Ask = setup.Unattended{Screen: screen}
	case !terminal:
		if err := setup.Manual(ctx, with); err != nil {
			return err
		}
		return exited(exitFailed)
	case plain:
		with.Ask = &setup.Plain{In: w.stdin, Screen: screen}
	default:
		with.Ask = &setup.Forms{In: w.stdin, Out: w.stdout, Width: columns, Height: rows, Colour: screen.Colour}
	}
	setup.Dress(screen.Colour)
	err = setup.Run(ctx, with)
	if errors.Is(err, setup.ErrLeft) {
		return exited(exitFailed)
	}
	return err
}

// plain reports a terminal that cannot draw, or a person who has it read aloud.
func (w world) plain() bool {
	switch strings.ToLower(w.env("ACCESSIBLE")) {
	case "", "0", "false", "no":
		return w.env("TERM") == "dumb"
	}
	return true
}

// extent is how many columns and rows the terminal has.
func (w world) extent() (columns, rows int) {
	if file, ok := w.stdout.(*os.File); ok {
		if columns, rows, err := term.GetSize(int(file.Fd())); err == nil && columns > 0 && rows > 0 {
			return columns, rows
		}
	}
	return 80, 24
}

// wizard is what the wizard may use of this world.
func (w world) wizard(s *settings, f *flags, screen setup.Screen) setup.World {
	return setup.World{
		Screen: screen, OS: runtime.GOOS, Name: name(w), Path: setup.Tidy(config.UserPath(s.home), w.userHome()),
		Probe:     func(ctx context.Context) probes.Machine { return w.machine(ctx, s.home, true) },
		Providers: func() ([]local.Provider, error) { return s.allProviders(w) },
		Forwarded: probes.Forwarded,
		Startable: w.startable,
		Start:     func(ctx context.Context, p local.Provider) (setup.Started, error) { return s.startFor(ctx, w, f, p) },
		Cache:     s.cacheAt,
		Download: func(ctx context.Context, d local.Download) error {
			_, err := w.download(ctx, d)
			return err
		},
		Ready: func(ctx context.Context, wish setup.Wish) (*local.Prepared, error) {
			return s.readyFor(ctx, w, f, wish)
		},
		Save:   func(values ...config.Value) error { return config.Set(s.home, values...) },
		Config: setup.Configured{Model: s.Model, Provider: s.ModelProvider, OSS: s.OSSProvider, Window: s.ModelContextWindow},
	}
}

// startable reports a server whose program is on this machine, and which is looked for here.
func (w world) startable(p local.Provider) bool {
	return local.OnThisMachine(p.Address()) && w.installed(p.Name())
}

// startFor starts a server as serve --detach does.
func (s *settings) startFor(ctx context.Context, w world, f *flags, p local.Provider) (setup.Started, error) {
	plan := s.plan(ctx, w, f, p, &serveWishes{port: -1, detach: true})
	plan.Detach = true
	started, err := s.launch(ctx, w, p, &plan)
	if err != nil {
		return setup.Started{}, err
	}
	out := setup.Started{PID: started.PID}
	if len(started.Environ) > 0 { // ours alone, and only it is told what the plan says
		out.Log, out.End, out.Warnings = setup.Tidy(plan.Log, w.userHome()), name(w)+" serve --stop", plan.warnings
		if len(servings(s.home)) > 1 {
			out.End += " --port " + local.PortOf(started.Address)
		}
	}
	return out, nil
}

// readyFor makes a model ready and proves it as a session in this folder would begin with it.
func (s *settings) readyFor(ctx context.Context, w world, f *flags, wish setup.Wish) (*local.Prepared, error) {
	s.asked = []local.Provider{wish.Provider}
	if policy, err := s.policy(w, f); err == nil {
		if known, err := s.project(ctx, w, policy); err == nil {
			s.prefix = s.beginning(w, known, earlier{})
		}
	}
	return readying{stage: wish.Stage, tick: wish.Tick}.follow(ctx, local.Options{
		Providers: s.asked, Machine: func(ctx context.Context) probes.Machine { return w.machine(ctx, s.home, false) },
		Model: wish.Model, Window: wish.Window, CacheType: wish.Cache, CacheAt: s.cacheAt, Loads: filepath.Join(s.home, "loads.json"), Forwarded: probes.Forwarded,
		Reload:   func(question string) bool { return f.reload || s.ReloadLoadedModels || wish.Consent(question) },
		Verdicts: s.verdictFile(), Rescue: rescue, SkipCheck: !s.ToolCheck, Patience: s.patience(w), Prefix: s.prefix,
	})
}

// firstRun reports a start without anything that says which model to use, by somebody who can be asked.
func (w world) firstRun(f *flags) (bool, error) {
	if !w.stdinTerminal || !w.stdoutTerminal || f.model != "" || f.provider != "" || f.oss || f.profile != "" {
		return false, nil
	}
	s, err := w.settings(f, choices{})
	if err != nil {
		return false, err
	}
	return s.Model == "" && s.ModelProvider == "" && s.OSSProvider == "", nil
}
