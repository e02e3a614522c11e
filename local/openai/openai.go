// Package openai is the provider for servers that speak the chat-completions wire: llama.cpp's server, vLLM, and any
// other at an address that a person names. It owns that wire and nothing else: it lists what is served, sends a
// chat.Request and puts the stream together into deltas. It knows no prompts and no harness, asks nothing twice but
// what a server will not read as it was written (package local repeats), follows no redirect, uses no proxy, and
// contacts no address but the one it is given. It cannot download, load or unload a model.
package openai

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"interpreter/local"
)

// chatAPI is what this package speaks, in the words of an error.
const chatAPI = "chat-completions"

// Options are what a person says of a server. The zero value is right for most.
type Options struct {
	Name   string        // the provider's id, as model_provider names it; "": "openai"
	Header http.Header   // sent with every request: a key, a gate's token
	Query  url.Values    // added to every address
	First  time.Duration // silence allowed before an answer begins; 0: half an hour, more for a slow reader
	Idle   time.Duration // silence allowed within an answer; 0: five minutes
	Window int           // tokens the server serves, for one that does not say; 0: unknown

	// API names what is spoken, in the words of an error; "": chat-completions. It is for packages that speak another wire
	// to the same kinds of servers.
	API string
	// Thinking names the member that carries a model's earlier thinking back to it; "": reasoning_content, "-": none.
	Thinking string
	// Start is how the server is started, and Key how it is given its key, as remedies; "": in general words.
	Start, Key string
	// Lone says that the body of one answer lies there already, so there is no address to name in an error.
	Lone bool
	// Loads says that who builds on this wire loads models itself, so that a larger window takes no other server.
	Loads bool
}

// Provider is a server at one address.
type Provider struct {
	base    string // without the version of the API
	api     string // with it
	options Options
	client  *http.Client
	kind    atomic.Value // string: what the server turned out to be, "llama.cpp", "vllm", …
}

// The limits of the calls that are not an answer, and of the silence within those that are.
const (
	connectFor = 2 * time.Second
	listFor    = 5 * time.Second
	loadFor    = 20 * time.Minute
	firstByte  = 30 * time.Minute
	betweenTwo = 5 * time.Minute
	afterEnd   = 5 * time.Second // for the counts that may follow the end of an answer
)

var versioned = regexp.MustCompile(`^v[0-9]+[a-z0-9]*$`)

// New returns the provider at a base URL. Its path may end in the version of the API (/v1, /v3); /v1 is added where
// none is. Nothing is sent yet.
func New(base string, o Options) (*Provider, error) {
	u, err := url.Parse(strings.TrimSpace(base))
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("use the address %q: it is no http or https URL", base)
	}
	o.Name = cmp.Or(o.Name, "openai")
	o.First = cmp.Or(o.First, firstByte)
	o.Idle = cmp.Or(o.Idle, betweenTwo)
	o.API = cmp.Or(o.API, chatAPI)
	o.Thinking = cmp.Or(o.Thinking, "reasoning_content")
	o.Start = cmp.Or(o.Start, fmt.Sprintf("start the server, or check model_providers.%s.base_url", o.Name))
	o.Key = cmp.Or(o.Key, fmt.Sprintf("name the variable that holds the server's key in model_providers.%s.env_key", o.Name))
	o.Header, o.Query = local.Gate(u, o.Header), maps.Clone(o.Query)
	for name, values := range u.Query() {
		if o.Query == nil {
			o.Query = url.Values{}
		}
		if !o.Query.Has(name) {
			o.Query[name] = values
		}
	}
	version := "/v1"
	u.Path = path.Clean("/" + u.Path)
	if last := path.Base(u.Path); versioned.MatchString(last) {
		version, u.Path = "/"+last, path.Dir(u.Path)
	}
	u.Path = strings.TrimRight(u.Path, "/")
	u.RawPath, u.RawQuery, u.ForceQuery, u.Fragment = "", "", false, ""
	p := &Provider{
		base: u.String(), options: o,
		client: local.Client(connectFor),
	}
	p.api = p.base + version
	p.kind.Store("")
	return p, nil
}

// Name is the provider's id.
func (p *Provider) Name() string { return p.options.Name }

// Address is the base URL, without a final /v1.
func (p *Provider) Address() string { return strings.TrimSuffix(p.api, "/v1") }

// FixedWindow is true: these servers serve the window they were started with.
func (p *Provider) FixedWindow() bool { return true }

// Wire is "chat".
func (p *Provider) Wire() string { return "chat" }

// send makes one request. model is for the words of an error.
func (p *Provider) send(ctx context.Context, method, address, model string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("ask %s at %s: %w", p.Name(), p.Address(), err)
	}
	maps.Copy(req.Header, p.options.Header)
	query := req.URL.Query()
	maps.Copy(query, p.options.Query)
	req.URL.RawQuery = query.Encode()
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
	return nil, p.refused(res, text, model)
}

// ask makes a small request and decodes the answer.
func (p *Provider) ask(ctx context.Context, limit time.Duration, address, model string, out any) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	res, err := p.send(ctx, http.MethodGet, address, model, nil)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, longest))
	if err != nil {
		return p.transport(ctx, model, err)
	}
	if err := json.Unmarshal(data, out); err != nil {
		failure := p.stranger(address, data, model)
		failure.Status, failure.Err = res.StatusCode, err
		return failure
	}
	return nil
}

// transport says what a failure below HTTP means.
func (p *Provider) transport(ctx context.Context, model string, err error) error {
	return local.ForModel(local.NoAnswer(ctx, err, p.Address(), p.options.Start), model)
}

var _ interface {
	local.Provider
	local.Wired
} = (*Provider)(nil)
