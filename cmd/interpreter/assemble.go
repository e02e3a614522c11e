package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"interpreter/agent"
	"interpreter/agent/approve"
	"interpreter/agent/event"
	"interpreter/agent/project"
	"interpreter/agent/store"
	"interpreter/cmd/config"
	"interpreter/harness"
	"interpreter/harness/catalog"
	"interpreter/local"
	"interpreter/sandbox"
	"interpreter/sandbox/action"
	"interpreter/sandbox/shell"
)

// plan is what a front end wants of a session.
type plan struct {
	source    string // "exec", "cli", …
	resume    *store.Info
	fork      *store.Info
	ephemeral bool
	schema    json.RawMessage
	images    int                  // attached to the first prompt
	stage     func(local.Stage)    // told what getting the model ready is doing
	tick      func(time.Time)      // told each second meanwhile
	warn      func(texts []string) // told what is odd, before the model is made ready
	note      func(texts []string) // told what only a person wants to know
}

// assembled is a session with all its parts, and how to put them away.
type assembled struct {
	session *agent.Session
	log     *event.Log
	file    *store.File // nil of an ephemeral one
	held    int         // events of earlier runs; what getting ready has to say of the session is behind them
	model   *local.Prepared
	shell   *shell.Snapshot // nil: nobody asked the login shell
}

// close ends the session and what it holds.
func (a *assembled) close() {
	if a.session != nil {
		_ = a.session.Close()
	}
	if a.shell != nil {
		a.shell.Close()
	}
	if a.file != nil {
		_ = a.file.Close()
	}
}

// assemble introduces the parts to each other. It alone knows everyone.
func (w world) assemble(ctx context.Context, s *settings, f *flags, p plan) (_ *assembled, err error) {
	policy, err := s.policy(w, f)
	if err != nil {
		return nil, err
	}
	box, err := sandbox.New(policy)
	if err != nil {
		return nil, err
	}
	known, err := s.project(ctx, w, policy)
	if err != nil {
		return nil, err
	}
	s.status = sync.OnceValue(func() harness.GitStatus { return project.Status(ctx, box, s.dir, s.childEnvironment(w)) })
	p.warn(slices.Concat(s.warnings, known.Warnings))
	p.note(s.unasked(known.Env.Docs))
	a := &assembled{shell: s.loginShell(ctx, w, box)}
	defer func() {
		if err != nil {
			a.close()
		}
	}()
	switch {
	case p.resume != nil && p.ephemeral:
		if a.log, a.held, err = store.Recall(p.resume.Path, nil); err != nil {
			return nil, err
		}
	case p.resume != nil: // whoever else holds the session is known before a model is loaded for it
		if a.log, a.file, err = store.Open(p.resume.Path); err != nil {
			return nil, err
		}
		a.held = a.file.Held()
	}
	before := earlierIn(a.log)
	if s.Model == "" {
		s.Model = before.opened.Model
	}
	s.prefix = s.beginning(w, known, before)
	prepared, err := s.ready(ctx, w, f, readying{stage: p.stage, tick: p.tick})
	if err != nil {
		return nil, err
	}
	if warning := s.leaving(prepared, policy); warning != "" {
		p.warn([]string{warning})
	}
	if p.images > 0 && len(prepared.Info.Capabilities) > 0 && !prepared.Info.Can("vision") {
		return nil, try(fmt.Errorf("--image: %s cannot see (it can: %s)", prepared.Info.Name, strings.Join(prepared.Info.Capabilities, ", ")),
			"-m with a model that has vision, or leave the image out")
	}
	if s.chatWire && prepared.Wire == "ollama" {
		p.warn([]string{"--chat-completions has no effect: ollama is spoken to over its native chat, since the other one cannot name a window"})
	}
	p.note(before.differences(prepared.Info.Name, string(s.mode)))
	if a.log == nil {
		if err = a.open(w, s, p, known, prepared); err != nil {
			return nil, err
		}
	}
	parts, err := s.session(w, box, known, prepared, a.log, before)
	if err != nil {
		return nil, err
	}
	parts.Schema, a.model = p.schema, prepared
	parts.Workspace.Login = s.login(w, idOf(a.log), a.shell, func(b event.Warned) {
		_ = a.log.Append(b) // a log that takes no more ends the turn by itself
	})
	a.session, err = agent.New(parts)
	return a, err
}

// open starts the log of a session that is new, or a copy.
func (a *assembled) open(w world, s *settings, p plan, known project.Known, prepared *local.Prepared) error {
	id, err := uuid.NewV7()
	if err != nil {
		return err
	}
	begun := event.Begun{
		ID: id.String(), Dir: s.dir, Source: p.source, Originator: cmp.Or(w.env("CODEX_INTERNAL_ORIGINATOR_OVERRIDE"), "interpreter"),
		Version: version, Provider: prepared.Provider, Model: prepared.Info.Name,
		Commit: known.Git.Commit, Branch: known.Git.Branch, Repository: known.Git.Repository,
	}
	if p.fork != nil {
		begun.ForkedFrom = p.fork.ID
	}
	switch {
	case p.fork != nil && p.ephemeral:
		a.log, a.held, err = store.Recall(p.fork.Path, &begun)
	case p.fork != nil:
		if a.log, a.file, err = store.Fork(s.home, *p.fork, begun, -1); err == nil {
			a.held = a.file.Held()
		}
	case p.ephemeral:
		a.log = store.Ephemeral(begun)
	default:
		a.log, a.file, err = store.Create(s.home, begun)
	}
	return err
}

// session is what an agent needs, made of what was found.
func (s *settings) session(w world, box sandbox.Box, known project.Known, m *local.Prepared, log *event.Log, before earlier) (agent.Config, error) {
	with, err := s.setting(known, m.Info, m.Address, m.Window, before)
	if err != nil {
		return agent.Config{}, err
	}
	chosen := with.harness
	summary, err := s.summary()
	if err != nil {
		return agent.Config{}, err
	}
	if summary != "" {
		chosen.Prose, chosen.Digest = ownSummary{chosen.Prose, summary}, nil
	}
	approval, err := approve.ParsePolicy(s.approval)
	if err != nil {
		return agent.Config{}, err
	}
	class := agent.ClassOf(m.Info.Parameters)
	if with.env.Large {
		class = agent.Large
	}
	id := idOf(log)
	return agent.Config{
		Model: m.Model, ModelName: m.Info.Name, Provider: m.Provider, Wire: m.Wire, Window: m.Window,
		Effort: s.ModelReasoningEffort, Harness: chosen, HarnessWhy: with.why, Env: with.env,
		Workspace: &action.Workspace{
			Dir: s.dir, Box: box, Shell: w.shell(), Spill: filepath.Join(s.home, "outputs", id),
			Guides: s.guides(),
			Env:    s.commandEnvironment(w, id),
		},
		Git:      func(dir string) bool { return project.QuietGit(context.Background(), box, dir, s.childEnvironment(w)) },
		Approval: approval, Unasked: s.switchedOff(), Rules: s.rules, Remember: s.remember, Log: log, CompactAt: s.ModelAutoCompactTokenLimit, MaxCalls: agent.CallsFor(m.Info.Parameters), Class: class,
		Distrust: m.Downgrade,
	}, nil
}

// project gathers what is known of the working directory. The instruction files of a folder that a person does not
// trust are left out.
func (s *settings) project(ctx context.Context, w world, policy sandbox.Policy) (project.Known, error) {
	return project.Gather(ctx, project.Options{
		Dir: s.dir, Home: s.home, Shell: w.shell(), TZ: w.env("TZ"), Now: time.Now(), Policy: policy,
		NoDocs: s.ProjectDocMaxBytes == 0 || s.Trust == config.Untrusted, DocBytes: s.ProjectDocMaxBytes,
		Markers: s.ProjectRootMarkers, Fallbacks: s.ProjectDocFallbackFilenames,
	})
}

// guides are the names of instruction files that count in folders below the working directory.
func (s *settings) guides() []string {
	if s.ProjectDocMaxBytes == 0 || s.Trust == config.Untrusted {
		return nil
	}
	return project.Names(s.ProjectDocFallbackFilenames)
}

// unasked names the instruction files that count although nobody has said whether this folder is trusted.
func (s *settings) unasked(docs []harness.Doc) []string {
	var found []string
	for _, d := range docs {
		if s.Trust == config.Undecided && filepath.Dir(d.Path) != s.home {
			found = append(found, d.Path)
		}
	}
	if len(found) == 0 {
		return nil
	}
	return []string{"the model reads " + strings.Join(found, " and ") + "; nobody has said yet whether this folder is trusted"}
}

// harness picks what is presented to a model, and says why. A session that goes on keeps its own, unless this run asks
// for another: a new one would make the server read everything anew.
func (s *settings) suited(m local.ModelInfo, address string, before earlier) (harness.Harness, string, error) {
	id, chosen := s.HarnessChoice()
	if now := s.Origin("harness"); before.any && before.opened.Model == m.Name && now != "flags" && now != "command line" {
		if h, err := catalog.Named(before.opened.Harness); err == nil {
			return h, "as before in this session", nil
		}
	}
	if chosen {
		h, err := namedHarness(id)
		return h, s.whoseHarness(), err
	}
	h, why := catalog.For(catalog.Model{
		Name: m.Name, Provider: m.Provider, ProviderName: s.ModelProviders[m.Provider].Name, BaseURL: address,
		Architecture: m.Architecture, Template: m.Template, Wire: s.wireOf(m.Provider), Listed: catalogued(m.Name),
	})
	return h, why, nil
}

// catalogued is the harness that our catalogue of models names for a model, "" when it does not know it.
func catalogued(name string) string {
	entry, _ := local.Lookup(name)
	return entry.Harness
}

// idOf is the id of the session in a log.
func idOf(log *event.Log) string {
	for _, e := range log.Events() {
		if b, ok := e.Body.(event.Begun); ok {
			return b.ID
		}
	}
	return ""
}
