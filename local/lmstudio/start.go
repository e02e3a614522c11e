package lmstudio

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"interpreter/local"
	"interpreter/local/chat"
)

// Install is the command that installs LM Studio without its window, as its documentation has it; "" for a system that
// it does not run on.
func (p *Provider) Install(os string) string {
	switch os {
	case "linux", "darwin":
		return "curl -fsSL https://lmstudio.ai/install.sh | bash"
	case "windows":
		return "irm https://lmstudio.ai/install.ps1 | iex"
	}
	return ""
}

// Start has lms start the server, and LM Studio without its window when it is not running, and returns once the server
// answers. What LM Studio keeps in its own settings, the cache type and the window for clients that name none, cannot
// be told to it here, and Started.Environ is empty: the answer of Loaded is what counts. The server ends with ctx
// unless it is detached; LM Studio itself ends only if it was started here.
func (p *Provider) Start(ctx context.Context, s local.Serving) (local.Started, error) {
	server, port, err := p.at(s.Address)
	if err != nil {
		return local.Started{}, err
	}
	run := server.cli()
	if run == nil {
		return local.Started{}, &local.Refusal{
			Code: local.NoServer, Text: "start LM Studio: its command lms is not on this machine",
			Try: "start LM Studio and switch its server on in the developer tab, or install it: " + p.Install("linux"),
		}
	}
	if _, err := server.Version(ctx); err == nil {
		return local.Started{}, fmt.Errorf("start LM Studio's server: one answers at %s already", server.base)
	}
	daemon := startDaemon(ctx, run)
	ready := false
	defer func() {
		if !ready && daemon > 0 { // started here, and for nothing
			ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), listFor*2)
			defer cancel()
			_, _ = run(ending, "daemon", "down")
		}
	}()
	if out, err := run(ctx, "server", "start", "--port", port, "--json", "--quiet"); err != nil {
		if ctx.Err() != nil {
			return local.Started{}, context.Cause(ctx)
		}
		return local.Started{}, fmt.Errorf("start LM Studio's server on port %s: %w (%s)", port, err, oneLine(string(out)))
	}
	if err := server.wait(ctx); err != nil {
		return local.Started{}, err
	}
	ready = true
	return server.started(ctx, s.Detach, daemon), nil
}

// at is the provider at the address to serve on.
func (p *Provider) at(address string) (*Provider, string, error) {
	if address == "" {
		return p, local.PortOf(p.base), nil
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, "", fmt.Errorf("start LM Studio at %q: it is no host:port", address)
	}
	if port == "0" {
		if port, err = local.FreePort("127.0.0.1"); err != nil {
			return nil, "", fmt.Errorf("start LM Studio: %w", err)
		}
	}
	other, err := New("http://"+net.JoinHostPort(host, port), p.options)
	if err != nil {
		return nil, "", err
	}
	other.pause = p.pause
	return other, port, nil
}

// startDaemon starts LM Studio without its window, and reports the process if that is what it is. A release without
// this, or one that runs with its window, needs none.
func startDaemon(ctx context.Context, run func(context.Context, ...string) ([]byte, error)) (pid int) {
	was, err := run(ctx, "daemon", "status", "--json")
	if err == nil && daemonOf(was) > 0 {
		return 0
	}
	out, err := run(ctx, "daemon", "up", "--json")
	if err != nil {
		return 0
	}
	return daemonOf(out)
}

// daemonOf is the process of a running LM Studio without a window, 0 when there is none.
func daemonOf(out []byte) int {
	var status struct {
		Status text   `json:"status"`
		PID    number `json:"pid"`
		Daemon flag   `json:"isDaemon"`
	}
	at := strings.IndexByte(string(out), '{')
	if at < 0 || json.Unmarshal(out[at:], &status) != nil || status.Status != "running" || !status.Daemon {
		return 0
	}
	return int(status.PID)
}

// wait returns when the server answers.
func (p *Provider) wait(ctx context.Context) error {
	const between = 250 * time.Millisecond
	var last error
	for waited := time.Duration(0); waited < startFor; waited += between {
		if _, last = p.Version(ctx); last == nil {
			return nil
		}
		var failure *chat.Error
		if errors.As(last, &failure) && failure.Kind == chat.Denied {
			return nil // it answers, and asks who we are
		}
		if err := p.pause(ctx, between); err != nil {
			return err
		}
	}
	return fmt.Errorf("start LM Studio's server at %s: no answer within %s: %w", p.base, startFor, last)
}

// started is a server that runs, and how it ends.
func (p *Provider) started(ctx context.Context, detach bool, daemon int) local.Started {
	ended := make(chan struct{})
	var once sync.Once
	var failure error
	stop := func() error {
		once.Do(func() {
			defer close(ended)
			ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), listFor*2)
			defer cancel()
			if _, err := p.options.CLI(ending, "server", "stop"); err != nil {
				failure = fmt.Errorf("stop LM Studio's server: %w", err)
			}
			if daemon > 0 {
				if _, err := p.options.CLI(ending, "daemon", "down"); err != nil && failure == nil {
					failure = fmt.Errorf("stop LM Studio: %w", err)
				}
			}
		})
		return failure
	}
	if !detach {
		context.AfterFunc(ctx, func() { stop() })
	}
	return local.Started{
		Address: p.base, PID: daemon, Stop: stop,
		Wait: func() error { return p.watch(ctx, ended) },
	}
}

// watch returns when the server has ended: by us, or when it no longer answers.
func (p *Provider) watch(ctx context.Context, ended <-chan struct{}) error {
	const between = 2 * time.Second
	watching, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	go func() {
		select {
		case <-ended:
			cancel()
		case <-watching.Done():
		}
	}()
	for misses := 0; misses < 3; {
		if p.pause(watching, between) != nil {
			return nil
		}
		var failure *chat.Error
		if _, err := p.Version(watching); errors.As(err, &failure) && failure.Kind == chat.Unreachable {
			misses++
		} else {
			misses = 0
		}
	}
	return fmt.Errorf("LM Studio's server at %s no longer answers", p.base)
}
