package main

import (
	"context"
	"errors"
	"path/filepath"

	"interpreter/harness/catalog"
	"interpreter/local"
	"interpreter/local/chat"
	"interpreter/probes"
)

// ready gets the model.
func (s *settings) ready(ctx context.Context, w world, f *flags, stage func(local.Stage)) (*local.Prepared, error) {
	providers, err := s.providers(w)
	if err != nil {
		return nil, err
	}
	o := local.Options{
		Providers: providers, Machine: probes.Probe, Model: f.model, Configured: s.Model, Window: s.ModelContextWindow,
		Pull: f.pull, Verdicts: filepath.Join(s.home, "verdicts.json"), Rescue: rescue, SkipCheck: !s.ToolCheck, Patience: s.patience(w),
	}
	for step, err := range local.Ready(ctx, o) {
		if err != nil {
			return nil, err
		}
		if stage != nil {
			stage(step)
		}
		if step.Ready != nil {
			return step.Ready, nil
		}
	}
	return nil, errors.New("get a model ready: it ended without one")
}

// rescue reads calls that a server passed on as text, as every harness does.
func rescue(m chat.Message) (chat.Message, error) {
	h, err := catalog.Named("native")
	if err != nil || h.Decode == nil {
		return m, err
	}
	return h.Decode(m)
}

