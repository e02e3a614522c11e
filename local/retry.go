package local

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"time"

	"interpreter/local/chat"
)

// Patience says how long a failing request is asked again. The zero value is the one for scripts: a server that is
// gone is given a minute.
type Patience struct {
	Unreachable time.Duration // in all, for a server that does not answer; 0: a minute, negative: for ever
	Loading     time.Duration // in all, for one that is busy or loading; 0: ten minutes
	Requests    int           // repetitions after a server error; 0: four, negative: none
	Streams     int           // repetitions after an answer that broke off; 0: five, negative: none

	// Sleep and Jitter are for tests. Sleep returns early with the error of a context that ends; Jitter is from 0 to 1.
	Sleep  func(ctx context.Context, d time.Duration) error
	Jitter func() float64
}

const (
	firstWait   = 200 * time.Millisecond
	longestWait = 30 * time.Second
	dialWait    = 5 * time.Second // the longest between two knocks at a server that is gone
)

func (p Patience) filled() Patience {
	if p.Unreachable == 0 {
		p.Unreachable = time.Minute
	}
	if p.Loading == 0 {
		p.Loading = 10 * time.Minute
	}
	if p.Requests == 0 {
		p.Requests = 4
	}
	if p.Streams == 0 {
		p.Streams = 5
	}
	if p.Sleep == nil {
		p.Sleep = Sleep
	}
	if p.Jitter == nil {
		p.Jitter = rand.Float64
	}
	return p
}

// Sleep waits, or returns early with the reason why ctx ended.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// backoff counts the failures of one request.
type backoff struct {
	Patience
	attempts                 int
	requests, streams, knock int
	gone, loading            time.Duration // waited so far
	last                     time.Duration // of the wait before, when busy
}

// next decides on a failure: how long to wait before asking again, or not to. A wait that would outlast the patience
// is not begun.
func (b *backoff) next(err error) (chat.Wait, bool) {
	var failure *chat.Error
	if !errors.As(err, &failure) || !failure.Retryable() {
		return chat.Wait{}, false
	}
	wait := chat.Wait{Why: failure.Error()}
	switch failure.Kind {
	case chat.Server:
		b.requests++
		wait.Attempt, wait.Limit, wait.For = b.requests, b.Requests, b.spread(double(b.requests, longestWait))
		if b.requests > b.Requests {
			return wait, false
		}
	case chat.Broken, chat.Idle:
		b.streams++
		wait.Attempt, wait.Limit, wait.For = b.streams, b.Streams, b.spread(double(b.streams, longestWait))
		if b.streams > b.Streams {
			return wait, false
		}
	case chat.Busy:
		pause := firstWait
		if b.last > 0 {
			pause = min(2*b.last, longestWait)
		}
		b.last = max(pause, failure.RetryAfter)
		// What the server asked for is never undercut.
		wait.For = max(b.spread(b.last), failure.RetryAfter)
		if b.loading+wait.For > b.Loading {
			return wait, false
		}
		b.loading += wait.For
	case chat.Unreachable:
		b.knock++
		limit := dialWait
		if b.Patience.Unreachable < 0 {
			limit = longestWait
		}
		wait.For = b.spread(double(b.knock, limit))
		if b.Patience.Unreachable >= 0 && b.gone+wait.For > b.Patience.Unreachable {
			return wait, false
		}
		b.gone += wait.For
	}
	b.attempts++
	if wait.Limit == 0 {
		wait.Attempt = b.attempts
	}
	return wait, true
}

// spread moves a wait by up to a tenth, so that several clients do not knock in step.
func (b *backoff) spread(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.9 + 0.2*b.Jitter()))
}

// double is the n-th wait of a series that doubles.
func double(n int, limit time.Duration) time.Duration {
	d := firstWait
	for range n - 1 {
		if d *= 2; d >= limit {
			return limit
		}
	}
	return min(d, limit)
}

// gaveUp tells how often it was tried.
func (b *backoff) gaveUp(err error) error {
	if b.attempts == 0 {
		return err
	}
	return fmt.Errorf("gave up after %d attempts: %w", b.attempts+1, err)
}

// Retry asks a model again when a failure can pass: it announces each wait by a chat.Delta with Wait, which voids what
// came before it. Failures that cannot pass (overflow, a missing model, a bad request) come through at once.
func Retry(m chat.Model, p Patience) chat.Model { return retrying{m, p.filled()} }

type retrying struct {
	model    chat.Model
	patience Patience
}

func (r retrying) Stream(ctx context.Context, req chat.Request) iter.Seq2[chat.Delta, error] {
	return func(yield func(chat.Delta, error) bool) {
		b := backoff{Patience: r.patience}
		for {
			var failure error
			for delta, err := range r.model.Stream(ctx, req) {
				if err != nil {
					failure = err
					break
				}
				if !yield(delta, nil) {
					return
				}
			}
			if failure == nil {
				return
			}
			if ctx.Err() != nil {
				yield(chat.Delta{}, failure)
				return
			}
			wait, again := b.next(failure)
			if !again {
				yield(chat.Delta{}, b.gaveUp(failure))
				return
			}
			if !yield(chat.Delta{Wait: &wait}, nil) {
				return
			}
			if err := r.patience.Sleep(ctx, wait.For); err != nil {
				yield(chat.Delta{}, err)
				return
			}
		}
	}
}
