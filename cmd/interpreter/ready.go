package main

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"interpreter/harness"
	"interpreter/harness/catalog"
	"interpreter/local"
	"interpreter/local/chat"
	"interpreter/probes"
)

// readying is what a command wants of a model that is made ready, and how it is told. Each field may be left out.
type readying struct {
	model    string            // instead of the one of -m
	servers  []local.Provider  // instead of those of the run
	thorough bool              // the tool check with all its stages
	stage    func(local.Stage) // told each step
	tick     func(time.Time)   // told each second in between
}

// ready gets the model.
func (s *settings) ready(ctx context.Context, w world, f *flags, r readying) (*local.Prepared, error) {
	if r.servers != nil {
		s.asked = r.servers
	}
	servers, err := s.providers(w)
	if err != nil {
		return nil, err
	}
	if r.model == "" {
		r.model = f.model
	}
	o := local.Options{
		Providers: servers, Machine: func(ctx context.Context) probes.Machine { return w.machine(ctx, s.home, false) }, Model: r.model, Configured: s.Model, Window: s.ModelContextWindow,
		CacheType: local.CacheType(s.LocalKVCacheType), CacheAt: s.cacheAt, Remote: r.model != "", Loads: filepath.Join(s.home, "loads.json"),
		Reload: func(string) bool { return f.reload || s.ReloadLoadedModels },
		Pull:   f.pull, Verdicts: s.verdictFile(), Rescue: rescue, SkipCheck: !s.ToolCheck && !r.thorough, Patience: s.patience(w),
		Prefix: s.prefix, Thorough: r.thorough, Forwarded: probes.Forwarded, Spoken: s.spoken(),
	}
	return r.follow(ctx, o)
}

// spoken reports whether the harness that a person named takes calls from text. None is chosen that does otherwise.
func (s *settings) spoken() bool {
	id, chosen := s.HarnessChoice()
	h, err := catalog.Named(id)
	return chosen && err == nil && h.Text
}

// step is one that local.Ready yields.
type step struct {
	local.Stage
	err error
}

// follow makes a model ready and passes on what is told meanwhile, all of it from one goroutine.
func (r readying) follow(ctx context.Context, o local.Options) (*local.Prepared, error) {
	ctx, cancel := context.WithCancel(ctx)
	steps := make(chan step)
	defer func() {
		cancel()
		for range steps { // until the one below has ended
		}
	}()
	go func() {
		defer close(steps)
		for stage, err := range local.Ready(ctx, o) {
			steps <- step{stage, err}
		}
	}()
	beat := time.NewTicker(time.Second)
	defer beat.Stop()
	for {
		select {
		case now := <-beat.C:
			if r.tick != nil {
				r.tick(now)
			}
		case one, open := <-steps:
			switch {
			case !open:
				return nil, errors.New("get a model ready: it ended without one")
			case one.err != nil:
				return nil, one.err
			}
			if r.stage != nil {
				r.stage(one.Stage)
			}
			if one.Ready != nil {
				return one.Ready, nil
			}
		}
	}
}

// rescue reads calls that a server passed on as text, as every harness with tools does.
func rescue(m chat.Message) (chat.Message, error) {
	h, err := catalog.Named("native")
	if err != nil {
		return m, err
	}
	read, err := h.Rescue(harness.Answer{Message: m, Finish: chat.Stopped})
	return read.Message, err
}
