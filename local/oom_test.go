package local

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"interpreter/probes"
)

// The steps after the server ran out of memory, each once and in their order, each told.
func TestOutOfMemory(t *testing.T) {
	for _, test := range []struct {
		name  string
		set   func(*fake)
		o     Options
		how   string // windows and batches of the loads
		log   []string
		code  Code
		says  []string
		never []string
	}{
		{name: "our other model goes first", set: func(f *fake) {
			f.loaded = []Resident{{Name: "other:7b", Digest: "d-other:7b", Size: 1e9, Window: 4096}}
			f.batch = 512
		}, how: "131072 131072 131072/512", log: []string{"trying again without other:7b", "trying to read 512 tokens at a time"}},
		{name: "a smaller batch", set: func(f *fake) { f.batch = 512 }, how: "131072 131072/512"},
		{name: "smaller windows", set: func(f *fake) { f.memory = 100_000 }, how: "131072 131072/512 98304/512"},
		{name: "a window that a person named stays", set: func(f *fake) { f.memory = 100_000 }, o: Options{Window: 131072}, how: "131072 131072/512",
			code: NoMemory, says: []string{"131072", "ran out of memory", "read 512 tokens", "FAKE_CACHE=q8_0", "-c model_context_window=65536"}},
		{name: "nothing helps", set: func(f *fake) { f.memory = 1 }, how: "131072 131072/512 98304/512 65536/512",
			code: NoMemory, says: []string{"a:1b", "65536", "98304", "FAKE_CACHE=q8_0", "quantization", "-m other:7b"}},
		{name: "q8_0 already", set: func(f *fake) { f.memory = 1 }, o: Options{CacheType: "q8_0"}, how: "131072 131072/512 98304/512 65536/512",
			code: NoMemory, never: []string{"FAKE_CACHE"}},
		{name: "a crash is tried once more", set: func(f *fake) { f.crashes = 1 }, how: "131072 131072", log: []string{"once more"}},
		{name: "and then counts as want of memory", set: func(f *fake) { f.crashes = 2 }, how: "131072 131072 131072/512", log: []string{"to read 512"}},
		{name: "for ever", set: func(f *fake) { f.crashes = 99 }, how: "131072 131072 131072/512 98304/512 65536/512", code: NoMemory, says: []string{"terminated"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := server(able("a:1b", 1e9), able("b:1b", 9e8), able("other:7b", 1e9))
			test.set(f)
			o := test.o
			o.Providers, o.Model, o.Loads = []Provider{f}, "a:1b", filepath.Join(t.TempDir(), "loads.json")
			record := loadFile{Version: 1, Loads: []load{{Address: f.Address(), Model: "other:7b", Digest: "d-other:7b", Window: 4096, When: time.Now()}}}
			if _, err := changeLoads(o.Loads, func(f *loadFile) { *f = record }); err != nil {
				t.Fatal(err)
			}
			_, log, err := finish(t, o)
			var how []string
			for _, l := range f.how {
				one := fmt.Sprint(l.Window)
				if l.Batch > 0 {
					one += fmt.Sprint("/", l.Batch)
				}
				how = append(how, one)
			}
			if got := strings.Join(how, " "); got != test.how {
				t.Errorf("loads %s, want %s\n%s", got, test.how, log)
			}
			for _, s := range test.log {
				if !strings.Contains(log, s) {
					t.Errorf("nothing says %q:\n%s", s, log)
				}
			}
			if test.code == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			var refusal *Refusal
			if !errors.As(err, &refusal) || refusal.Code != test.code {
				t.Fatalf("got %v", err)
			}
			text := err.Error() + " / " + refusal.Remedy()
			for _, s := range test.says {
				if !strings.Contains(text, s) {
					t.Errorf("%q does not say %q", text, s)
				}
			}
			for _, s := range test.never {
				if strings.Contains(text, s) {
					t.Errorf("%q says %q", text, s)
				}
			}
		})
	}
}

// A model that was to be wholly on the GPU and is not is loaded once more with a smaller batch; what is then not there
// is told. How well memory was predicted is kept for the next time.
func TestPlaced(t *testing.T) {
	card := probes.GPU{Name: "card", Vendor: "nvidia", Total: 24 * gib, Free: 23 * gib}
	machine := func(context.Context) probes.Machine { return box(32*gib, card) }
	f := server(able("a:8b", 8e9))
	f.share = 60
	path := filepath.Join(t.TempDir(), "loads.json")
	p, log, err := finish(t, Options{Providers: []Provider{f}, Machine: machine, Loads: path})
	if err != nil || len(f.how) != 2 || f.how[1] != (Loading{Window: 131072, Batch: 512}) || p.Resident.VRAM != p.Resident.Size || !strings.Contains(log, "60% of a:8b is on the GPU") {
		t.Errorf("got %+v, %v, %+v\n%s", p, err, f.how, log)
	}
	if ratios := readLoads(path).Ratios; len(ratios) != 0 {
		t.Errorf("a load with another batch was measured: %v", ratios)
	}
	f = server(able("a:8b", 8e9))
	if _, _, err := finish(t, Options{Providers: []Provider{f}, Machine: machine, Loads: path}); err != nil {
		t.Fatal(err)
	}
	ratios := readLoads(path).Ratios
	if r := ratios["fake 1.0 unknown"]; len(ratios) != 1 || r < leastRatio || r > 1 {
		t.Errorf("ratios %v", ratios)
	}
	for _, test := range []struct {
		actual, predicted int64
		want              float64
	}{{2 * gib, 2 * gib, 1}, {9 * gib, 3 * gib, mostRatio}, {2 * gib, 9 * gib, leastRatio}, {gib / 2, 9 * gib, 0}, {gib, 0, 0}} {
		if got := measuredRatio(test.actual, test.predicted); got != test.want {
			t.Errorf("%d of %d: %f", test.actual, test.predicted, got)
		}
	}
}
