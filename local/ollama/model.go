package ollama

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"sync"
	"time"

	"interpreter/local"
	"interpreter/local/chat"
)

// model is a loaded model. Its load-time options never change, so the server never has a reason to load it again.
type model struct {
	provider *Provider
	info     local.ModelInfo
	window   int

	lock sync.Mutex
	rate float64 // prompt tokens read in a second, measured; 0: not yet
}

// Load has the server load a model with the options of every later call, and returns when it is in memory.
func (p *Provider) Load(ctx context.Context, info local.ModelInfo, l local.Loading) (chat.Model, error) {
	m := &model{provider: p, info: info, window: l.Window}
	ctx, cancel := context.WithTimeout(ctx, loadFor)
	defer cancel()
	res, err := p.send(ctx, http.MethodPost, "/api/chat", info.Name, m.encode(chat.Request{}))
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if err := newDecoder(info.Name, nil).read(res.Body, func(chat.Delta) bool { return true }); err != nil {
		return nil, p.during(ctx, info.Name, err)
	}
	return m, nil
}

// during tells a failure of the connection in the middle of an answer from one that the server put into words.
func (p *Provider) during(ctx context.Context, name string, err error) error {
	var failure *chat.Error
	if errors.As(err, &failure) && context.Cause(ctx) == nil {
		return err
	}
	return p.transport(ctx, name, err)
}

// Stream sends a request and yields the answer as it comes. It waits for the first byte as long as reading the prompt
// may take, and for each further one a shorter while.
func (m *model) Stream(ctx context.Context, req chat.Request) iter.Seq2[chat.Delta, error] {
	return func(yield func(chat.Delta, error) bool) {
		body := m.encode(req)
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		first := m.patience(len(body))
		began := false
		var lock sync.Mutex
		dog := newWatchdog(first, m.provider.options.Idle, func() {
			lock.Lock()
			defer lock.Unlock()
			silence := first
			if began {
				silence = m.provider.options.Idle
			}
			cancel(&chat.Error{Kind: chat.Idle, Model: m.info.Name, Detail: fmt.Sprintf("the server said nothing for %s", silence)})
		})
		defer dog.stop()
		res, err := m.provider.send(ctx, http.MethodPost, "/api/chat", m.info.Name, body)
		if err != nil {
			yield(chat.Delta{}, m.sized(err))
			return
		}
		defer res.Body.Close()
		live := reading{res.Body, func() {
			lock.Lock()
			began = true
			lock.Unlock()
			dog.alive()
		}}
		gone := false
		err = newDecoder(m.info.Name, req.Messages).read(live, func(d chat.Delta) bool {
			if d.Usage != nil {
				m.learn(*d.Usage)
			}
			// While the consumer works on a delta, silence is not the server's.
			dog.stop()
			gone = !yield(d, nil)
			dog.alive()
			return !gone
		})
		if err != nil && !gone {
			yield(chat.Delta{}, m.sized(m.provider.during(ctx, m.info.Name, err)))
		}
	}
}

// sized adds the window to an overflow whose words do not name it.
func (m *model) sized(err error) error {
	var failure *chat.Error
	if errors.As(err, &failure) && failure.Kind == chat.Overflow && failure.Window == 0 {
		failure.Window = m.window
		failure.Detail += fmt.Sprintf(" (the window holds %d tokens)", m.window)
	}
	return err
}

// patience is the silence allowed before the first byte: the configured one, or three times what reading a prompt of
// this size takes at the measured rate.
func (m *model) patience(size int) time.Duration {
	m.lock.Lock()
	defer m.lock.Unlock()
	first := m.provider.options.First
	if m.rate > 0 {
		const bytesPerToken = 3.6
		first = max(first, time.Duration(3*float64(size)/bytesPerToken/m.rate*float64(time.Second)))
	}
	return first
}

// learn measures how fast prompts are read. Short readings say little.
func (m *model) learn(u chat.Usage) {
	tokens := u.Input - u.CachedInput
	if tokens < 64 || u.Prefill < time.Second {
		return
	}
	m.lock.Lock()
	m.rate = float64(tokens) / u.Prefill.Seconds()
	m.lock.Unlock()
}
