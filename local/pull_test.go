package local

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"

	"interpreter/local/chat"
	"interpreter/probes"
)

func TestCheckDisk(t *testing.T) {
	disk := func(free int64) probes.Volume { return probes.Volume{Path: "/models", Total: 500e9, Free: free} }
	for _, test := range []struct {
		volume probes.Volume
		size   int64
		fits   bool
	}{
		{disk(19e9 + 5*gib), 19e9, true}, {disk(19e9 + 5*gib - 1), 19e9, false}, {disk(0), 1, false}, {disk(0), 0, true}, {probes.Volume{}, 19e9, true},
	} {
		err := CheckDisk(test.volume, "m:30b", test.size)
		if (err == nil) != test.fits {
			t.Errorf("%+v for %d: %v", test.volume, test.size, err)
		}
	}
	var refusal *Refusal
	err := CheckDisk(disk(12e9), "m:30b", 19e9)
	if !errors.As(err, &refusal) || refusal.Code != NoDisk || refusal.Needed != 19e9+5*gib || refusal.Available != 12e9 {
		t.Fatalf("got %v", err)
	}
	for _, s := range []string{"m:30b", "19.0 GB", "12.0 GB", "/models"} {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("%q does not say %q", err, s)
		}
	}
}

func follow(ctx context.Context, d Download) (seen []Progress, err error) {
	for at, failure := range d.Run(ctx) {
		if failure != nil {
			return seen, failure
		}
		seen = append(seen, at)
	}
	return seen, nil
}

// A download checks the disk as soon as the server says how much it is, counts what is there already, never passes the
// whole, and says what is kept when it is left.
func TestDownload(t *testing.T) {
	disk := probes.Volume{Path: "/models", Total: 100e9, Free: 12e9}
	f := server()
	f.pulls = map[string]bool{"m:1b": true}
	f.progress = []Progress{{Stage: "a", Done: 5, Total: 0}, {Stage: "b", Done: 12, Total: 10}, {Stage: "b", Done: 3, Total: 10}}
	seen, err := follow(t.Context(), Download{Provider: f, Name: "m:1b", Volume: disk})
	if err != nil || len(f.models) != 1 {
		t.Fatal(err)
	}
	for _, at := range seen {
		if at.Done > at.Total {
			t.Errorf("more than all: %+v", at)
		}
	}
	f.progress = []Progress{{Stage: "b", Done: 0, Total: 1e9}, {Stage: "b", Done: 0, Total: 9e9}, {Stage: "never"}}
	seen, err = follow(t.Context(), Download{Provider: f, Name: "m:1b", Volume: disk})
	var refusal *Refusal
	if !errors.As(err, &refusal) || refusal.Code != NoDisk || len(seen) != 1 || len(f.models) != 1 {
		t.Errorf("too much of it: %v after %+v", err, seen)
	}
	f.progress = []Progress{{Stage: "b", Done: 8e9, Total: 9e9, Kept: 8e9}}
	if _, err := follow(t.Context(), Download{Provider: f, Name: "m:1b", Volume: disk}); err != nil {
		t.Errorf("most of it is there: %v", err)
	}
	if _, err := follow(t.Context(), Download{Provider: f, Name: "m:1b", Volume: disk, Size: 9e9}); !errors.As(err, &refusal) || refusal.Code != NoDisk {
		t.Errorf("known beforehand: %v", err)
	}
	if _, err := follow(t.Context(), Download{Provider: f, Name: "m:cloud"}); !errors.As(err, &refusal) || refusal.Code != Elsewhere {
		t.Errorf("a pointer: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	left := failing{f, func() error { cancel(); return context.Canceled }}
	if _, err := follow(ctx, Download{Provider: left, Name: "m:1b"}); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "stopped at 1.0 of 2.0 GB") && !strings.Contains(err.Error(), "goes on there") {
		t.Errorf("left: %v", err)
	}
	old := failing{f, func() error {
		return &chat.Error{Kind: chat.Invalid, Detail: "pull model manifest: 412: requires a newer version of Ollama"}
	}}
	if _, err := follow(t.Context(), Download{Provider: old, Name: "m:1b", Version: "0.24.0"}); !errors.As(err, &refusal) || refusal.Code != TooOld || !strings.Contains(err.Error(), "0.24.0") {
		t.Errorf("too old: %v", err)
	}
	full := failing{f, func() error {
		return &chat.Error{Kind: chat.Invalid, Detail: "no space left", Remedy: "free disk space"}
	}}
	if _, err := follow(t.Context(), Download{Provider: full, Name: "m:1b"}); !errors.As(err, &refusal) || refusal.Try != "free disk space" {
		t.Errorf("full: %v, %+v", err, refusal)
	}
}

// failing tells of half a download and then fails.
type failing struct {
	*fake
	why func() error
}

func (f failing) Pull(_ context.Context, name string) iter.Seq2[Progress, error] {
	return func(yield func(Progress, error) bool) {
		if yield(Progress{Stage: "half", Done: 1e9, Total: 2e9}, nil) {
			yield(Progress{}, f.why())
		}
	}
}

// A server that has no downloads is passed over for the next that has.
func TestPullElsewhere(t *testing.T) {
	first, second := server(), server()
	first.refuses = map[string]bool{"m:1b": true}
	second.pulls = map[string]bool{"m:1b": true}
	p, _, err := finish(t, Options{Providers: []Provider{first, second}, Model: "m:1b", Pull: true})
	if err != nil || len(second.loads) != 1 || p.Info.Name != "m:1b" {
		t.Errorf("got %+v, %v", p, err)
	}
	var refusal *Refusal
	if _, _, err := finish(t, Options{Providers: []Provider{first}, Model: "m:1b", Pull: true}); !errors.As(err, &refusal) || refusal.Code != NoPull {
		t.Errorf("got %v", err)
	}
}
