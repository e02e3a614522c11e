package local

import (
	"context"
	"fmt"
	"time"
)

// Whole is all that a server can tell of a model that it lists: the list's own facts, what Show adds, and the counts
// per layer where a Measurer has them. Of a model that runs elsewhere the list's facts are all: asked for more, a server
// asks its vendor's machines.
func Whole(ctx context.Context, p Provider, listed ModelInfo) (ModelInfo, error) {
	if remoteReason(listed) != "" {
		return listed, nil
	}
	m, err := complete(ctx, p, listed)
	if err != nil {
		return ModelInfo{}, err
	}
	if measurer, ok := p.(Measurer); ok && m.Geometry.Partial {
		full, err := measurer.Measure(ctx, m)
		if err != nil {
			return ModelInfo{}, fmt.Errorf("look at %s: %w", m.Name, err)
		}
		m.Geometry = full.Geometry
	}
	return m, nil
}

// HeldBy is what models in a server's memory occupy and would give back, in bytes.
func HeldBy(residents []Resident) Held { return held(residents) }

// Kept is the newest proof in a file of verdicts that a model of a provider calls tools, whatever the harness was, and
// when it was made. false when none stands.
func Kept(path, provider string, m ModelInfo, now time.Time) (Verdict, time.Time, bool) {
	proof, ok := readVerdicts(path).proofOf(provider, m, now)
	return proof.Verdict, proof.When, ok
}

// MeasuredRates are the speeds of a model at a provider that a tool check has measured on this machine, 0 when none has.
func MeasuredRates(path, provider string, m ModelInfo) Rates {
	prefill, decode := readVerdicts(path).rates(provider, m)
	return Rates{Prefill: prefill, Decode: decode}
}
