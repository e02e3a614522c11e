// Package ollama is the provider for Ollama's native API. It owns that wire and nothing else: it lists, pulls and
// loads models, sends a chat.Request and puts the stream together into deltas. It knows no prompts and no harness,
// asks nothing twice (package local retries), contacts no address but the one it is given, and never lets the server
// cut a prompt or shift a window in silence.
package ollama

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"interpreter/local"
	"interpreter/local/chat"
)

// Options are a server's settings that a person may change. The zero value is right for most.
type Options struct {
	KeepAlive string         // how long a model stays loaded after a call, as a Go duration; "" is 30m
	Load      map[string]any // further load-time options sent with every call, such as num_gpu
	First     time.Duration  // silence allowed before the first byte of an answer; 0: half an hour, more for a slow reader
	Idle      time.Duration  // silence allowed between bytes; 0: five minutes
	Header    http.Header    // sent with every request, for a server behind a gate
	Query     url.Values     // added to every address
}

// Provider is an Ollama server at one address.
type Provider struct {
	base    string
	options Options
	client  *http.Client
	pause   func(ctx context.Context, d time.Duration) error
	now     func() time.Time
	keep    time.Duration // of options.KeepAlive, negative: for ever
	leave   time.Duration // until a server of ours that was asked to end is made to

	lock     sync.Mutex
	measured map[string]local.Geometry // by digest
}

// The limits of the calls that are not an answer.
const (
	connectFor = 2 * time.Second
	listFor    = 5 * time.Second
	measureFor = 60 * time.Second
	removeFor  = time.Minute

	unloadLooks, unloadPause = 50, 100 * time.Millisecond

	loadFor    = 20 * time.Minute
	pullStall  = 2 * time.Minute
	verifyFor  = 30 * time.Minute
	firstByte  = 30 * time.Minute
	betweenTwo = 5 * time.Minute
)

// New returns the provider at a base URL, with or without a final /v1. Nothing is sent yet.
func New(base string, o Options) (*Provider, error) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("use the address %q: it is no http or https URL", base)
	}
	if o.KeepAlive == "" {
		o.KeepAlive = "30m"
	}
	if o.First == 0 {
		o.First = firstByte
	}
	if o.Idle == 0 {
		o.Idle = betweenTwo
	}
	o.Header = local.Gate(u, o.Header)
	path := strings.TrimRight(u.Path, "/")
	u.Path, u.RawQuery, u.Fragment = strings.TrimSuffix(path, "/v1"), "", ""
	return &Provider{
		base:     strings.TrimRight(u.String(), "/"),
		options:  o,
		pause:    local.Sleep,
		now:      time.Now,
		keep:     keepFor(o.KeepAlive),
		leave:    leaveFor,
		client:   local.Client(connectFor),
		measured: map[string]local.Geometry{},
	}, nil
}

// Name is "ollama".
func (p *Provider) Name() string { return "ollama" }

// Address is the base URL, without /v1.
func (p *Provider) Address() string { return p.base }

// StartCommand starts the server.
func (p *Provider) StartCommand() string { return "ollama serve" }

// Wire is that of the native chat API.
func (p *Provider) Wire() string { return "ollama" }

// PullCommand installs a model by hand.
func (p *Provider) PullCommand(model string) string { return "ollama pull " + model }

// Share lists what lets another program and this one use a model with the same window.
func (p *Provider) Share(model string, window int) []string {
	ways := []string{"ollama stop " + model}
	if window > 0 {
		ways = append(ways, fmt.Sprintf("OLLAMA_CONTEXT_LENGTH=%d in the environment of the server, for all programs", window))
	}
	return ways
}

// Relieve is the setting that keeps keys and values in half the memory. It is read when the server starts.
func (p *Provider) Relieve() string {
	return "OLLAMA_FLASH_ATTENTION=1 OLLAMA_KV_CACHE_TYPE=q8_0 in the environment of the server, and a restart of it"
}

// Remove deletes an installed model.
func (p *Provider) Remove(ctx context.Context, name string) error {
	return p.ask(ctx, removeFor, http.MethodDelete, "/api/delete", name, map[string]any{"model": name}, nil)
}

// Unload gives a model's memory back. The server answers before it has: a moment later the list tells.
func (p *Provider) Unload(ctx context.Context, r local.Resident) error {
	in := map[string]any{"model": r.Name, "messages": []any{}, "keep_alive": 0, "stream": false}
	if err := p.ask(ctx, listFor, http.MethodPost, "/api/chat", r.Name, in, nil); err != nil {
		return err
	}
	for range unloadLooks {
		loaded, err := p.Loaded(ctx)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(loaded, func(have local.Resident) bool { return local.SameModel(have.Name, r.Name) }) {
			return nil
		}
		if err := p.pause(ctx, unloadPause); err != nil {
			return err
		}
	}
	return &chat.Error{Kind: chat.Busy, Model: r.Name, Detail: "the server still holds it: another program is using it"}
}

// gates are the releases that ended what a session suffers from on older ones, the oldest first. From the history of the
// API's types and of the server's settings.
var gates = [...]struct {
	since  string
	before string // what a server from before it does
}{
	{"0.12.4", "cuts long prompts in silence"},
	{"0.15.6", "changes the order of arguments and of what tools say of themselves"},
	{"0.16.2", "cannot be told to keep its cloud models off"},
	{"0.24.0", "hides from a model which members of nested arguments a tool requires"},
}

// Advise says what a server suffers from that is older than one of the gates, the worst first, and the release that ends
// it all. Development builds call themselves 0.0.0, which is new enough; so is what is no version of numbers.
func (p *Provider) Advise(version string) string {
	var faults []string
	for _, gate := range gates {
		if local.OlderThan(version, gate.since) {
			faults = append(faults, gate.before)
		}
	}
	if len(faults) == 0 {
		return ""
	}
	if last := len(faults) - 1; last > 0 {
		faults[last] = "and " + faults[last]
	}
	return fmt.Sprintf("ollama %s %s; update it to %s or later", version, strings.Join(faults, ", "), gates[len(gates)-1].since)
}

func (p *Provider) send(ctx context.Context, method, path, model string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, p.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("ask ollama at %s: %w", p.base, err)
	}
	maps.Copy(req.Header, p.options.Header)
	req.URL.RawQuery = p.options.Query.Encode()
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := p.client.Do(req)
	if err != nil {
		return nil, p.transport(ctx, model, err)
	}
	if res.StatusCode/100 == 2 {
		return res, nil
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(res.Body, 64<<10))
	failure := classify(res.StatusCode, said(text), model)
	if model == "" && failure.Kind == chat.Missing { // no model was asked for
		failure.Kind, failure.Remedy = chat.Invalid, "check the address: what answers there has no such call"
	}
	failure.RetryAfter = local.RetryAfter(res.Header)
	return nil, failure
}

// ask makes a small request and decodes the answer, unless out is nil.
func (p *Provider) ask(ctx context.Context, limit time.Duration, method, path, model string, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return fmt.Errorf("ask ollama at %s: %w", p.base, err)
		}
	}
	res, err := p.send(ctx, method, path, model, body)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, longestLine))
	if err != nil {
		return p.transport(ctx, model, err)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(data, out); err != nil {
		return &chat.Error{
			Kind: chat.Invalid, Model: model, Err: err, Status: res.StatusCode,
			Detail: fmt.Sprintf("%s%s is no answer of an Ollama server", p.base, path),
			Remedy: "check the address: another program answers there",
		}
	}
	return nil
}

// transport says what a failure below HTTP means.
func (p *Provider) transport(ctx context.Context, model string, err error) error {
	return local.ForModel(local.NoAnswer(ctx, err, p.base, "start the server with: ollama serve"), model)
}
