package local

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"interpreter/local/chat"
)

// answering is a provider whose server is there.
type answering struct {
	Provider
	version string
}

// knockFor bounds the search: a server on this machine says its version at once or is not there.
const knockFor = 3 * time.Second

// A Server is a provider and what came of asking for its version.
type Server struct {
	Provider
	Version string // "" with Err
	Err     error  // a *chat.Error of kind Unreachable when nobody is there
}

// Survey asks all providers side by side who they are, each for at most three seconds, and tells of all in their order.
func Survey(ctx context.Context, providers []Provider) []Server {
	found := make([]Server, len(providers))
	var wait sync.WaitGroup
	knocking, cancel := context.WithTimeout(ctx, knockFor)
	defer cancel()
	for i, p := range providers {
		wait.Go(func() {
			version, err := p.Version(knocking)
			found[i] = Server{p, version, err}
		})
	}
	wait.Wait()
	return found
}

// find keeps, in their order, the providers that answer.
func find(ctx context.Context, providers []Provider) ([]answering, error) {
	if len(providers) == 0 {
		return nil, &Refusal{Code: NoServer, Text: "find a model server: none is configured", Try: "set oss_provider in config.toml, or name one with --local-provider"}
	}
	all := Survey(ctx, providers)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var found []answering
	for _, s := range all {
		if s.Err == nil {
			found = append(found, answering{s.Provider, s.Version})
		}
	}
	if len(found) > 0 {
		return found, nil
	}
	refusal := &Refusal{Code: NoServer}
	for _, s := range all {
		if failure := (*chat.Error)(nil); !errors.As(s.Err, &failure) || failure.Kind != chat.Unreachable {
			refusal.Err = s.Err // something answers there, but not as it should
			break
		}
	}
	var tried, start []string
	for _, p := range providers {
		tried = append(tried, p.Name()+" at "+p.Address())
		if guide, ok := p.(Guide); ok {
			start = append(start, guide.StartCommand())
		}
	}
	refusal.Text = "find a model server: no answer from " + strings.Join(tried, " nor ")
	refusal.Try = "check the address"
	if len(start) > 0 {
		refusal.Try = "start it with: " + strings.Join(start, ", or ") + ", or check the address; interpreter setup helps when none is installed"
	}
	if failure := (*chat.Error)(nil); errors.As(refusal.Err, &failure) && failure.Kind == chat.Denied && failure.Remedy != "" {
		refusal.Text, refusal.Try = "find a model server: none lets us in, of "+strings.Join(tried, " and "), failure.Remedy
	}
	return nil, refusal
}

// where names the place of a server for people.
func where(p Provider) string {
	if OnThisMachine(p.Address()) {
		return p.Address()
	}
	u, err := url.Parse(p.Address())
	if err != nil {
		return p.Address()
	}
	return fmt.Sprintf("%s (another machine: %s)", p.Address(), u.Hostname())
}
