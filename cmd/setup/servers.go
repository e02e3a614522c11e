package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"interpreter/local"
	"interpreter/local/chat"
)

// Server is a model server that was asked who it is and what it has.
type Server local.Inventory

func (s Server) up() bool { return s.Provider != nil && s.Err == nil && s.Fault == nil }

// label is a server in a line.
func (s Server) label() string {
	name := joined(" ", title(s.Name()), s.Version)
	where := "on this machine"
	if !s.Here {
		where = "at " + s.Address()
	}
	return fmt.Sprintf("%s %s, %s installed", name, where, counted(len(s.Models), "model"))
}

// findServer sees which servers answer. It asks only when none does, when several do, or when the person came back.
func findServer(ctx context.Context, w World, s State) (State, string, error) {
	providers, err := w.Providers()
	if err != nil {
		return s, "", err
	}
	w.Screen.busy("asking for model servers", func() { s.Servers = survey(ctx, w, providers) })
	if ctx.Err() != nil {
		return s, "", ErrLeft
	}
	s.Server = 0
	up := answering(s.Servers)
	if s.InVain++; len(up) > 0 {
		s.InVain = 0
	}
	asked := s.revisit
	s.revisit = false
	if len(up) == 1 && !asked {
		return use(w, s, up[0]), modelStep, nil
	}
	q := serverQuestion(w, s, providers)
	key, err := w.Ask.Choose(ctx, q)
	if err != nil {
		return s, "", err
	}
	switch word, id, _ := strings.Cut(key, ":"); word {
	case "use":
		for _, i := range up {
			if s.Servers[i-1].Name() == id {
				return use(w, s, i), modelStep, nil
			}
		}
	case "start":
		for _, p := range providers {
			if p.Name() == id {
				return start(ctx, w, s, p)
			}
		}
	case "machine":
		return s, machineStep, nil
	case "skip":
		return s, endStep, nil
	}
	s.revisit = asked
	return s, serverStep, nil
}

// survey asks all servers what they have, with all that they can tell of it.
func survey(ctx context.Context, w World, providers []local.Provider) []Server {
	var out []Server
	for _, one := range local.TakeInventory(ctx, providers, w.Forwarded) {
		out = append(out, Server(one))
	}
	var wait sync.WaitGroup
	for i := range out {
		wait.Go(func() { whole(ctx, &out[i]) })
	}
	wait.Wait()
	return out
}

// whole completes what a list tells of models; one that cannot be looked at stays as it is.
func whole(ctx context.Context, s *Server) {
	var wait sync.WaitGroup
	slots := make(chan struct{}, 4)
	for i, m := range s.Models {
		wait.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if full, err := local.Whole(ctx, s.Provider, m); err == nil {
				s.Models[i] = full
			}
		})
	}
	wait.Wait()
}

// answering are the places, counted from 1, of servers that can be used.
func answering(all []Server) []int {
	var up []int
	for i, one := range all {
		if one.up() {
			up = append(up, i+1)
		}
	}
	return up
}

// use takes a server.
func use(w World, s State, at int) State {
	if before := s.server(); before.Provider != nil && before.Name() != s.Servers[at-1].Name() {
		s.Model, s.Prepared = Choice{}, nil
	}
	s.Server = at
	one := s.server()
	s.Cache = w.Cache(one.Address())
	w.Screen.done("server", one.label())
	switch {
	case one.Outside:
		w.Screen.warn("No process of this system listens there, so its machine may be another one: what fits there is not known here.")
	case !one.Here:
		w.Screen.warn("It runs on another machine: what you say and your files' contents go there, and what fits there is not known here.")
	}
	if guide, ok := one.Provider.(local.Guide); ok {
		if advice := guide.Advise(one.Version); advice != "" {
			w.Screen.warn(advice)
		}
	}
	return s
}

// serverQuestion is which server to take, or how to get one.
func serverQuestion(w World, s State, providers []local.Provider) Question {
	q := Question{Title: "Which model server?"}
	for _, i := range answering(s.Servers) {
		one := s.Servers[i-1]
		q.Answers = append(q.Answers, Answer{Key: "use:" + one.Name(), Text: one.label()})
	}
	started := false
	for _, one := range s.Servers {
		if one.Err != nil && one.Here && startable(w, one.Provider) {
			started = true
			q.Answers = append(q.Answers, Answer{Key: "start:" + one.Name(), Text: "start " + title(one.Name()) + ", which is installed"})
		}
	}
	var about []string
	if len(answering(s.Servers)) == 0 {
		q.Title = "No model server answers. What now?"
		about = append(about, "A model server is the program that loads a model and runs it. "+silent(s))
		about = append(about, faults(s.Servers)...)
		if install := installs(w.OS, providers); !started && len(install) > 0 {
			about = append(append(about, "To install one, type this in another terminal, then check again:"), install...)
			q.Stuck = stuck("no model server answers, and none is installed here", "install one: "+strings.TrimSpace(install[0])+", then "+w.Name+" setup --yes")
		}
	}
	q.About = strings.Join(about, "\n")
	q.Answers = append(q.Answers,
		Answer{Key: "again", Text: "check again"},
		Answer{Key: "machine", Text: "back: look at the machine again"},
		Answer{Key: "skip", Text: "skip: set up nothing now"})
	q.Default = q.Answers[0].Key
	if q.Default == "again" && q.Stuck == nil {
		q.Stuck = stuck("no model server answers", "start one, then "+w.Name+" setup --yes")
	}
	return q
}

func startable(w World, p local.Provider) bool {
	_, can := p.(local.Starter)
	return can && w.Startable(p)
}

// silent says where nobody answers.
func silent(s State) string {
	var at []string
	for _, one := range s.Servers {
		if one.Err != nil && unreachable(one.Err) {
			at = append(at, fmt.Sprintf("%s (%s)", title(one.Name()), one.Address()))
		}
	}
	switch {
	case len(at) == 0:
		return ""
	case s.InVain > 1:
		return fmt.Sprintf("Asked in vain, %d times now: %s.", s.InVain, strings.Join(at, ", "))
	}
	return "Asked in vain: " + strings.Join(at, ", ") + "."
}

func unreachable(err error) bool {
	var failure *chat.Error
	return errors.As(err, &failure) && failure.Kind == chat.Unreachable
}

// faults tells of servers that answer, but not as they should.
func faults(all []Server) []string {
	var out []string
	for _, one := range all {
		if err := cmp.Or(one.Err, one.Fault); err != nil && !unreachable(err) {
			out = append(out, fmt.Sprintf("%s (%s) answers, but not as it should: %s", title(one.Name()), one.Address(), sentence(err.Error())))
		}
	}
	return out
}

// installs are the commands that install a server on a system, a line each.
func installs(system string, providers []local.Provider) []string {
	var out []string
	for _, p := range providers {
		if starter, ok := p.(local.Starter); ok && local.OnThisMachine(p.Address()) {
			if command := starter.Install(system); command != "" {
				out = append(out, fmt.Sprintf("  %-10s %s", title(p.Name())+":", command))
			}
		}
	}
	return out
}

// start starts a server that outlives the wizard.
func start(ctx context.Context, w World, s State, p local.Provider) (State, string, error) {
	var started Started
	var err error
	w.Screen.busy("starting "+title(p.Name()), func() { started, err = w.Start(ctx, p) })
	if ctx.Err() != nil {
		return s, "", ErrLeft
	}
	if err != nil {
		w.Screen.wrong(sentence(saying(err)))
		s.revisit = true
		if _, nobody := w.Ask.(Unattended); nobody {
			return s, "", err
		}
		return s, serverStep, nil
	}
	s.Started = title(p.Name())
	if started.PID > 0 {
		s.Started = fmt.Sprintf("%s (process %d)", s.Started, started.PID)
	}
	text := s.Started + " is started, and keeps running after this."
	if started.Log != "" {
		text += " What it prints is in " + started.Log + "."
	}
	if started.End != "" {
		text += " To end it: " + started.End
	}
	w.Screen.done("started", text)
	for _, odd := range started.Warnings {
		w.Screen.warn(sentence(odd))
	}
	return s, serverStep, nil
}

// saying is an error with its way out, for a person in the wizard.
func saying(err error) string {
	var with interface{ Remedy() string }
	if errors.As(err, &with) && with.Remedy() != "" {
		return err.Error() + ". What may help: " + with.Remedy() + "."
	}
	return err.Error() + "."
}
