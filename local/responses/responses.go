// Package responses is the provider for servers that speak the responses wire, POST {base}/v1/responses: Ollama from
// 0.13.3, LM Studio from 0.3.29, llama.cpp's server, vLLM, and hosted ones. It owns that wire alone and uses it without
// memory: every request carries the whole conversation, and the server is asked to store none. What is served, and with
// which window, it asks as package openai does, since the same servers list their models on the same path. It knows no
// prompts and no harness, and asks nothing twice but what a server will not read as it was written.
package responses

import (
	"cmp"
	"context"
	"net/url"
	"strings"

	"interpreter/local"
	"interpreter/local/chat"
	"interpreter/local/openai"
)

// Provider is a server at one address. What it lists, and how it is found out which window is served, is the embedded
// provider's.
type Provider struct {
	*openai.Provider
	vendor bool // the wire's own vendor, who checks what is given back
	here   bool // the server is on this machine
}

// New returns the provider at a base URL, with or without the version of the API. Nothing is sent yet.
func New(base string, o openai.Options) (*Provider, error) {
	o.Name, o.API = cmp.Or(o.Name, "responses"), "responses"
	p, err := openai.New(base, o)
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(strings.TrimSpace(base))
	return &Provider{Provider: p, vendor: err == nil && isVendor(u.Hostname()), here: local.OnThisMachine(p.Address())}, err
}

// isVendor reports the host of the wire's own vendor: it takes thoughts back only in the sealed form that it gave.
func isVendor(host string) bool {
	host = strings.ToLower(host)
	return host == "openai.com" || strings.HasSuffix(host, ".openai.com")
}

// Wire is "responses".
func (p *Provider) Wire() string { return "responses" }

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
