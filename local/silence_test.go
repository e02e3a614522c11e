package local

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"interpreter/local/chat"
)

func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, s := Listen(t.Context(), "m", time.Minute)
		defer s.End()
		alive := func(when string) {
			t.Helper()
			synctest.Wait()
			if ctx.Err() != nil {
				t.Fatalf("%s: %v", when, context.Cause(ctx))
			}
		}
		time.Sleep(59 * time.Second)
		s.Heard()
		time.Sleep(59 * time.Second)
		alive("heard in time")
		s.Pause()
		time.Sleep(time.Hour)
		alive("paused")
		s.Allow(time.Second)
		if _, err := io.Copy(io.Discard, s.Reader(strings.NewReader("x"))); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second - 1)
		alive("within what is allowed now")
		time.Sleep(1)
		synctest.Wait()
		var failure *chat.Error
		if !errors.As(context.Cause(ctx), &failure) || failure.Kind != chat.Idle || failure.Model != "m" || !strings.Contains(failure.Detail, "1s") {
			t.Errorf("got %v", context.Cause(ctx))
		}
	})
}

func TestPace(t *testing.T) {
	var p Pace
	least := time.Minute
	if got := p.Patience(1<<30, least); got != least {
		t.Errorf("nothing is known: %s", got)
	}
	p.Learn(chat.Usage{Input: 63, Prefill: time.Hour})
	p.Learn(chat.Usage{Input: 5000, CachedInput: 4990, Prefill: time.Hour})
	p.Learn(chat.Usage{Input: 5000, Prefill: time.Millisecond})
	if got := p.Patience(1<<30, least); got != least {
		t.Errorf("short readings say nothing: %s", got)
	}
	p.Learn(chat.Usage{Input: 1100, CachedInput: 100, Prefill: 100 * time.Second}) // 10 tokens a second
	if got := p.Patience(36_000, least); got != 3000*time.Second {
		t.Errorf("10,000 tokens at 10 a second, three times: got %s", got)
	}
	if got := p.Patience(36, least); got != least {
		t.Errorf("a short prompt: got %s", got)
	}
}
