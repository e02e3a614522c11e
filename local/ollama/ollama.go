// Package ollama is the provider for Ollama's native API. It owns that wire and nothing else: it lists, pulls and
// loads models, sends a chat.Request and puts the stream together into deltas. It knows no prompts and no harness,
// asks nothing twice (package local retries), contacts no address but the one it is given, and never lets the server
// cut a prompt or shift a window in silence.
package ollama

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
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

	lock     sync.Mutex
	measured map[string]local.Geometry // by digest
}

// The limits of the calls that are not an answer.
const (
	connectFor = 2 * time.Second
	listFor    = 5 * time.Second
	measureFor = 60 * time.Second
	loadFor    = 20 * time.Minute
	pullStall  = 2 * time.Minute
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
	path := strings.TrimRight(u.Path, "/")
	u.Path, u.RawQuery, u.Fragment = strings.TrimSuffix(path, "/v1"), "", ""
	return &Provider{
		base:    strings.TrimRight(u.String(), "/"),
		options: o,
		pause:   local.Sleep,
		// No proxy and no limit on the whole answer: reading a long prompt may take many minutes.
		client: &http.Client{
			Transport: &http.Transport{
				DialContext:        (&net.Dialer{Timeout: connectFor}).DialContext,
				DisableCompression: true,
				MaxIdleConns:       4,
				IdleConnTimeout:    time.Minute,
			},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		measured: map[string]local.Geometry{},
	}, nil
}

// Name is "ollama".
func (p *Provider) Name() string { return "ollama" }

// Address is the base URL, without /v1.
func (p *Provider) Address() string { return p.base }

// StartCommand starts the server.
func (p *Provider) StartCommand() string { return "ollama serve" }

// PullCommand installs a model by hand.
func (p *Provider) PullCommand(model string) string { return "ollama pull " + model }

// The first versions that can be told not to cut prompts, and that can be told to keep everything on this machine.
var (
	oldest = [3]int{0, 12, 4}
	aged   = [3]int{0, 16, 2}
)

// Advise warns of a server that is too old to be told not to cut a prompt, or older than what is recommended.
// Development builds call themselves 0.0.0.
func (p *Provider) Advise(version string) string {
	v, ok := parseVersion(version)
	switch {
	case !ok || v == [3]int{}:
		return ""
	case slices.Compare(v[:], oldest[:]) < 0:
		return fmt.Sprintf("ollama %s cuts long prompts in silence; update it to 0.12.4 or later", version)
	case slices.Compare(v[:], aged[:]) < 0:
		return fmt.Sprintf("ollama %s is old: it changes the order of what tools say of themselves, and its cloud cannot be switched off; update it to 0.16.2 or later", version)
	}
	return ""
}

func parseVersion(text string) ([3]int, bool) {
	var v [3]int
	text, _, _ = strings.Cut(strings.TrimPrefix(text, "v"), "-")
	parts := strings.Split(text, ".")
	if len(parts) > 3 {
		return v, false
	}
	for i, part := range parts {
		n, err := strconv.Atoi(part)
		if err != nil {
			return v, false
		}
		v[i] = n
	}
	return v, true
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
	failure.RetryAfter = retryAfter(res.Header.Get("Retry-After"), res.Header.Get("Date"))
	return nil, failure
}

// ask makes a small request and decodes the answer.
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
	data, err := io.ReadAll(res.Body)
	if err != nil {
		return p.transport(ctx, model, err)
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
	if cause := context.Cause(ctx); cause != nil {
		var failure *chat.Error
		if errors.As(cause, &failure) || errors.Is(cause, context.Canceled) {
			return cause
		}
		return &chat.Error{Kind: chat.Idle, Model: model, Detail: "no answer from " + p.base + " in time", Err: cause}
	}
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" {
		return &chat.Error{
			Kind: chat.Unreachable, Model: model, Detail: "nobody answers at " + p.base, Err: err,
			Remedy: "start the server with: ollama serve",
		}
	}
	return &chat.Error{Kind: chat.Broken, Model: model, Detail: "the connection broke off", Err: err}
}
