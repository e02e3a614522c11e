package ollama

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"

	"interpreter/local"
	"interpreter/local/chat"
)

// model is a loaded model. Its load-time options never change, so the server never has a reason to load it again.
type model struct {
	provider *Provider
	info     local.ModelInfo
	window   int
	how      local.Loading
	meter    meter
	pace     local.Pace
}

// Load has the server load a model with the options of every later call, and returns when it is in memory. A model that
// may run elsewhere is not loaded: the first request would go there.
func (p *Provider) Load(ctx context.Context, info local.ModelInfo, l local.Loading) (chat.Model, error) {
	m := &model{provider: p, info: info, window: l.Window, how: l}
	if l.Remote {
		return m, nil
	}
	ctx, cancel := context.WithTimeout(ctx, loadFor)
	defer cancel()
	begun := p.now()
	res, err := p.send(ctx, http.MethodPost, "/api/chat", info.Name, m.encode(chat.Request{}))
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if err := newDecoder(info.Name, nil).read(res.Body, func(chat.Delta) bool { return true }); err != nil {
		return nil, p.during(ctx, info.Name, err)
	}
	now := p.now()
	m.meter.began(now, now.Sub(begun))
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
		body, messages := m.compose(req)
		ctx, silence := local.Listen(ctx, m.info.Name, m.pace.Patience(len(body), m.provider.options.First))
		defer silence.End()
		res, err := m.provider.send(ctx, http.MethodPost, "/api/chat", m.info.Name, body)
		if err != nil {
			yield(chat.Delta{}, m.sized(err))
			return
		}
		defer res.Body.Close()
		gone := false
		emit := func(d chat.Delta) bool {
			silence.Pause() // while the consumer works on a delta, silence is not the server's
			gone = !yield(d, nil)
			silence.Allow(m.provider.options.Idle)
			return !gone
		}
		decoder := newDecoder(m.info.Name, req.Messages)
		decoder.remote = m.how.Remote
		var wrong error
		err = decoder.read(heard{res.Body, func() { silence.Allow(m.provider.options.Idle) }}, func(d chat.Delta) bool {
			if d.Usage != nil {
				m.pace.Learn(*d.Usage)
				var notice string
				if notice, wrong = m.judge(ctx, req, body, messages, *d.Usage); wrong != nil {
					return false
				}
				if notice != "" && !emit(chat.Delta{Notice: notice}) {
					return false
				}
			}
			return emit(d)
		})
		if err == nil {
			err = wrong
		}
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

// heard is a body whose every read is told of: the wait for the first byte is another than that between two.
type heard struct {
	io.Reader
	told func()
}

func (h heard) Read(b []byte) (int, error) {
	n, err := h.Reader.Read(b)
	if n > 0 {
		h.told()
	}
	return n, err
}
