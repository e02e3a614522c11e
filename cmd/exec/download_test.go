package exec

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"interpreter/agent/event"
	"interpreter/local"
)

// The speed of a download is that of now: what was there before it went on is no part of it.
func TestDownloadTellsSpeedAndTimeLeft(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var b bytes.Buffer
	d := &Download{Out: &b, Now: func() time.Time { return now }}
	for _, step := range []struct {
		after time.Duration
		done  int64
	}{{0, 4e9}, {10 * time.Second, 5e9}, {10 * time.Second, 6e9}, {10 * time.Second, 5e9}, {30 * time.Second, 8e9}, {0, 10e9}} {
		now = now.Add(step.after)
		d.Show(local.Progress{Stage: "pulling abc", Done: step.done, Total: 10e9})
	}
	d.Show(local.Progress{Stage: "verifying", Done: 10e9, Total: 10e9})
	d.End(true)
	want := "pull  40 % of 10.0 GB\n" +
		"pull  50 % of 10.0 GB, 100 MB/s, 50 s left\n" +
		"pull  60 % of 10.0 GB, 100 MB/s, 40 s left\n" +
		"pull  80 % of 10.0 GB, 100 MB/s, 20 s left\n" +
		"pull  100 % of 10.0 GB\n"
	if got := b.String(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// Of a download that hardly moves, the time left is no negative number.
func TestDownloadThatHardlyMoves(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	d := &Download{Now: func() time.Time { return now }}
	d.text(local.Progress{Total: 60e9})
	now = now.Add(14 * time.Second)
	if got := d.text(local.Progress{Done: 1, Total: 60e9}); !strings.HasSuffix(got, ", more than a day left") {
		t.Error(got)
	}
}

// A bar goes on when more parts come into sight or one is fetched again, and is full only in the end.
func TestDownloadBar(t *testing.T) {
	var b bytes.Buffer
	d := &Download{Out: &b, Terminal: true}
	for _, p := range []local.Progress{
		{Stage: "pulling manifest"},
		{Done: 10, Total: 10},
		{Done: 10, Total: 2e9},
		{Done: 12e8, Total: 2e9},
		{Done: 8e8, Total: 2e9},
		{Done: 9e9, Total: 2e9},
	} {
		d.Show(p)
	}
	if strings.Contains(b.String(), "\n") || strings.Contains(b.String(), "100%") {
		t.Errorf("it has ended too early: %q", b.String())
	}
	d.End(true)
	lines := strings.Split(b.String(), "\r")
	if last := lines[len(lines)-1]; !strings.Contains(last, "100%") || !strings.Contains(last, "2.0 GB") || !strings.HasSuffix(last, "\n") {
		t.Errorf("it ends as %q", last)
	}
}

// A long silence is told of where no line can be written over, ever more rarely.
func TestSilenceInAPipe(t *testing.T) {
	var b bytes.Buffer
	h := &Human{Out: &b}
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	h.Stage(local.Stage{Name: "load", Text: "loading m with 65536 tokens", Long: true})
	for s := range 400 {
		h.Tick(start.Add(time.Duration(s) * time.Second))
	}
	h.Stage(local.Stage{Name: "load", Text: "loaded"})
	h.Tick(start.Add(time.Hour))
	want := "load  loading m with 65536 tokens\n" +
		"load  loading m with 65536 tokens, 30 s so far\n" +
		"load  loading m with 65536 tokens, 60 s so far\n" +
		"load  loading m with 65536 tokens, 2 min so far\n" +
		"load  loading m with 65536 tokens, 4 min so far\n"
	if got := b.String(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// Where pieces of an answer are not shown, a person still learns that there are some.
func TestWritingInAPipe(t *testing.T) {
	var b bytes.Buffer
	h := &Human{Out: &b}
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(s int) time.Time { return start.Add(time.Duration(s) * time.Second) }
	h.Event(event.Event{Time: at(0), Body: event.Did{}})
	b.Reset()
	h.Tick(at(29))
	h.Tick(at(360))
	h.Event(event.Event{Time: at(361), Body: event.Heard{Text: "w"}})
	h.Event(event.Event{Time: at(390), Body: event.Heard{Text: "w"}})
	h.Tick(at(395))
	h.Event(event.Event{Time: at(396), Body: event.Said{}})
	h.Tick(at(1000))
	if want := "wait  waiting for the model, 6 min so far\nwait  the model is writing, 34 s so far\n"; b.String() != want {
		t.Errorf("%q\nwant %q", b.String(), want)
	}
}
