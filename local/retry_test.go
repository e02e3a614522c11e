package local

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"
	"time"

	"interpreter/local/chat"
)

// reply is one answer of the scripted model: what it says, then how it ends.
type reply struct {
	deltas []chat.Delta
	err    error
}

// scripted is a model that answers by a list; what is asked is kept.
type scripted struct {
	replies []reply
	asked   []chat.Request
	by      func(chat.Request) reply // instead of the list
}

func (s *scripted) Stream(ctx context.Context, req chat.Request) iter.Seq2[chat.Delta, error] {
	return func(yield func(chat.Delta, error) bool) {
		s.asked = append(s.asked, req)
		if err := ctx.Err(); err != nil {
			yield(chat.Delta{}, err)
			return
		}
		var r reply
		switch {
		case s.by != nil:
			r = s.by(req)
		case len(s.replies) == 0:
			r = reply{err: errors.New("the script has ended")}
		default:
			r, s.replies = s.replies[0], s.replies[1:]
		}
		for _, d := range r.deltas {
			if !yield(d, nil) {
				return
			}
		}
		if r.err != nil {
			yield(chat.Delta{}, r.err)
			return
		}
		yield(chat.Delta{Finish: chat.Stopped, Usage: &chat.Usage{}}, nil)
	}
}

func says(text string) reply { return reply{deltas: []chat.Delta{{Text: text}}} }

func fails(kind chat.Kind, after time.Duration, text string) reply {
	r := reply{err: &chat.Error{Kind: kind, RetryAfter: after}}
	if text != "" {
		r.deltas = []chat.Delta{{Text: text}}
	}
	return r
}

// times returns n of the same.
func times(n int, r reply) []reply {
	var out []reply
	for range n {
		out = append(out, r)
	}
	return out
}

// unhurried is a patience whose clock does not wait.
func unhurried(p Patience, waits *[]time.Duration) Patience {
	p.Jitter = func() float64 { return 0.5 }
	p.Sleep = func(ctx context.Context, d time.Duration) error {
		*waits = append(*waits, d)
		return ctx.Err()
	}
	return p
}

func total(waits []time.Duration) (sum time.Duration) {
	for _, w := range waits {
		sum += w
	}
	return sum
}

func TestRetry(t *testing.T) {
	for _, test := range []struct {
		name     string
		patience Patience
		replies  []reply
		text     string // of the answer that counts
		fails    chat.Kind
		requests int
		first    []time.Duration // the first waits
		least    time.Duration   // in all
		most     time.Duration
	}{
		{name: "no failure", replies: []reply{says("ok")}, text: "ok", requests: 1},
		{name: "what came before a break is void", replies: []reply{fails(chat.Broken, 0, "half"), says("ok")}, text: "ok", requests: 2,
			first: []time.Duration{200 * time.Millisecond}, most: time.Second},
		{name: "five breaks", replies: append(times(5, fails(chat.Broken, 0, "x")), says("ok")), text: "ok", requests: 6, most: time.Minute},
		{name: "six breaks", replies: append(times(6, fails(chat.Idle, 0, "")), says("ok")), fails: chat.Idle, requests: 6, most: time.Minute},
		{name: "four server errors", replies: append(times(4, fails(chat.Server, 0, "")), says("ok")), text: "ok", requests: 5,
			first: []time.Duration{200 * time.Millisecond, 400 * time.Millisecond, 800 * time.Millisecond}, most: time.Minute},
		{name: "five server errors", replies: append(times(5, fails(chat.Server, 0, "")), says("ok")), fails: chat.Server, requests: 5, most: time.Minute},
		{name: "Retry-After is a minimum", replies: []reply{fails(chat.Busy, 2*time.Second, ""), says("ok")}, text: "ok", requests: 2,
			first: []time.Duration{2 * time.Second}, most: 3 * time.Second},
		{name: "and waits grow from there", replies: append(times(3, fails(chat.Busy, 2*time.Second, "")), says("ok")), text: "ok", requests: 4,
			first: []time.Duration{2 * time.Second, 4 * time.Second, 8 * time.Second}, most: time.Minute},
		{name: "a load of minutes", replies: append(times(15, fails(chat.Busy, 0, "")), says("ok")), text: "ok", requests: 16,
			first: []time.Duration{200 * time.Millisecond, 400 * time.Millisecond}, least: 3 * time.Minute, most: 10 * time.Minute},
		{name: "not for ever", replies: append(times(99, fails(chat.Busy, 0, "")), says("ok")), fails: chat.Busy, requests: 27, least: 9 * time.Minute, most: 10 * time.Minute},
		{name: "a wait that outlasts the patience is not begun", replies: []reply{fails(chat.Busy, time.Hour, "")}, fails: chat.Busy, requests: 1},
		{name: "a minute for a server that is gone", replies: times(99, fails(chat.Unreachable, 0, "")), fails: chat.Unreachable, requests: 16, least: 50 * time.Second, most: time.Minute},
		{name: "or as long as was asked", patience: Patience{Unreachable: time.Second}, replies: times(99, fails(chat.Unreachable, 0, "")), fails: chat.Unreachable, requests: 3, most: time.Second},
		{name: "or until it comes", patience: Patience{Unreachable: -1}, replies: append(times(60, fails(chat.Unreachable, 0, "")), says("ok")), text: "ok", requests: 61, least: 20 * time.Minute, most: time.Hour},
		{name: "overflow is not asked again", replies: []reply{fails(chat.Overflow, 0, ""), says("ok")}, fails: chat.Overflow, requests: 1},
		{name: "nor a missing model", replies: []reply{fails(chat.Missing, 0, ""), says("ok")}, fails: chat.Missing, requests: 1},
		{name: "nor one without tools", replies: []reply{fails(chat.NoTools, 0, ""), says("ok")}, fails: chat.NoTools, requests: 1},
		{name: "nor a bad request", replies: []reply{fails(chat.Invalid, 0, ""), says("ok")}, fails: chat.Invalid, requests: 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			var waits []time.Duration
			model := &scripted{replies: test.replies}
			text, announced := "", 0
			var failure error
			for d, err := range Retry(model, unhurried(test.patience, &waits)).Stream(t.Context(), chat.Request{}) {
				if err != nil {
					failure = err
					break
				}
				if d.Wait != nil {
					text = ""
					if announced++; d.Wait.Attempt != announced || d.Wait.For <= 0 || d.Wait.Why == "" {
						t.Errorf("wait %d: %+v", announced, *d.Wait)
					}
				}
				text += d.Text
			}
			var typed *chat.Error
			if test.fails != "" && (!errors.As(failure, &typed) || typed.Kind != test.fails) || test.fails == "" && failure != nil {
				t.Errorf("error %v, want kind %q", failure, test.fails)
			}
			if test.fails == "" && text != test.text {
				t.Errorf("text %q, want %q", text, test.text)
			}
			if len(model.asked) != test.requests || announced != len(waits) {
				t.Errorf("%d requests, want %d; %d waits announced of %d", len(model.asked), test.requests, announced, len(waits))
			}
			for i, want := range test.first {
				if i >= len(waits) || waits[i] != want {
					t.Errorf("waits %v, want first %v", waits, test.first)
					break
				}
			}
			if sum := total(waits); sum < test.least || sum > test.most {
				t.Errorf("waited %s in all, want %s to %s", sum, test.least, test.most)
			}
		})
	}
}

func TestRetryCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	model := &scripted{replies: times(9, fails(chat.Server, 0, ""))}
	var failure error
	for d, err := range Retry(model, Patience{}).Stream(ctx, chat.Request{}) {
		failure = err
		if d.Wait != nil {
			cancel()
		}
	}
	if !errors.Is(failure, context.Canceled) || len(model.asked) != 1 {
		t.Errorf("got %v after %d requests", failure, len(model.asked))
	}
}

func TestRetryLeft(t *testing.T) {
	model := &scripted{replies: times(9, fails(chat.Server, 0, "a"))}
	for range Retry(model, Patience{}).Stream(t.Context(), chat.Request{}) {
		break
	}
	if len(model.asked) != 1 {
		t.Errorf("%d requests after the consumer left", len(model.asked))
	}
}

func TestSpread(t *testing.T) {
	for jitter, want := range map[float64]time.Duration{0: 900 * time.Millisecond, 0.5: time.Second, 1: 1100 * time.Millisecond} {
		b := backoff{Patience: Patience{Jitter: func() float64 { return jitter }}}
		if got := b.spread(time.Second); (got - want).Abs() > time.Millisecond {
			t.Errorf("jitter %v: got %s, want %s", jitter, got, want)
		}
	}
}

func TestGaveUp(t *testing.T) {
	var waits []time.Duration
	model := &scripted{replies: times(9, fails(chat.Server, 0, ""))}
	for _, err := range Retry(model, unhurried(Patience{Requests: 2}, &waits)).Stream(t.Context(), chat.Request{}) {
		if err != nil && !strings.Contains(err.Error(), "after 3 attempts") {
			t.Errorf("got %v", err)
		}
	}
}

// Each kind of failure has a limit of its own, and its counter never passes it.
func TestBackoffCountsKindsApart(t *testing.T) {
	b := backoff{Patience: Patience{Jitter: func() float64 { return 0.5 }}.filled()}
	for i, step := range []struct {
		kind           chat.Kind
		attempt, limit int
	}{{chat.Busy, 1, 0}, {chat.Server, 1, 4}, {chat.Broken, 1, 5}, {chat.Server, 2, 4}, {chat.Busy, 5, 0}, {chat.Idle, 2, 5}} {
		wait, again := b.next(&chat.Error{Kind: step.kind})
		if !again || wait.Attempt != step.attempt || wait.Limit != step.limit {
			t.Errorf("failure %d, %s: got %d/%d %v, want %d/%d", i, step.kind, wait.Attempt, wait.Limit, again, step.attempt, step.limit)
		}
	}
}
