package lmstudio

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"interpreter/local"
	"interpreter/local/localtest"
	"interpreter/local/practice"
	"interpreter/probes"
)

func machine(context.Context) probes.Machine {
	return probes.Machine{RAM: probes.Memory{Physical: 32 << 30, Total: 32 << 30, Available: 28 << 30}}
}

func ready(t *testing.T, o local.Options) (*local.Prepared, []string, error) {
	t.Helper()
	var warnings []string
	for s, err := range local.Ready(t.Context(), o) {
		if err != nil {
			return nil, warnings, err
		}
		if s.Warning != "" {
			warnings = append(warnings, s.Warning)
		}
		if s.Ready != nil {
			return s.Ready, warnings, nil
		}
	}
	t.Fatal("no result")
	return nil, nil, nil
}

// The whole way against the practice server: found, chosen, loaded with a window of ours or adopted, proven to call
// tools, and asked. Each generation of the API leads there, over LM Studio's wire alone and among all wires.
func TestReadyWithPractice(t *testing.T) {
	for _, test := range []struct {
		name, script, wire string
		window, loads      int
		server             string
	}{
		{"v1 loads", hi, "lmstudio", 131072, 1, eraV1.String()},
		{"v1 adopts", "loaded 70000\n" + hi, "lmstudio", 70000, 0, eraV1.String()},
		{"v1 among all wires", hi, "all", 131072, 1, eraV1.String()},
		{"v0 adopts", "era v0\nloaded 70000\n" + hi, "lmstudio", 70000, 0, eraV0.String()},
		{"a token", "token s3cret\n" + hi, "lmstudio", 131072, 1, eraV1.String()},
	} {
		t.Run(test.name, func(t *testing.T) {
			script, err := practice.Parse(test.script)
			if err != nil {
				t.Fatal(err)
			}
			played, err := practice.NewWire(script, test.wire)
			if err != nil {
				t.Fatal(err)
			}
			calls, url := recorded(t, played)
			o := local.Options{
				Providers: []local.Provider{newProvider(t, url+"/v1", Options{Token: "s3cret"})}, Model: "practice", MaxWindow: 131072,
				Verdicts: filepath.Join(t.TempDir(), "verdicts.json"), Machine: machine,
			}
			prepared, _, err := ready(t, o)
			if err != nil {
				t.Fatal(err)
			}
			if prepared.Window != test.window || prepared.Verdict != local.Native || prepared.Provider != "lmstudio" ||
				prepared.Resident.Window != test.window || prepared.Server != test.server || prepared.Wire != "chat" {
				t.Errorf("got %+v", prepared)
			}
			if test.server == eraV1.String() && prepared.Resident.Slots != 4 {
				t.Errorf("room for %d conversations", prepared.Resident.Slots)
			}
			if n := calls.count("POST /api/v1/models/load"); n != test.loads {
				t.Errorf("%d loads", n)
			}
			got, err := localtest.Collect(t.Context(), prepared.Model, localtest.Hello())
			if err != nil || got.Text != "hi" {
				t.Errorf("got %+v, %v", got, err)
			}
			// The second time it is adopted, and the verdict is known.
			before := len(played.Requests())
			again, _, err := ready(t, o)
			if err != nil || again.Window != test.window || again.Verdict != local.Native {
				t.Fatalf("again: %+v, %v", again, err)
			}
			if n := len(played.Requests()) - before; n != 0 {
				if test.server == eraV1.String() { // the older list has no size, so nothing tells one file from another
					t.Errorf("%d requests for a verdict that is known", n)
				}
			}
			if n := calls.count("POST /api/v1/models/load"); n != test.loads {
				t.Errorf("%d loads after the second time", n)
			}
		})
	}
}

// What ends the way: a window that is too small and cannot be had larger, a wrong token, a model that is not there, one
// that fails the check.
func TestNotReadyWithPractice(t *testing.T) {
	for name, test := range map[string]struct {
		script, model string
		code          local.Code
		words, try    string
	}{
		"loaded by a chat with too little": {"era v0\n" + hi, "practice", local.WrongWindow, "4096", "lms load practice --context-length"},
		"not installed":                    {"absent\n" + hi, "practice", local.NotInstalled, "practice", "lms get practice"},
		"cannot call tools":                {"check fail I have no tools.\n" + hi, "practice", local.Unproven, "practice", ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, url := played(t, test.script)
			_, _, err := ready(t, local.Options{Providers: []local.Provider{newProvider(t, url, Options{})}, Model: test.model, Machine: machine})
			var refusal *local.Refusal
			if !errors.As(err, &refusal) || refusal.Code != test.code || !strings.Contains(err.Error(), test.words) || !strings.Contains(refusal.Remedy(), test.try) {
				t.Errorf("got %v", err)
			}
		})
	}
	_, _, url := played(t, "token s3cret\n"+hi)
	_, _, err := ready(t, local.Options{Providers: []local.Provider{newProvider(t, url, Options{Token: "wrong"})}, Model: "practice", Machine: machine})
	if err == nil || !strings.Contains(err.Error(), "token") {
		t.Errorf("a wrong token: %v", err)
	}
}

// A model that is missing is downloaded when the run allows it.
func TestReadyPullsWithPractice(t *testing.T) {
	_, _, url := played(t, "absent\n"+hi)
	prepared, _, err := ready(t, local.Options{
		Providers: []local.Provider{newProvider(t, url, Options{})}, Model: "practice", Pull: true, Machine: machine,
	})
	if err != nil || prepared.Info.Name != "practice" || prepared.Verdict != local.Native {
		t.Errorf("%+v, %v", prepared, err)
	}
}

// LM Studio tells neither where a model lies nor what it takes: nothing is made of that, on a machine with a GPU either.
func TestReadyBesideGPU(t *testing.T) {
	_, _, url := played(t, "size 8000000000\n"+hi)
	loads := filepath.Join(t.TempDir(), "loads.json")
	_, warnings, err := ready(t, local.Options{
		Providers: []local.Provider{newProvider(t, url, Options{})}, Model: "practice", Loads: loads,
		Machine: func(ctx context.Context) probes.Machine {
			m := machine(ctx)
			m.GPUs = []probes.GPU{{Name: "card", Vendor: "nvidia", Total: 24 << 30, Free: 23 << 30, Bandwidth: 1000}}
			return m
		},
	})
	// That the API loads it with room for four conversations is told once, with what that may take.
	if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], "room is kept for 4 conversations of practice: unless they share one window of 65536 tokens") ||
		!strings.Contains(warnings[0], "GiB more than one") || !strings.HasSuffix(warnings[0], "lms unload practice, then lms load practice --context-length 65536 --parallel 1") {
		t.Errorf("%v, %v", warnings, err)
	}
	if kept, err := os.ReadFile(loads); err != nil || strings.Contains(string(kept), "ratios") {
		t.Errorf("kept %s, %v", kept, err)
	}
}
