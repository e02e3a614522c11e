package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"interpreter/agent/event"
	"interpreter/harness"
	"interpreter/local/chat"
)

// Opening is what every request of a session begins with: its messages and tools, in the bytes that go out. The same
// harness and environment give the same bytes.
func Opening(h harness.Harness, env harness.Environment) ([]chat.Message, []chat.Spec, error) {
	messages, tools, err := h.Begin(env)
	if err != nil {
		return nil, nil, err
	}
	for i := range tools {
		var flat bytes.Buffer
		if json.Compact(&flat, tools[i].Parameters) == nil {
			tools[i].Parameters = flat.Bytes()
		}
	}
	return messages, tools, nil
}

// opens makes the opening event that the next turn begins with.
func (s *Session) opens() (event.Opened, error) {
	messages, tools, err := Opening(s.cfg.Harness, s.cfg.Env)
	return event.Opened{Harness: s.cfg.Harness.Name, Model: s.cfg.ModelName, Provider: s.cfg.Provider,
		Window: s.cfg.Window, Messages: messages, Tools: tools}, err
}

// isOpened reports whether an opening is that of this model and harness.
func (s *Session) isOpened(o *event.Opened) bool {
	return o != nil && o.Harness == s.cfg.Harness.Name && o.Model == s.cfg.ModelName && o.Provider == s.cfg.Provider
}

// warming is a Warm under way, and who waits for it to make way.
type warming struct {
	mu     sync.Mutex
	owners int                // that have the session or want it
	end    context.CancelFunc // nil when there is none
	done   chan struct{}
}

// claim ends a Warm under way, waits for that, and keeps others from starting until release.
func (w *warming) claim() {
	w.mu.Lock()
	w.owners++
	end, done := w.end, w.done
	w.mu.Unlock()
	if end != nil {
		end()
		<-done
	}
}

func (w *warming) release() {
	w.mu.Lock()
	w.owners--
	w.mu.Unlock()
}

// start registers a Warm; there is one at a time, and none while the session is wanted.
func (w *warming) start(ctx context.Context) (context.Context, func(), bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.end != nil || w.owners > 0 {
		return nil, nil, false
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	w.end, w.done = cancel, done
	return ctx, func() {
		w.mu.Lock()
		w.end = nil
		w.mu.Unlock()
		cancel()
		close(done)
	}, true
}

// oneLetter is what a person says in a warm-up, for templates that insist on somebody saying something.
const oneLetter = "."

// Warm has the server read what the next request of this session begins with: instructions, tools, and the
// conversation so far. It asks with the options of the session for one token of an answer, which is dropped, and
// returns when the server has read all of it; nothing of it is in the log. Prompt, Compact and Close end it, and what
// was read until then stays read. An error is of no consequence for the session: the server then reads with the first
// turn. It is ErrBusy during a turn or another Warm, and context.Canceled when it was ended.
func (s *Session) Warm(ctx context.Context) error {
	ctx, done, ok := s.warm.start(ctx)
	if !ok {
		return ErrBusy
	}
	defer done()
	s.baton <- struct{}{} // free: whoever holds it has claimed it before
	defer func() { <-s.baton }()
	req, err := s.beginning()
	if err != nil {
		return fmt.Errorf("warm up: %w", err)
	}
	err = errors.New("there is nothing to read yet")
	if len(req.Messages) > 0 {
		if err = s.read(ctx, req); err == nil || ctx.Err() != nil || !refused(err) {
			return warmed(ctx, err)
		}
	}
	req.Messages = append(req.Messages, chat.Message{Role: chat.User, Text: oneLetter})
	return warmed(ctx, s.read(ctx, req))
}

func warmed(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return fmt.Errorf("warm up: %w", err)
}

// beginning is the request that the next one of this session extends.
func (s *Session) beginning() (chat.Request, error) {
	s.apply()
	opened := s.fold.Opened()
	if !s.isOpened(opened) {
		fresh, err := s.opens()
		if err != nil {
			return chat.Request{}, err
		}
		opened = &fresh
	}
	req := s.requestOf(*opened)
	req.Output = 1
	return req, nil
}

// read sends a request and drops the answer. What would have to be repeated is given up: it may be a template's refusal,
// which another form of the request overcomes, and if the server is only busy nothing is lost.
func (s *Session) read(ctx context.Context, req chat.Request) error {
	for d, err := range s.cfg.Model.Stream(ctx, req) {
		if err != nil {
			return err
		}
		if d.Wait != nil {
			return &waitError{d.Wait.Why}
		}
	}
	return ctx.Err()
}

// waitError is a refusal that only a repetition might overcome.
type waitError struct{ why string }

func (e *waitError) Error() string { return strings.TrimSpace(e.why) }

// refused reports whether the server answered and did not like the request: a template may have given up on it.
func refused(err error) bool {
	var wait *waitError
	var failure *chat.Error
	return errors.As(err, &wait) || errors.As(err, &failure) && (failure.Kind == chat.Invalid || failure.Kind == chat.Server)
}
