package exec

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"interpreter/agent/event"
	"interpreter/local/chat"
)

// text is about so many tokens.
func text(tokens int) string { return strings.Repeat("x", tokens*36/10+1) }

func said(input, cached int, prefill time.Duration) event.Said {
	return event.Said{Message: chat.Message{Role: chat.Assistant, Calls: []chat.Call{{ID: "1", Name: "x"}}}, Usage: chat.Usage{Input: input, CachedInput: cached, Prefill: prefill}}
}

func opened(tokens int) event.Opened {
	return event.Opened{Messages: []chat.Message{{Role: chat.System, Text: text(tokens)}}}
}

func prompted(tokens int) event.Prompted {
	return event.Prompted{Message: chat.Message{Role: chat.User, Text: text(tokens)}}
}

func TestReading(t *testing.T) {
	const plain = "waiting for the model"
	for _, test := range []struct {
		name    string
		rate    float64
		warm    bool
		earlier []event.Body
		events  []event.Body
		want    string
	}{
		{"six minutes", 30, false, nil, []event.Body{opened(12_000), prompted(800)}, "reading up to 12,800 tokens, up to 7 min at 30 tokens/s"},
		{"the tool check has read the opening", 30, true, nil, []event.Body{opened(12_000), prompted(800)}, "reading about 800 tokens, about 27 s at 30 tokens/s"},
		{"fast enough to need no word", 3000, false, nil, []event.Body{opened(12_000), prompted(800)}, plain},
		{"no rate", 0, false, nil, []event.Body{opened(12_000), prompted(800)}, plain},
		{"what was read is not read again", 30, true, nil, []event.Body{opened(12_000), prompted(800), said(12_800, 0, 26*time.Second), event.Did{Words: text(50)}}, plain},
		{"results of tools", 30, true, nil, []event.Body{opened(12_000), prompted(900), said(12_900, 0, 30*time.Second), event.Did{Words: text(4000)}, event.Did{Words: text(2000)}},
			"reading about 6,000 tokens, about 3 min at 30 tokens/s"},
		{"a rate that the answers tell", 0, true, nil, []event.Body{opened(12_000), prompted(1000), said(13_000, 0, 100*time.Second), event.Did{Words: text(1000)}},
			"reading about 1,000 tokens, about 100 s at 10 tokens/s"},
		{"a server that tells what it held", 90, false, nil, []event.Body{opened(12_000), prompted(1000), said(13_000, 12_000, 50*time.Second), event.Did{Words: text(1000)}},
			"reading about 1,000 tokens, about 50 s at 20 tokens/s"},
		{"it had lost all: no word of 1 token a second", 30, true, nil, []event.Body{opened(12_000), prompted(100), said(12_100, 0, 400*time.Second), event.Did{Words: text(3000)}},
			"reading about 3,000 tokens, about 100 s at 30 tokens/s"},
		{"too short to tell a rate", 0, true, nil, []event.Body{opened(100), prompted(10), said(110, 0, 900*time.Millisecond), event.Did{Words: text(9000)}}, plain},
		{"a session that goes on", 50, true, []event.Body{opened(12_000), prompted(1000), said(13_000, 0, time.Second), event.Did{Words: text(2000)}}, []event.Body{prompted(1000)},
			"reading up to 4,000 tokens, up to 80 s at 50 tokens/s"},
		{"summed up", 50, true, nil, []event.Body{opened(12_000), prompted(1000), said(13_000, 0, 20*time.Second), event.Compacted{Before: 60_000, After: 9000}},
			"reading up to 9,000 tokens, up to 3 min at 50 tokens/s"},
	} {
		h := &Human{Out: &bytes.Buffer{}}
		var earlier []event.Event
		for _, b := range test.earlier {
			earlier = append(earlier, event.Event{Body: b})
		}
		h.Reads(test.rate, test.warm, earlier)
		for _, b := range test.events {
			h.reading.event(event.Event{Body: b})
		}
		if got, _ := h.reading.expect(); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

// A long read is told at once and as it goes; the first word ends it, shown or not, and so does what it takes too long.
func TestReadingIsTold(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	run := func(terminal bool, then ...event.Body) (*Human, *bytes.Buffer) {
		var b bytes.Buffer
		h := &Human{Out: &b, Terminal: terminal, HideReasoning: true}
		h.Reads(30, false, nil)
		for _, body := range append([]event.Body{opened(12_000), prompted(800)}, then...) {
			h.Event(event.Event{Time: start, Body: body})
		}
		b.Reset()
		return h, &b
	}
	const reading = "reading up to 12,800 tokens, up to 7 min at 30 tokens/s, "
	h, b := run(false)
	for s := 1; s <= 400; s++ {
		h.Tick(start.Add(time.Duration(s) * time.Second))
	}
	if got, want := b.String(), "wait  "+reading+"1 s so far\nwait  "+reading+"30 s so far\nwait  "+reading+"60 s so far\nwait  "+reading+"2 min so far\nwait  "+reading+"4 min so far\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	h, b = run(true)
	h.Tick(start.Add(372 * time.Second))
	if got := screen(b.String()); got != reading+"372 s" {
		t.Errorf("on a terminal: %q", got)
	}
	b.Reset()
	h.Tick(start.Add(600 * time.Second))
	if got := screen(b.String()); got != "waiting for the model, longer than the 7 min expected, 600 s" {
		t.Errorf("too long: %q", got)
	}
	h, b = run(true, event.Heard{Thinking: "hidden"})
	h.Tick(start.Add(9 * time.Second))
	if got := screen(b.String()); got != "the model is writing, 9 s" {
		t.Errorf("after the first word: %q", got)
	}
}
