package local

import (
	"context"
	"errors"
	"fmt"
	"net"
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

// find asks all providers side by side and keeps, in their order, those that answer.
func find(ctx context.Context, providers []Provider) ([]answering, error) {
	if len(providers) == 0 {
		return nil, &Refusal{Code: NoServer, Text: "find a model server: none is configured", Try: "set oss_provider in config.toml, or name one with --local-provider"}
	}
	versions := make([]string, len(providers))
	failures := make([]error, len(providers))
	var wait sync.WaitGroup
	knocking, cancel := context.WithTimeout(ctx, knockFor)
	defer cancel()
	for i, p := range providers {
		wait.Go(func() { versions[i], failures[i] = p.Version(knocking) })
	}
	wait.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var found []answering
	for i, p := range providers {
		if failures[i] == nil {
			found = append(found, answering{p, versions[i]})
		}
	}
	if len(found) > 0 {
		return found, nil
	}
	refusal := &Refusal{Code: NoServer}
	if failure := (*chat.Error)(nil); !errors.As(failures[0], &failure) || failure.Kind != chat.Unreachable {
		refusal.Err = failures[0] // something answers there, but not as it should
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
		refusal.Try = "start it with: " + strings.Join(start, ", or ") + ", or check the address"
	}
	return nil, refusal
}

// OnThisMachine reports whether an address is loopback, so that our measurements are the server's. A tunnel looks the
// same; what is loaded is checked in any case.
func OnThisMachine(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	host := u.Hostname()
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
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
