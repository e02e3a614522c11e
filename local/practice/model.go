package practice

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"strings"
	"sync"
	"time"

	"interpreter/local/chat"
)

// Model plays a script in process: the scripted model that tests of this house use.
type Model struct {
	// Sleep waits for stalls and pauses. Tests put a clock of their own here.
	Sleep func(ctx context.Context, d time.Duration) error

	player   *player
	mu       sync.Mutex
	requests []chat.Request
}

// NewModel makes a model of a script.
func NewModel(s *Script) *Model { return &Model{Sleep: sleep, player: newPlayer(s)} }

// sleep waits for d or for the end of ctx.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// Requests lists what the model was asked, oldest first.
func (m *Model) Requests() []chat.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]chat.Request(nil), m.requests...)
}

// Failures lists the demands of the script that were not met.
func (m *Model) Failures() []string { return m.player.failed() }

// Stream answers by the script.
func (m *Model) Stream(ctx context.Context, req chat.Request) iter.Seq2[chat.Delta, error] {
	return func(yield func(chat.Delta, error) bool) {
		m.mu.Lock()
		m.requests = append(m.requests, req)
		m.mu.Unlock()
		if err := m.refuse(req); err != nil {
			yield(chat.Delta{}, err)
			return
		}
		a := m.player.answer(req)
		if err := m.Sleep(ctx, a.stall); err != nil {
			yield(chat.Delta{}, err)
			return
		}
		if a.status != 0 {
			yield(chat.Delta{}, m.status(a))
			return
		}
		if m.steps(ctx, a, yield) {
			yield(chat.Delta{Finish: a.finish, Usage: &a.usage}, nil)
		}
	}
}

// steps yields the steps of an answer and reports whether it came to its end.
func (m *Model) steps(ctx context.Context, a answer, yield func(chat.Delta, error) bool) bool {
	for _, s := range a.steps {
		if err := ctx.Err(); err != nil {
			yield(chat.Delta{}, err)
			return false
		}
		switch s.Kind {
		case Say:
			for _, piece := range pieces(s.Text) {
				if !yield(chat.Delta{Text: piece}, nil) {
					return false
				}
			}
		case Raw:
			if !yield(chat.Delta{Text: s.Text}, nil) {
				return false
			}
		case Think:
			for _, piece := range pieces(s.Text) {
				if !yield(chat.Delta{Thinking: piece}, nil) {
					return false
				}
			}
		case Call:
			call := s.Call
			if !yield(chat.Delta{Call: &call}, nil) {
				return false
			}
		case Pause:
			if err := m.Sleep(ctx, s.For); err != nil {
				yield(chat.Delta{}, err)
				return false
			}
		case Cut:
			return fail(yield, m.fault(chat.Broken, "the connection ended before the answer did"))
		case Malformed:
			return fail(yield, m.fault(chat.Broken, "a piece of the answer cannot be read: "+brief(s.Text)))
		case Fault:
			return fail(yield, m.fault(chat.Server, s.Text))
		}
	}
	return true
}

func fail(yield func(chat.Delta, error) bool, err error) bool {
	yield(chat.Delta{}, err)
	return false
}

func (m *Model) fault(kind chat.Kind, detail string) *chat.Error {
	return &chat.Error{Kind: kind, Model: m.player.script.Name, Detail: detail}
}

// refuse turns away what the model cannot do.
func (m *Model) refuse(req chat.Request) error {
	s := m.player.script
	if len(req.Tools) > 0 && !s.can("tools") {
		return m.fault(chat.NoTools, "does not support tools")
	}
	if req.Effort != "" && req.Effort != "none" && !s.can("thinking") {
		return m.fault(chat.NoThinking, "does not support thinking")
	}
	if size := Estimate(req); req.Window > 0 && size > req.Window {
		return &chat.Error{Kind: chat.Overflow, Model: s.Name, Prompt: size, Window: req.Window}
	}
	return nil
}

// status makes of an HTTP status what a provider would make of it.
func (m *Model) status(a answer) *chat.Error {
	e := m.fault(chat.Invalid, a.detail)
	e.Status, e.RetryAfter = a.status, a.retry
	if e.Detail == "" {
		e.Detail = strings.ToLower(http.StatusText(a.status))
	}
	switch {
	case a.status == http.StatusTooManyRequests, a.status == http.StatusServiceUnavailable:
		e.Kind = chat.Busy
	case a.status >= 500:
		e.Kind = chat.Server
	case a.status == http.StatusNotFound:
		e.Kind = chat.Missing
	case a.status == http.StatusUnauthorized, a.status == http.StatusForbidden:
		e.Kind = chat.Denied
	case strings.Contains(e.Detail, "context"):
		e.Kind = chat.Overflow
	}
	return e
}

func (m *Model) String() string { return fmt.Sprintf("%s (%s)", m.player.script.Name, Banner) }

// pieces takes a text apart as a server streams it: whole words, about 32 bytes at a time.
func pieces(text string) []string {
	const about = 32
	var out []string
	from := 0
	for i := 1; i < len(text); i++ {
		if i-from >= about && (text[i-1] == ' ' || text[i-1] == '\n') {
			out = append(out, text[from:i])
			from = i
		}
	}
	if from < len(text) {
		out = append(out, text[from:])
	}
	return out
}
