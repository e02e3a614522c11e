package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"interpreter/probes"
)

func elseLoaded(window int, models ...ModelInfo) *fake {
	f := server(models...)
	f.loaded = []Resident{{Name: models[0].Name, Digest: models[0].Digest, Size: models[0].Size, VRAM: 0, Window: window}}
	return f
}

// A model that somebody else has loaded with too little is reported with both numbers and left alone without consent;
// the refusal names every way out. What was asked is what was reported.
func TestReloadNeedsConsent(t *testing.T) {
	f := elseLoaded(8192, able("a:1b", 1e9), able("b:1b", 5e8))
	_, log, err := finish(t, Options{Providers: []Provider{f}, Model: "a:1b"})
	var refusal *Refusal
	if !errors.As(err, &refusal) || refusal.Code != InUse || refusal.Needed != 131072 || refusal.Available != 8192 {
		t.Fatalf("got %v", err)
	}
	for _, s := range []string{"a:1b", "8192", "131072", "--reload", "fake stop a:1b", "FAKE_WINDOW=131072", "-m b:1b"} {
		if text := err.Error() + " / " + refusal.Remedy(); !strings.Contains(text, s) {
			t.Errorf("%q does not say %q", text, s)
		}
	}
	if len(f.loads) > 0 || !strings.Contains(log, "with a window of 8192 tokens; 131072 are needed here; without consent") {
		t.Errorf("loads %v\n%s", f.loads, log)
	}
	var asked string
	p, _, err := finish(t, Options{Providers: []Provider{f}, Model: "a:1b", Reload: func(q string) bool { asked = q; return true }})
	if err != nil || p.Window != 131072 || !strings.Contains(asked, "8192") || !strings.Contains(asked, "131072") || !strings.HasSuffix(asked, ".") {
		t.Errorf("got %+v, %v; asked %q", p, err, asked)
	}
	f = elseLoaded(8192, able("a:1b", 1e9))
	f.loaded[0].Until = time.Now().Add(10 * time.Second)
	if p, _, err := finish(t, Options{Providers: []Provider{f}}); err != nil || p.Window != 131072 {
		t.Errorf("about to go: got %+v, %v", p, err)
	}
	f = elseLoaded(8192, able("a:1b", 1e9))
	if p, _, err := finish(t, Options{Providers: []Provider{f}, Window: 8192}); err != nil || p.Window != 8192 || !f.how[0].Adopt {
		t.Errorf("as little as was asked for: got %+v, %v", p, err)
	}
}

// What this program loaded is known again: the same options, no consent for another window. Anything else is adopted.
func TestOwnLoads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "home", "loads.json")
	now := time.Date(2026, 9, 1, 10, 0, 0, 0, time.UTC)
	f := server(able("a:1b", 1e9))
	f.batch = 512
	run := func(o Options) *Prepared {
		t.Helper()
		o.Providers, o.Loads, o.Now = []Provider{f}, path, func() time.Time { return now }
		p, log, err := finish(t, o)
		if err != nil {
			t.Fatalf("%v\n%s", err, log)
		}
		return p
	}
	last := func() Loading { return f.how[len(f.how)-1] }
	run(Options{})
	if last() != (Loading{Window: 131072, Batch: 512}) {
		t.Fatalf("loaded %+v", last())
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	run(Options{})
	if last() != (Loading{Window: 131072, Batch: 512}) {
		t.Errorf("our own again: %+v", last())
	}
	if p := run(Options{Window: 65536}); p.Window != 65536 || last().Window != 65536 || last().Adopt {
		t.Errorf("another window of our own: %+v", last())
	}
	f.batch = 0
	now = now.Add(25 * time.Hour)
	run(Options{})
	if last() != (Loading{Window: 65536, Adopt: true}) {
		t.Errorf("after a day: %+v", last())
	}
	data, err := os.ReadFile(path)
	var file loadFile
	if err != nil || json.Unmarshal(data, &file) != nil || len(file.Loads) != 0 {
		t.Errorf("an adopted model stays in the record: %s, %v", data, err)
	}
	f.loaded[0].Window = 98304 // somebody else did that
	run(Options{})
	if last() != (Loading{Window: 98304, Adopt: true}) {
		t.Errorf("somebody else's: %+v", last())
	}
	if err := os.WriteFile(path, []byte(`{"version":1,"lo`), 0o600); err != nil {
		t.Fatal(err)
	}
	run(Options{})
	left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".loads.json-*"))
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A record that cannot be kept is a warning; the file stays small.
func TestLoadsFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, log, err := finish(t, Options{Providers: []Provider{server(able("a:1b", 1e9))}, Loads: filepath.Join(file, "loads.json")})
	if err != nil || !strings.Contains(log, "keep the record of loaded models") {
		t.Errorf("%v\n%s", err, log)
	}
	var f loadFile
	now := time.Now()
	for i := range 100 {
		f.keep(load{Address: "http://a", Digest: fmt.Sprint(i), Window: 1, When: now})
	}
	f.keep(load{Address: "http://a", Digest: "sha256:99", Window: 2, When: now})
	if len(f.Loads) != mostLoads || f.Loads[mostLoads-1].Window != 2 || f.Loads[mostLoads-2].Digest != "98" {
		t.Errorf("%d loads, the last %+v", len(f.Loads), f.Loads[mostLoads-1])
	}
	f.keep(load{Address: "http://a", Digest: "new", When: now.Add(48 * time.Hour)})
	if len(f.Loads) != 1 {
		t.Errorf("old ones stay: %+v", f.Loads)
	}
}

// Another model in memory is left alone where there is room for both, goes unasked when it is ours, and otherwise only
// with consent.
func TestBeside(t *testing.T) {
	beside := func(size int64) *fake {
		f := server(able("a:1b", 1e9), able("other:7b", size))
		f.loaded = []Resident{{Name: "other:7b", Digest: "d-other:7b", Size: size, Window: 4096}}
		return f
	}
	machine := func(available int64) func(context.Context) probes.Machine {
		return func(context.Context) probes.Machine {
			m := box(available)
			m.RAM.Total, m.RAM.Physical = 64*gib, 64*gib
			return m
		}
	}
	o := Options{Model: "a:1b", Machine: machine(32 * gib)}
	o.Providers = []Provider{beside(5e9)}
	if p, log, err := finish(t, o); err != nil || p.Window != 131072 || strings.Contains(log, "other:7b") {
		t.Errorf("room for both: %+v, %v\n%s", p, err, log)
	}
	f := beside(20 * gib)
	o.Providers, o.Machine = []Provider{f}, machine(2*gib)
	_, log, err := finish(t, o)
	var refusal *Refusal
	if !errors.As(err, &refusal) || refusal.Code != InUse || !strings.Contains(err.Error(), "other:7b") ||
		!strings.Contains(refusal.Remedy(), "--reload") || !strings.Contains(refusal.Remedy(), "fake stop other:7b") || !strings.Contains(log, "fits only when other:7b") {
		t.Errorf("got %v / %+v\n%s", err, refusal, log)
	}
	o.Reload = func(string) bool { return true }
	if p, log, err := finish(t, o); err != nil || p.Window != 131072 || !strings.Contains(log, "the server unloads it") {
		t.Errorf("with consent: %+v, %v\n%s", p, err, log)
	}
	o.Reload, o.Loads = nil, filepath.Join(t.TempDir(), "loads.json")
	f = beside(20 * gib)
	ours := loadFile{Version: 1, Loads: []load{{Address: f.Address(), Model: "other:7b", Digest: "d-other:7b", Window: 4096, When: time.Now()}}}
	if _, err := changeLoads(o.Loads, func(f *loadFile) { *f = ours }); err != nil {
		t.Fatal(err)
	}
	o.Providers = []Provider{f}
	if p, log, err := finish(t, o); err != nil || p.Window != 131072 || strings.Contains(log, "other:7b") {
		t.Errorf("our own: %+v, %v\n%s", p, err, log)
	}
}

// A model on another machine is only taken when it was named for this run by somebody who knows; it is told of, is not
// loaded or fitted, and says so in the result.
func TestRemote(t *testing.T) {
	cloud := ModelInfo{Name: "big:cloud", Digest: "c", Size: 300, RemoteHost: "https://cloud.example", Trained: 200000, Capabilities: []string{"completion", "tools"}}
	noProbe := func(context.Context) probes.Machine { panic("the machine was probed") }
	f := server(cloud)
	p, log, err := finish(t, Options{Providers: []Provider{f}, Model: "BIG:cloud", Remote: true, Machine: noProbe})
	if err != nil || !p.Leaves || !p.Local || p.Window != 200000 || len(f.loaded) > 0 || f.how[0] != (Loading{Window: 200000, Remote: true}) || p.Wire != "fake" {
		t.Fatalf("got %+v, %v, %+v", p, err, f.how)
	}
	if !strings.Contains(log, "big:cloud leaves this machine: it runs on https://cloud.example") {
		t.Errorf("nothing says so:\n%s", log)
	}
	for name, o := range map[string]Options{
		"configured": {Configured: "big:cloud", Remote: true},
		"default":    {Remote: true},
		"unaware":    {Model: "big:cloud"},
		"another":    {Model: "x:cloud", Remote: true},
	} {
		o.Providers = []Provider{server(cloud)}
		_, _, err := finish(t, o)
		var refusal *Refusal
		if !errors.As(err, &refusal) || name != "another" && name != "default" && refusal.Code != Elsewhere {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if p, _, err := finish(t, Options{Providers: []Provider{server(able("a:1b", 1e9))}, Model: "a:1b", Remote: true}); err != nil || p.Leaves {
		t.Errorf("a local one leaves: %+v, %v", p, err)
	}
}

// A model that wants a newer server is refused with both versions, and passed over when nobody named it.
func TestRequires(t *testing.T) {
	young := able("young:9b", 5e9)
	young.Requires = "0.30.0"
	f := server(young, able("a:1b", 1e9))
	f.version = "0.24.0"
	_, _, err := finish(t, Options{Providers: []Provider{f}, Model: "young:9b"})
	var refusal *Refusal
	if !errors.As(err, &refusal) || refusal.Code != TooOld || !strings.Contains(err.Error(), "0.30.0 or later") || !strings.Contains(err.Error(), "is 0.24.0") || refusal.Try == "" {
		t.Errorf("got %v", err)
	}
	if p, _, err := finish(t, Options{Providers: []Provider{f}}); err != nil || p.Info.Name != "a:1b" {
		t.Errorf("got %+v, %v", p, err)
	}
	for _, test := range []struct {
		version, than string
		want          bool
	}{
		{"0.24.0", "0.30.0", true}, {"0.30.0", "0.30.0", false}, {"0.30.1", "0.30", false}, {"0.9.6", "0.12.4", true}, {"v0.12", "0.12.4", true},
		{"0.0.0", "0.30.0", false}, {"dev", "0.30.0", false}, {"0.1", "", false}, {"0.33.0-rc2", "0.33.0", false}, {"1.0", "0.99.9", false}, {"0.1", "new", false},
	} {
		if got := OlderThan(test.version, test.than); got != test.want {
			t.Errorf("%s older than %s: %v", test.version, test.than, got)
		}
	}
}

// Survey tells of all servers in their order, also of those that do not answer.
func TestSurvey(t *testing.T) {
	down, up := &fake{address: "http://127.0.0.1:8", down: true}, server()
	all := Survey(t.Context(), []Provider{down, up})
	if len(all) != 2 || all[0].Err == nil || all[0].Address() != down.address || all[1].Err != nil || all[1].Version != "1.0" {
		t.Errorf("got %+v", all)
	}
}
