// Package messages is the provider for servers that speak the messages wire, POST {base}/v1/messages: llama.cpp's
// server, LM Studio, Ollama from 0.14, vLLM, and gateways. It owns that wire alone. What is served, and with which
// window, it asks as package openai does, since the same servers list their models on the same path. It knows no
// prompts and no harness, asks nothing twice but what a server will not read as it was written, and imitates no other
// program: it sends no headers but the wire's own and those that a person configured, no marks for a cache, and no
// word of whose session it is.
package messages

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strings"

	"interpreter/local"
	"interpreter/local/chat"
	"interpreter/local/openai"
)

// version is the version of the wire that is spoken.
const version = "2023-06-01"

// Provider is a server at one address. What it lists, and how it is found out which window is served, is the embedded
// provider's.
type Provider struct {
	*openai.Provider
	vendor bool // the wire's own vendor, who checks what is given back
}

// New returns the provider at a base URL, with or without the version of the API. Nothing is sent yet.
func New(base string, o openai.Options) (*Provider, error) {
	o.Name, o.API = cmp.Or(o.Name, "messages"), "messages"
	o.Header = o.Header.Clone()
	if o.Header == nil {
		o.Header = http.Header{}
	}
	if o.Header.Get("Anthropic-Version") == "" {
		o.Header.Set("Anthropic-Version", version)
	}
	p, err := openai.New(base, o)
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(strings.TrimSpace(base))
	return &Provider{Provider: p, vendor: err == nil && isVendor(u.Hostname())}, err
}

// isVendor reports the host of the wire's own vendor: it refuses thoughts without its signature, and ids that are not
// plain words.
func isVendor(host string) bool {
	host = strings.ToLower(host)
	return host == "anthropic.com" || strings.HasSuffix(host, ".anthropic.com")
}

// Wire is "messages".
func (p *Provider) Wire() string { return "messages" }

// Load has nothing to load: a server was started with its model and its window.
func (p *Provider) Load(ctx context.Context, info local.ModelInfo, l local.Loading) (chat.Model, error) {
	id, window, err := p.Serving(ctx, info, l)
	if err != nil {
		return nil, err
	}
	return p.Chat(info, id, window), nil
}

// Chat is the handle of a model whose id on the wire is id and whose window has so many tokens, 0 when that is unknown.
// Nothing is sent yet.
func (p *Provider) Chat(info local.ModelInfo, id string, window int) chat.Model {
	return &model{provider: p, info: info, id: id, window: window}
}

var _ interface {
	local.Provider
	local.Wired
	local.Fixed
} = (*Provider)(nil)
