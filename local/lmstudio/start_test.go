package lmstudio

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"interpreter/local"
	"interpreter/local/practice"
)

// app is an LM Studio that lms starts and stops: the practice server of a script, on the port that lms is told.
type app struct {
	t      *testing.T
	window bool // it runs with its window, so there is no daemon to start
	broken bool

	lock   sync.Mutex
	ran    []string
	server *http.Server
}

func (a *app) lms(_ context.Context, args ...string) ([]byte, error) {
	a.lock.Lock()
	defer a.lock.Unlock()
	a.ran = append(a.ran, strings.Join(args, " "))
	switch strings.Join(args[:2], " ") {
	case "daemon status":
		if a.window {
			return []byte(`{"status":"running","pid":4,"isDaemon":false}`), nil
		}
		return []byte(`{"status":"not-running"}`), nil
	case "daemon up":
		if a.window {
			return nil, errors.New("LM Studio runs with its window")
		}
		return []byte("Waking up\n" + `{"status":"running","pid":4321,"isDaemon":true,"version":"0.4.4+1"}`), nil
	case "server start":
		if a.broken {
			return []byte("the port is taken"), errors.New("exit status 1")
		}
		script, err := practice.Parse(hi)
		if err != nil {
			return nil, err
		}
		handler, err := practice.NewWire(script, "lmstudio")
		if err != nil {
			return nil, err
		}
		listener, err := net.Listen("tcp", "127.0.0.1:"+args[3])
		if err != nil {
			return nil, err
		}
		a.server = &http.Server{Handler: handler}
		go a.server.Serve(listener)
		return []byte(`{"port":` + args[3] + `}`), nil
	case "server stop":
		if a.server != nil {
			a.server.Close()
		}
		return nil, nil
	case "daemon down":
		return nil, nil
	}
	return nil, fmt.Errorf("unknown command %q", args)
}

func (a *app) did() string {
	a.lock.Lock()
	defer a.lock.Unlock()
	return strings.Join(a.ran, "; ")
}

func TestStart(t *testing.T) {
	for name, test := range map[string]struct {
		window bool
		want   string
	}{
		"without a window": {false, "daemon status --json; daemon up --json; server start --port PORT --json --quiet; server stop; daemon down"},
		"with its window":  {true, "daemon status --json; daemon up --json; server start --port PORT --json --quiet; server stop"},
	} {
		t.Run(name, func(t *testing.T) {
			a := &app{t: t, window: test.window}
			p := newProvider(t, DefaultAddress, Options{CLI: a.lms})
			started, err := p.Start(t.Context(), local.Serving{Address: "127.0.0.1:0"})
			if err != nil {
				t.Fatal(err)
			}
			if pid := map[bool]int{false: 4321}[test.window]; started.PID != pid || len(started.Environ) != 0 {
				t.Errorf("%+v", started)
			}
			there := newProvider(t, started.Address, Options{CLI: a.lms})
			if version, err := there.Version(t.Context()); err != nil || version != eraV1.String() {
				t.Errorf("version %q, %v", version, err)
			}
			if _, err := there.Start(t.Context(), local.Serving{}); err == nil || !strings.Contains(err.Error(), "answers at "+started.Address+" already") {
				t.Errorf("started twice: %v", err)
			}
			if err := errors.Join(started.Stop(), started.Stop(), started.Wait()); err != nil {
				t.Error(err)
			}
			_, port, _ := strings.Cut(started.Address, "127.0.0.1:")
			if got := strings.ReplaceAll(a.did(), port, "PORT"); got != test.want {
				t.Errorf("ran  %s\nwant %s", got, test.want)
			}
		})
	}
}

// The server ends with the context, unless it is detached; one that goes by itself is noticed.
func TestStartEnds(t *testing.T) {
	for _, detach := range []bool{false, true} {
		a := &app{t: t}
		ctx, cancel := context.WithCancel(t.Context())
		started, err := newProvider(t, DefaultAddress, Options{CLI: a.lms}).Start(ctx, local.Serving{Address: "127.0.0.1:0", Detach: detach})
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		if detach {
			if _, err := newProvider(t, started.Address, Options{}).Version(t.Context()); err != nil {
				t.Errorf("detached, and gone: %v", err)
			}
			a.server.Close()
			if err := started.Wait(); err == nil || !strings.Contains(err.Error(), "no longer answers") {
				t.Errorf("went by itself: %v", err)
			}
			continue
		}
		if err := started.Wait(); err != nil && !strings.Contains(err.Error(), "no longer answers") {
			t.Error(err)
		}
		if err := started.Stop(); err != nil || !strings.Contains(a.did(), "server stop") {
			t.Errorf("%v, ran %s", err, a.did())
		}
	}
}

func TestStartRefusals(t *testing.T) {
	var refusal *local.Refusal
	_, err := newProvider(t, DefaultAddress, Options{}).Start(t.Context(), local.Serving{Address: "127.0.0.1:0"})
	if !errors.As(err, &refusal) || refusal.Code != local.NoServer || refusal.Try == "" {
		t.Errorf("without lms: %v", err)
	}
	a := &app{t: t, broken: true}
	p := newProvider(t, DefaultAddress, Options{CLI: a.lms})
	if _, err := p.Start(t.Context(), local.Serving{Address: "127.0.0.1:0"}); err == nil || !strings.Contains(err.Error(), "the port is taken") {
		t.Errorf("lms fails: %v", err)
	}
	if !strings.HasSuffix(a.did(), "; daemon down") {
		t.Errorf("what was started for nothing stays: %s", a.did())
	}
	if _, err := p.Start(t.Context(), local.Serving{Address: "nowhere"}); err == nil || !strings.Contains(err.Error(), "host:port") {
		t.Errorf("no address: %v", err)
	}
	silent := newProvider(t, DefaultAddress, Options{CLI: func(context.Context, ...string) ([]byte, error) { return nil, nil }})
	waits := 0
	silent.pause = func(context.Context, time.Duration) error { waits++; return nil }
	if _, err := silent.Start(t.Context(), local.Serving{Address: "127.0.0.1:0"}); err == nil || !strings.Contains(err.Error(), "no answer within 45s") || waits != 180 {
		t.Errorf("nobody answers: %v after %d waits", err, waits)
	}
	for os, want := range map[string]bool{"linux": true, "darwin": true, "windows": true, "plan9": false} {
		if got := p.Install(os); (got != "") != want {
			t.Errorf("%s: %q", os, got)
		}
	}
}
