package openai

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"sync"

	"interpreter/local"
	"interpreter/local/chat"
)

// model is a model as the server serves it.
type model struct {
	provider *Provider
	info     local.ModelInfo
	id       string // what the server calls it
	window   int
	pace     local.Pace

	lock sync.Mutex
	form form
}

// Chat is the handle of a model whose id on the wire is id and whose window has so many tokens. Nothing is sent yet.
func (p *Provider) Chat(info local.ModelInfo, id string, window int) chat.Model {
	return &model{provider: p, info: info, id: id, window: window, form: form{thinking: p.options.Thinking}}
}

// Stream sends a request and yields the answer as it comes. It waits for its beginning as long as reading the prompt
// may take, and from then on a shorter while.
func (m *model) Stream(ctx context.Context, req chat.Request) iter.Seq2[chat.Delta, error] {
	return func(yield func(chat.Delta, error) bool) {
		size := len(m.encode(req, m.shape()))
		ctx, silence := local.Listen(ctx, m.info.Name, m.pace.Patience(size, m.provider.options.First))
		defer silence.End()
		res, err := m.open(ctx, req)
		if err != nil {
			yield(chat.Delta{}, m.sized(err))
			return
		}
		defer res.Body.Close()
		gone := false
		d := &decoder{
			provider: m.provider, model: m.info.Name, calls: newCalls(req),
			began: func() { silence.Allow(m.provider.options.Idle) },
			ended: func() { silence.Allow(min(afterEnd, m.provider.options.Idle)) },
			emit: func(delta chat.Delta) bool {
				if delta.Usage != nil {
					m.pace.Learn(*delta.Usage)
				}
				// While the consumer works on a delta, silence is not the server's.
				silence.Pause()
				gone = !yield(delta, nil)
				silence.Allow(m.provider.options.Idle)
				return !gone
			},
		}
		if err := d.read(silence.Reader(res.Body)); err != nil && !gone {
			yield(chat.Delta{}, m.sized(m.during(ctx, err)))
		}
	}
}

// open sends a request. When the server refuses the way it is written, and there is another, that is used from then
// on: what it has read by now it must read again, but the session goes on.
func (m *model) open(ctx context.Context, req chat.Request) (*http.Response, error) {
	for {
		form := m.shape()
		body := m.encode(req, form)
		res, err := m.provider.send(ctx, http.MethodPost, m.provider.api+"/chat/completions", m.info.Name, body)
		var failure *chat.Error
		if err == nil || !errors.As(err, &failure) || !form.adapt(failure, m.fields(req, form)) {
			return res, err
		}
		m.lock.Lock()
		m.form = form
		m.lock.Unlock()
	}
}

func (m *model) shape() form {
	m.lock.Lock()
	defer m.lock.Unlock()
	return m.form
}

// during tells a failure of the connection in the middle of an answer from one that the server put into words.
func (m *model) during(ctx context.Context, err error) error {
	var failure *chat.Error
	if errors.As(err, &failure) && context.Cause(ctx) == nil {
		return err
	}
	return m.provider.transport(ctx, m.info.Name, err)
}

// sized adds the window to an overflow whose words do not name it.
func (m *model) sized(err error) error {
	var failure *chat.Error
	if errors.As(err, &failure) && failure.Kind == chat.Overflow && failure.Window == 0 && m.window > 0 {
		failure.Window = m.window
		failure.Detail += fmt.Sprintf(" (the window holds %d tokens)", m.window)
	}
	return err
}
