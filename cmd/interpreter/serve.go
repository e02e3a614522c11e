package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"interpreter/local"
	"interpreter/local/chat"
	"interpreter/local/ollama"
)

// served are the number formats of keys and values that a server of ours can be told.
var served = [...]string{"f16", "q8_0", "q4_0"}

// serveWishes are the flags of serve.
type serveWishes struct {
	window windowFlag
	kv     string
	port   int // -1: where the server is looked for anyway
	detach bool
	stop   bool
}

// newServe starts a model server with what fits this machine.
func newServe(w world, f *flags) *cobra.Command {
	q := &serveWishes{}
	c := &cobra.Command{
		Use:   "serve",
		Short: "Start a model server with the settings that suit this machine",
		Long: "serve starts Ollama (or LM Studio's server, with --local-provider lmstudio) for one model and one conversation: the window\n" +
			"and the number format of keys and values that this machine has room for, nothing in a cloud. It ends with Ctrl-C.",
		Example: "  interpreter serve\n" +
			"  interpreter serve -m qwen3-coder:30b --kv q8_0 --detach\n" +
			"  interpreter serve --stop",
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case q.kv != "" && !slices.Contains(served[:], q.kv):
				return usageError{fmt.Errorf("--kv %s: want one of: %s", q.kv, strings.Join(served[:], ", "))}
			case q.port < -1 || q.port > 65535:
				return usageError{fmt.Errorf("--port %d: want a number from 1 to 65535, or 0 for a free one", q.port)}
			case q.stop && (q.detach || q.kv != "" || q.window != 0):
				return usageError{fmt.Errorf("--stop ends a server and starts none; only --port goes with it")}
			}
			if q.stop {
				return w.stopServing(f, q)
			}
			return w.serve(cmd.Context(), f, q)
		},
	}
	set := c.Flags()
	set.Var(&q.window, "window", "window in `tokens` for programs that name none: 65536, or 64k")
	set.StringVar(&q.kv, "kv", "", "number `format` of keys and values: f16, q8_0; without it q8_0 where f16 holds too little")
	set.IntVar(&q.port, "port", -1, "`port` to listen at on this machine; 0 picks a free one")
	set.Lookup("port").DefValue = "0" // none is shown
	set.BoolVar(&q.detach, "detach", false, "leave it running; interpreter serve --stop ends it")
	set.BoolVar(&q.stop, "stop", false, "end the server that an earlier serve started")
	_ = c.RegisterFlagCompletionFunc("kv", cobra.FixedCompletions(served[:], cobra.ShellCompDirectiveNoFileComp))
	return c
}

// serve starts a server and, unless it is detached, waits for its end.
func (w world) serve(ctx context.Context, f *flags, q *serveWishes) error {
	s, err := w.settings(f, choices{})
	if err != nil {
		return err
	}
	p, address, err := s.starting(w, q)
	if err != nil {
		return err
	}
	if p.Name() == "lmstudio" && (q.kv != "" || q.window > 0) {
		flag, what := "--kv", "the number format of keys and values"
		if q.kv == "" {
			flag, what = "--window", "the window for programs that name none"
		}
		return usageError{fmt.Errorf("%s: LM Studio keeps %s in its own settings", flag, what)}
	}
	for _, text := range s.warnings {
		fmt.Fprintln(w.stderr, "warning: "+harmless(text))
	}
	version, err := p.Version(ctx)
	var failure *chat.Error
	switch {
	case err == nil:
		return s.alreadyServed(ctx, p, version, q)
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &failure) && failure.Kind != chat.Unreachable:
		return try(fmt.Errorf("serve at %s: something answers there that is no %s server: %w", p.Address(), p.Name(), err),
			"interpreter serve"+flagOf(p.Name())+" --port "+nextPort(p.Address()))
	}
	var plan servePlan
	if p.Name() == "ollama" { // LM Studio is told nothing
		plan = s.plan(ctx, w, f, p, q)
	}
	for _, text := range plan.warnings {
		fmt.Fprintln(w.stderr, "warning: "+harmless(text))
	}
	plan.Address, plan.Detach = address, q.detach
	if !q.detach && !signal.Ignored(syscall.SIGHUP) { // a terminal that is closed ends what was started in it
		var stop func()
		ctx, stop = signal.NotifyContext(ctx, syscall.SIGHUP)
		defer stop()
	}
	started, err := s.launch(ctx, w, p, &plan)
	if err != nil {
		return err
	}
	telling := s.tellServing(ctx, w, p, plan, started)
	if q.detach {
		return telling
	}
	if telling != nil {
		_ = started.Stop()
	}
	ended := started.Wait()
	_ = started.Stop() // and what it may have left behind
	_ = dropServing(s.home, started.PID)
	switch {
	case telling != nil:
		return telling
	case ctx.Err() != nil:
		_, err := fmt.Fprintf(w.stdout, "%s has ended\n", p.Name())
		return err
	}
	err = fmt.Errorf("%s at %s ended without being asked to", p.Name(), started.Address)
	if ended != nil {
		err = fmt.Errorf("%w: %w", err, ended)
	}
	return try(err, "read its log: "+plan.Log)
}

// launch starts a server by a plan, with a log of its own, and keeps a record of it.
func (s *settings) launch(ctx context.Context, w world, p local.Provider, plan *servePlan) (local.Started, error) {
	if err := os.MkdirAll(filepath.Join(s.home, "logs"), 0o700); err != nil {
		return local.Started{}, try(fmt.Errorf("keep the log of the server: %w", err), "make the folder writable, or name another with INTERPRETER_HOME")
	}
	plan.Environ = slices.Concat(w.environ, w.loaders)
	plan.Log = filepath.Join(s.home, "logs", p.Name()+"-"+local.PortOf(p.Address())+".log")
	setAside(plan.Log)
	if p.Name() == "ollama" {
		plan.Program = w.ollamaProgram()
	}
	started, err := p.(local.Starter).Start(ctx, plan.Serving)
	if err == nil {
		s.record(w, p, *plan, started)
	}
	return started, err
}

// starting is the server to start and where it is to listen, "" for where it is looked for.
func (s *settings) starting(w world, q *serveWishes) (local.Provider, string, error) {
	id := cmp.Or(s.ModelProvider, s.OSSProvider, builtIn[0])
	if !slices.Contains(builtIn[:], id) {
		return nil, "", try(fmt.Errorf("serve: %s is a server of another kind; only %s can be started here", id, strings.Join(builtIn[:], " and ")),
			"interpreter serve --local-provider "+builtIn[0])
	}
	if q.port >= 0 {
		port := strconv.Itoa(q.port)
		if q.port == 0 {
			var err error
			if port, err = local.FreePort("127.0.0.1"); err != nil {
				return nil, "", err
			}
		}
		at := net.JoinHostPort("127.0.0.1", port)
		p, err := s.built(w, id, "http://"+at)
		return p, at, err
	}
	p, err := s.provider(w, id, true)
	if err != nil {
		return nil, "", err
	}
	if !local.OnThisMachine(p.Address()) {
		return nil, "", try(fmt.Errorf("serve: %s is looked for at %s, which is another machine", id, p.Address()),
			"interpreter serve"+flagOf(id)+" --port "+usualPort(id)+", which listens on this one")
	}
	return p, "", nil
}

// built is a built-in server at an address that overrides every other.
func (s *settings) built(w world, id, base string) (local.Provider, error) {
	if id == "ollama" {
		return ollama.New(base, ollama.Options{})
	}
	w.lmstudio = base
	moved := *s
	moved.ModelProviders = nil
	return moved.lmstudio(w, false)
}

func usualPort(id string) string {
	if id == "lmstudio" {
		return "1234"
	}
	return local.PortOf(ollama.DefaultAddress)
}

// alreadyServed says who is at the address, what differs from what would be started, and the ways out.
func (s *settings) alreadyServed(ctx context.Context, p local.Provider, version string, q *serveWishes) error {
	var differs []string
	if guide, ok := p.(local.Guide); ok {
		if advice := guide.Advise(version); advice != "" {
			differs = append(differs, advice)
		}
	}
	ours, own := servingAt(s.home, p.Address())
	who := fmt.Sprintf("%s %s answers already", p.Name(), version)
	stop := "stop it"
	if own {
		who += fmt.Sprintf(", started by interpreter serve (process id %d)", ours.PID)
		stop = "interpreter serve --stop"
		if q.kv != "" && string(ours.KV) != q.kv {
			differs = append(differs, fmt.Sprintf("it keeps keys and values in %s, not in %s", ours.KV, q.kv))
		}
		if q.window > 0 && ours.Window != int(q.window) {
			differs = append(differs, fmt.Sprintf("its window for programs that name none is %d tokens, not %d", ours.Window, q.window))
		}
	} else {
		differs = append(differs, "nobody but its own log tells the number format of its keys and values; it counts as "+cmp.Or(s.LocalKVCacheType, "f16"))
	}
	if cloudy, ok := p.(clouded); ok {
		if on, known, err := cloudy.Cloud(ctx); err == nil && known && on {
			differs = append(differs, "its cloud models are not switched off")
		}
	}
	if loaded, err := p.Loaded(ctx); err == nil {
		for _, r := range loaded {
			if r.Window > 0 && r.Window < local.Floor {
				differs = append(differs, fmt.Sprintf("it holds %s with a window of %d tokens; an agent needs %d", printable(r.Name), r.Window, local.Floor))
			}
		}
	}
	text := fmt.Sprintf("serve at %s: %s", p.Address(), who)
	if len(differs) > 0 {
		text += "; " + strings.Join(differs, "; ")
	}
	return try(fmt.Errorf("%s", text), fmt.Sprintf("use it as it is, or %s and start anew, or interpreter serve%s --port %s for a second one", stop, flagOf(p.Name()), nextPort(p.Address())))
}

// flagOf names a server to interpreter serve, which starts Ollama when nothing is said.
func flagOf(id string) string {
	if id == builtIn[0] {
		return ""
	}
	return " --local-provider " + id
}

// nextPort is one that a second server may have.
func nextPort(address string) string {
	n, err := strconv.Atoi(local.PortOf(address))
	if err != nil || n >= 65535 {
		return "0"
	}
	return strconv.Itoa(n + 1)
}

// record keeps what the server was told for later runs. Without a record they take it for one of somebody else's.
func (s *settings) record(w world, p local.Provider, plan servePlan, started local.Started) {
	began, there := begun(started.PID)
	if !there || len(started.Environ) == 0 { // LM Studio runs on by itself, and was told nothing
		return
	}
	if err := keepServing(s.home, serving{
		Provider: p.Name(), Address: started.Address, PID: started.PID, Began: began, Log: plan.Log, Detached: plan.Detach,
		Window: plan.Window, KV: plan.CacheType, HostCache: plan.HostCache, When: time.Now().UTC().Truncate(time.Second),
	}); err != nil {
		fmt.Fprintln(w.stderr, "warning: "+harmless(err.Error()))
	}
}

// stopServing ends a server of an earlier serve.
func (w world) stopServing(f *flags, q *serveWishes) error {
	s, err := w.settings(f, choices{})
	if err != nil {
		return err
	}
	all := servings(s.home)
	var address string
	if q.port > 0 {
		address = net.JoinHostPort("127.0.0.1", strconv.Itoa(q.port))
	} else if len(all) > 1 { // which one is not a guess to make
		p, _, err := s.starting(w, q)
		if err != nil {
			return err
		}
		address = strings.TrimPrefix(p.Address(), "http://")
	}
	var others []string
	for _, one := range all {
		if address != "" && !sameAddress(one.Address, "http://"+address) {
			others = append(others, local.PortOf(one.Address))
			continue
		}
		if err := ollama.Stop(one.PID); err != nil {
			return err
		}
		if err := dropServing(s.home, one.PID); err != nil {
			return err
		}
		_, err := fmt.Fprintf(w.stdout, "%s at %s has ended (process id %d)\n", one.Provider, one.Address, one.PID)
		return err
	}
	if len(others) > 0 {
		return try(fmt.Errorf("stop the server at %s: it was not started by interpreter serve", address), "interpreter serve --stop --port "+strings.Join(others, ", or "))
	}
	return try(fmt.Errorf("stop a server: none that interpreter serve has started runs"), "end others as they were started: a service, an application, another terminal")
}

// mostLog is the size from which a log is set aside for a fresh one.
const mostLog = 16 << 20

// setAside keeps a log from growing for ever; the one before it stays beside it.
func setAside(path string) {
	if info, err := os.Stat(path); err == nil && info.Size() > mostLog {
		_ = os.Rename(path, path+".old")
	}
}

// ollamaProgram is where the program is when the shell would not find it: its application brings it along.
func (w world) ollamaProgram() string {
	if _, err := exec.LookPath("ollama"); err == nil {
		return ""
	}
	var places []string
	switch runtime.GOOS {
	case "darwin":
		places = []string{"/Applications/Ollama.app/Contents/Resources/ollama", "/opt/homebrew/bin/ollama", "/usr/local/bin/ollama"}
	case "windows":
		if data := w.env("LOCALAPPDATA"); data != "" {
			places = []string{filepath.Join(data, "Programs", "Ollama", "ollama.exe")}
		}
	}
	for _, path := range places {
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			return path
		}
	}
	return ""
}
