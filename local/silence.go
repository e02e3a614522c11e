package local

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"interpreter/local/chat"
)

// Silence ends a request whose server says nothing for too long. Reading a prompt may take many minutes, so there is
// no limit on a whole answer, only on the time without a sign of life.
type Silence struct {
	lock    sync.Mutex
	allowed time.Duration
	timer   *time.Timer
	cancel  context.CancelCauseFunc
}

// Listen begins to wait: the context it returns ends with a *chat.Error of kind Idle when nothing is heard for the
// time allowed. The caller calls End when it is done.
func Listen(ctx context.Context, model string, allowed time.Duration) (context.Context, *Silence) {
	s := &Silence{allowed: allowed}
	ctx, s.cancel = context.WithCancelCause(ctx)
	s.lock.Lock()
	defer s.lock.Unlock()
	s.timer = time.AfterFunc(allowed, func() {
		s.lock.Lock()
		defer s.lock.Unlock()
		s.cancel(&chat.Error{Kind: chat.Idle, Model: model, Detail: fmt.Sprintf("the server said nothing for %s", s.allowed)})
	})
	return ctx, s
}

// Heard starts the wait anew.
func (s *Silence) Heard() {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.timer.Reset(s.allowed)
}

// Allow changes how long a silence may last, and starts the wait anew.
func (s *Silence) Allow(d time.Duration) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.allowed = d
	s.timer.Reset(d)
}

// Pause stops the wait until Heard or Allow: while an answer is being worked on, silence is not the server's.
func (s *Silence) Pause() { s.timer.Stop() }

// End stops waiting and ends the context.
func (s *Silence) End() {
	s.timer.Stop()
	s.cancel(nil)
}

// Reader is r with every byte that comes counted as a sign of life.
func (s *Silence) Reader(r io.Reader) io.Reader { return heard{r, s} }

type heard struct {
	io.Reader
	silence *Silence
}

func (h heard) Read(b []byte) (int, error) {
	n, err := h.Reader.Read(b)
	if n > 0 {
		h.silence.Heard()
	}
	return n, err
}

// Pace is how fast a model reads prompts, as measured on its own answers. The zero value knows nothing yet.
type Pace struct {
	lock sync.Mutex
	rate float64 // tokens a second
}

// Learn measures. Short readings say little and are left out.
func (p *Pace) Learn(u chat.Usage) {
	tokens := u.Input - u.CachedInput
	if tokens < 64 || u.Prefill < time.Second {
		return
	}
	p.lock.Lock()
	p.rate = float64(tokens) / u.Prefill.Seconds()
	p.lock.Unlock()
}

// Patience is the silence to allow before the answer to a request of so many bytes: least, or three times what
// reading it takes when none of it is cached.
func (p *Pace) Patience(size int, least time.Duration) time.Duration {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.rate == 0 {
		return least
	}
	return max(least, time.Duration(3*float64(size)/bytesPerToken/p.rate*float64(time.Second)))
}
