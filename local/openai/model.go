package openai

import (
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"regexp"
	"strings"
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

// Stream sends a request and yields the answer as it comes.
func (m *model) Stream(ctx context.Context, req chat.Request) iter.Seq2[chat.Delta, error] {
	return func(yield func(chat.Delta, error) bool) {
		var notice string
		x := Exchange{
			Model: m.info.Name, Window: m.window, Pace: &m.pace, Size: len(m.encode(req, m.shape())),
			Open: func(ctx context.Context) (res *http.Response, err error) {
				res, notice, err = m.open(ctx, req)
				return res, err
			},
			Read: func(body io.Reader, h Hearing) error {
				if notice != "" && !h.Emit(chat.Delta{Notice: notice}) {
					return nil
				}
				d := &decoder{provider: m.provider, model: m.info.Name, calls: newCalls(req), began: h.Began, ended: h.Ended, emit: h.Emit}
				return d.read(body)
			},
		}
		for delta, err := range m.provider.Exchange(ctx, x) {
			if !yield(delta, err) {
				return
			}
		}
	}
}

// open sends a request. When the server refuses the way it is written, and there is another, that is used from then
// on: what it has read by now it must read again, but the session goes on. notice tells a person of a change that they
// should know of.
func (m *model) open(ctx context.Context, req chat.Request) (res *http.Response, notice string, err error) {
	for {
		form := m.shape()
		body := m.encode(req, form)
		res, err = m.provider.Post(ctx, "/chat/completions", m.info.Name, body)
		var failure *chat.Error
		if err == nil || !errors.As(err, &failure) {
			return res, notice, err
		}
		before := form
		if !form.adapt(failure, m.fields(req, form)) {
			m.stumble(failure)
			return res, notice, err
		}
		if form.plain && !before.plain {
			notice = m.provider.Name() + " could not read the arguments of earlier calls as the model wrote them; they are sent in a plainer form from now on"
		}
		m.lock.Lock()
		m.form = form
		m.lock.Unlock()
	}
}

// unread are a server's words about what its model wrote just now, when its parser took it for a call that is none.
var unread = regexp.MustCompile(`(failed|unable|error|could not|cannot)[^.]{0,30}pars(e|ing)|parse error|does not match the expected`)

// stumble has the next requests ask for another answer than the one that the server's own parser fell over.
func (m *model) stumble(failure *chat.Error) {
	if failure.Kind != chat.Server || !unread.MatchString(strings.ToLower(failure.Detail)) {
		return
	}
	m.lock.Lock()
	m.form.stumbled++
	m.lock.Unlock()
}

func (m *model) shape() form {
	m.lock.Lock()
	defer m.lock.Unlock()
	return m.form
}
