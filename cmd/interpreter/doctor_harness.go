package main

import (
	"context"

	"interpreter/local"
)

// findHarness is what would be presented to the model of a run, and why.
func (s *settings) findHarness(ctx context.Context, all stock) []finding {
	const name = "harness"
	var found []finding
	for _, text := range s.strangeTools() {
		one := warn(name, "mend harness_tools; interpreter harness show says what a harness offers on request", "%s", text)
		if s.strict {
			one.State = broken
		}
		found = append(found, one)
	}
	if err := s.knownHarness(); err != nil {
		return append(found, fail(name, remedyOf(err), "%v", err))
	}
	m, address := local.ModelInfo{Name: s.Model, Provider: s.ModelProvider}, s.ModelProviders[s.ModelProvider].BaseURL
	if have, err := s.ofRun(all, s.Model); s.Model != "" && err == nil { // what is installed tells more than its name
		if whole, err := have.whole(ctx); err == nil {
			m, address = whole, have.server.Address()
			m.Provider = have.server.Name()
		}
	}
	h, why, err := s.harness(m, address, earlier{})
	_, chosen := s.HarnessChoice()
	switch {
	case err != nil:
		return append(found, fail(name, remedyOf(err), "%v", err))
	case chosen:
		return append(found, ok(name, "%s, %s", h.Name, why))
	case s.Model == "":
		return append(found, ok(name, "the model decides, and none is named"))
	}
	return append(found, ok(name, "%s for %s: %s", h.Name, m.Name, why))
}
