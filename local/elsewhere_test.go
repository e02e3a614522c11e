package local

import (
	"context"
	"errors"
	"strings"
	"testing"

	"interpreter/probes"
)

// A loopback port that leads out of this system is not judged by this machine, which is said once; a model too large for
// what is here is loaded and looked at. One that a process here listens at is judged.
func TestForwarded(t *testing.T) {
	outside := func(port int) bool { return port == 9 }
	here := func(int) bool { return false }
	f := server(able("a:1b", 90e9))
	p, log, err := finish(t, Options{
		Providers: []Provider{f}, Model: "a:1b", Forwarded: outside,
		Machine: func(context.Context) probes.Machine { panic("the machine was probed") },
	})
	if err != nil || p.Window != Floor || len(f.loads) == 0 {
		t.Fatalf("got %+v, %v\n%s", p, err, log)
	}
	if n := strings.Count(log, "no process of this system listens there"); n != 1 {
		t.Errorf("warned %d times:\n%s", n, log)
	}
	refusal := (*Refusal)(nil)
	if _, _, err = finish(t, Options{Providers: []Provider{server(able("a:1b", 90e9))}, Model: "a:1b", Forwarded: here}); !errors.As(err, &refusal) || refusal.Code != TooBig {
		t.Errorf("a server of this system: got %v", err)
	}
	elsewhere := server(able("a:1b", 1e9))
	elsewhere.address = "http://box:9"
	if _, log, err = finish(t, Options{Providers: []Provider{elsewhere}, Model: "a:1b", Forwarded: outside}); err != nil || strings.Contains(log, "listens there") {
		t.Errorf("another machine: %v\n%s", err, log)
	}
}

// The inventory of servers: all in their order, one under two names once, and whose machine this is.
func TestInventory(t *testing.T) {
	down := &fake{address: "http://127.0.0.1:8", down: true}
	up, again, away := server(able("a:1b", 1e9)), server(able("a:1b", 1e9)), server()
	up.loaded = []Resident{{Name: "a:1b", Window: 4096}}
	away.address = "http://box:9"
	all := TakeInventory(t.Context(), []Provider{down, up, again, away}, nil)
	if len(all) != 3 || all[0].Err == nil || !all[0].Here || len(all[1].Models) != 1 || len(all[1].Loaded) != 1 || !all[1].Here || all[2].Here || all[2].Outside {
		t.Errorf("got %+v", all)
	}
	all = TakeInventory(t.Context(), []Provider{down, up}, func(int) bool { return true })
	if !all[0].Here || all[0].Outside || all[1].Here || !all[1].Outside {
		t.Errorf("behind a forwarded port: got %+v", all)
	}
}
