package main

import (
	"errors"
	"fmt"
	"strings"

	"interpreter/harness"
	"interpreter/harness/catalog"
	"interpreter/local"
)

// harness picks what is presented to a model, and says why. One that its server's wire has no form for is refused.
func (s *settings) harness(m local.ModelInfo, address string, before earlier) (harness.Harness, string, error) {
	h, why, err := s.suited(m, address, before)
	if err != nil {
		return h, why, err
	}
	return h, why, s.speaks(h, m.Provider)
}

// speakable refuses a provider whose wire has no form for the harness that this run would use, as far as that is known
// before the server is asked for anything.
func (s *settings) speakable(provider string) error {
	wire := s.wireOf(provider)
	if wire == "" {
		return nil
	}
	_, _, err := s.harness(local.ModelInfo{Name: s.Model, Provider: provider}, s.ModelProviders[provider].BaseURL, earlier{})
	var unfit *harness.WireError
	if errors.As(err, &unfit) {
		return err
	}
	return nil // what else is wrong with the harness is said by who asks for it
}

// speaks refuses a harness on a wire that it is not made for, and says which ones are.
func (s *settings) speaks(h harness.Harness, provider string) error {
	err := h.Speaks(s.wireOf(provider))
	if err == nil {
		return nil
	}
	var made []string
	for _, other := range catalog.All() {
		if other.Speaks(s.wireOf(provider)) == nil {
			made = append(made, other.Name)
		}
	}
	remedy := fmt.Sprintf("model_providers.%s.wire_api = \"chat\" in config.toml, or --chat-completions, if the server has that wire too", provider)
	if len(made) > 0 {
		remedy = "--harness with one that is made for it (" + strings.Join(made, ", ") + "); or " + remedy
	}
	return try(fmt.Errorf("use model provider %s: %w", provider, err), remedy)
}
