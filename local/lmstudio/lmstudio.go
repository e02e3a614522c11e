// Package lmstudio is the provider for LM Studio. It lists, downloads and loads models over the server's own REST API,
// of which there are two generations, and converses over its chat-completions wire by way of package openai. It knows
// no prompts and no harness, contacts no address but the one it is given, and never lets the server load a model with
// a window that nobody chose: what the server loads by itself when a chat names a model is far too small for an agent.
//
// LM Studio tells nothing of a model's layers, names no digest and says nothing of the memory that it uses. What this
// package knows of them comes from the catalogue or from the model's file, and is left unknown otherwise.
package lmstudio

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"interpreter/local"
	"interpreter/local/openai"
)

// Options are what a person says of a server. The zero value is right for most.
type Options struct {
	Header http.Header   // sent with every request, for a server behind a gate
	Query  url.Values    // added to every address
	First  time.Duration // silence allowed before an answer begins; 0: half an hour, more for a slow reader
	Idle   time.Duration // silence allowed within an answer; 0: five minutes
	Token  string        // sent as a bearer token; LM Studio asks for one when it is told to
	Files  string        // the folder where the server keeps its models, "" when it is not known or not here
	// CLI runs lms, the command that comes with LM Studio, and returns its standard output; nil: there is none. It is used
	// for what the API cannot do, and only when the server is on this machine.
	CLI func(ctx context.Context, args ...string) ([]byte, error)
}

// Provider is an LM Studio server at one address.
type Provider struct {
	base    string
	options Options
	client  *http.Client
	chat    *openai.Provider
	pause   func(ctx context.Context, d time.Duration) error

	lock    sync.Mutex
	linked  *link                     // nil: not asked yet
	headers map[int64]local.ModelInfo // by the size of the files
}

// The limits of the calls that are not an answer.
const (
	connectFor = 2 * time.Second
	listFor    = 5 * time.Second
	loadFor    = 20 * time.Minute
	lookAfter  = time.Second      // between two looks at a download
	pullStall  = 2 * time.Minute  // without a byte
	startFor   = 45 * time.Second // for a server to answer
)

// New returns the provider at a base URL, with or without a final /v1. Nothing is sent yet.
func New(base string, o Options) (*Provider, error) {
	u, err := url.Parse(strings.TrimSpace(base))
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("use the address %q: it is no http or https URL", base)
	}
	o.Header, o.Query = local.Gate(u, o.Header), maps.Clone(o.Query)
	if o.Token != "" {
		o.Header.Set("Authorization", "Bearer "+o.Token)
	}
	u.Path = strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/v1")
	u.RawPath, u.RawQuery, u.Fragment = "", "", ""
	p := &Provider{
		base: strings.TrimRight(u.String(), "/"), options: o, pause: local.Sleep, headers: map[int64]local.ModelInfo{},
		client: local.Client(connectFor),
	}
	p.chat, err = openai.New(p.base+"/v1", openai.Options{
		Name: p.Name(), Header: o.Header, Query: o.Query, First: o.First, Idle: o.Idle, Start: startRemedy, Key: tokenRemedy, Loads: true,
	})
	return p, err
}

const (
	startRemedy = "start the server with: lms server start, or in LM Studio's developer tab"
	tokenRemedy = "make a token in LM Studio's developer settings and put it into the variable LM_API_TOKEN"
)

// Name is "lmstudio".
func (p *Provider) Name() string { return "lmstudio" }

// Address is the base URL, without /v1.
func (p *Provider) Address() string { return p.base }

// Wire is "chat": chat completions.
func (p *Provider) Wire() string { return "chat" }

// StartCommand starts the server.
func (p *Provider) StartCommand() string { return "lms server start" }

// PullCommand installs a model by hand.
func (p *Provider) PullCommand(model string) string { return "lms get " + quoted(model) }

// Advise warns of a server that cannot be told the window of a model. version is an answer of Version.
func (p *Provider) Advise(version string) string {
	if version == eraV1.String() || version == "" || p.cli() != nil {
		return ""
	}
	return fmt.Sprintf("LM Studio %s cannot be told over its API how large a window to load; update it to 0.4.0 or later, or load the model by hand with: lms load NAME --context-length N", version)
}

// Share lists what lets another program and this one use a model with the same window.
func (p *Provider) Share(model string, window int) []string {
	load := loadCommand(model, window)
	if window == 0 {
		load = "lms load " + quoted(model) + " --parallel 1"
	}
	return []string{"load it once for both: lms unload " + quoted(model) + ", then " + load}
}

// LoadSingle is the command that loads a model with room for one conversation alone: the API cannot.
func (p *Provider) LoadSingle(model string, window int) string {
	return "lms unload " + quoted(model) + ", then " + loadCommand(model, window)
}

// Relieve is what makes the server keep keys and values in half the memory.
func (p *Provider) Relieve() string {
	return "in LM Studio's load settings of the model, set K cache and V cache quantization to Q8_0"
}

// loadCommand is how a person loads a model with a window and with room for one conversation.
func loadCommand(model string, window int) string {
	return fmt.Sprintf("lms load %s --context-length %d --parallel 1", quoted(model), window)
}

// quoted is a name as a shell takes it.
func quoted(name string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:@+,", r)
	}
	if name != "" && strings.TrimFunc(name, plain) == "" {
		return name
	}
	return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
}

// cli is the command of this machine's LM Studio, nil when there is none or when it would speak to another server than
// the one at our address.
func (p *Provider) cli() func(ctx context.Context, args ...string) ([]byte, error) {
	if p.options.CLI == nil || !local.OnThisMachine(p.base) {
		return nil
	}
	return p.options.CLI
}

var _ interface {
	local.Provider
	local.Guide
	local.Unloader
	local.Wired
	local.Counsel
	local.Starter
} = (*Provider)(nil)
