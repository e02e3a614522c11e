package main

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"interpreter/cmd/config"
	"interpreter/local"
	"interpreter/local/ollama"
)

// providers are the model servers to ask, in order. A new provider is one line here.
func (s *settings) providers(w world) ([]local.Provider, error) {
	known := map[string]func() (local.Provider, error){
		"ollama": func() (local.Provider, error) { return s.ollama(w) },
	}
	id := s.ModelProvider
	if id == "" {
		id = "ollama"
	}
	make, ok := known[id]
	if !ok {
		return nil, try(fmt.Errorf("model provider %q is not part of this version; it has: ollama", id),
			"--oss --local-provider ollama, or model_provider = \"ollama\" in config.toml")
	}
	p, err := make()
	if err != nil {
		return nil, err
	}
	return []local.Provider{p}, nil
}

// ollama is the server of that kind that a person points at.
func (s *settings) ollama(w world) (local.Provider, error) {
	at := ollama.Addresses{
		CodexBaseURL: w.env("CODEX_OSS_BASE_URL"), CodexPort: w.env("CODEX_OSS_PORT"), OllamaHost: w.env("OLLAMA_HOST"),
	}
	entry := s.ModelProviders["ollama"]
	if s.Origin("model_providers", "ollama", "base_url") == "command line" {
		at.Override = entry.BaseURL
	} else {
		at.Configured = entry.BaseURL
	}
	base, _, err := ollama.Address(at)
	if err != nil {
		return nil, err
	}
	header, err := gate(w, "ollama", entry)
	if err != nil {
		return nil, err
	}
	query := url.Values{}
	for name, value := range entry.QueryParams {
		query.Set(name, value)
	}
	return ollama.New(base, ollama.Options{Idle: entry.StreamIdleTimeout, Header: header, Query: query})
}

// gate is the header that a person wants each request to a server to carry. A key that is named but not there is an
// error; without any of it nothing is sent.
func gate(w world, id string, p config.ModelProvider) (http.Header, error) {
	header := http.Header{}
	for name, value := range p.HTTPHeaders {
		header.Set(name, value)
	}
	for name, variable := range p.EnvHTTPHeaders {
		if value := strings.TrimSpace(w.env(variable)); value != "" {
			header.Set(name, value)
		}
	}
	token := p.ExperimentalBearerToken
	if p.EnvKey != "" {
		if token = strings.TrimSpace(w.env(p.EnvKey)); token == "" {
			return nil, try(fmt.Errorf("use model provider %s: the environment has no %s, which model_providers.%s.env_key names", id, p.EnvKey, id),
				cmp.Or(p.EnvKeyInstructions, "export "+p.EnvKey+"=…"))
		}
	}
	if token != "" {
		header.Set("Authorization", "Bearer "+token)
	}
	return header, nil
}

// patience is how often a person wants a failing request repeated; a 0 that they wrote means not at all.
func (s *settings) patience(w world) local.Patience {
	p := w.patience
	entry, known := s.ModelProviders["ollama"]
	if !known {
		return p
	}
	if p.Requests = entry.RequestMaxRetries; p.Requests == 0 {
		p.Requests = -1
	}
	if p.Streams = entry.StreamMaxRetries; p.Streams == 0 {
		p.Streams = -1
	}
	return p
}
