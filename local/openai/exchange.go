package openai

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

// Exchange is one request to a model and the answer to it, on any wire where a body is posted and another comes back.
// Packages that speak such wires to the same servers build on it.
type Exchange struct {
	Model  string // for the words of an error
	Window int    // tokens, for an overflow whose words do not name it; 0: unknown
	Pace   *local.Pace
	Size   int // bytes of the request
	Open   func(context.Context) (*http.Response, error)
	Read   func(io.Reader, Hearing) error
}

// Hearing is how a decoder tells what it hears.
type Hearing struct {
	Emit  func(chat.Delta) bool // false: nobody listens any more
	Began func()                // of a piece of something that comes out only when it is whole
	Ended func()                // the model has stopped, and only counts can follow
}

// Exchange sends a request and yields the answer as it comes. It waits for its beginning as long as reading the prompt
// may take, and from then on a shorter while.
func (p *Provider) Exchange(ctx context.Context, x Exchange) iter.Seq2[chat.Delta, error] {
	return func(yield func(chat.Delta, error) bool) {
		ctx, silence := local.Listen(ctx, x.Model, x.Pace.Patience(x.Size, p.options.First))
		defer silence.End()
		res, err := x.Open(ctx)
		if err != nil {
			yield(chat.Delta{}, x.sized(err))
			return
		}
		defer res.Body.Close()
		gone := false
		hearing := Hearing{
			Began: func() { silence.Allow(p.options.Idle) },
			Ended: func() { silence.Allow(min(afterEnd, p.options.Idle)) },
			Emit: func(delta chat.Delta) bool {
				if delta.Usage != nil {
					x.Pace.Learn(*delta.Usage)
				}
				// While the consumer works on a delta, silence is not the server's.
				silence.Pause()
				gone = !yield(delta, nil)
				silence.Allow(p.options.Idle)
				return !gone
			},
		}
		if err := x.Read(silence.Reader(res.Body), hearing); err != nil && !gone {
			yield(chat.Delta{}, x.sized(p.during(ctx, x.Model, err)))
		}
	}
}

// during tells a failure of the connection in the middle of an answer from one that the server put into words.
func (p *Provider) during(ctx context.Context, model string, err error) error {
	var failure *chat.Error
	if errors.As(err, &failure) && context.Cause(ctx) == nil {
		return err
	}
	return p.transport(ctx, model, err)
}

// sized adds the window to an overflow whose words do not name it.
func (x Exchange) sized(err error) error {
	var failure *chat.Error
	if errors.As(err, &failure) && failure.Kind == chat.Overflow && failure.Window == 0 && x.Window > 0 {
		failure.Window = x.Window
		failure.Detail += fmt.Sprintf(" (the window holds %d tokens)", x.Window)
	}
	return err
}

// Post sends the body of a request to a path below the version of the API. An answer that is none is a *chat.Error.
func (p *Provider) Post(ctx context.Context, path, model string, body []byte) (*http.Response, error) {
	return p.send(ctx, http.MethodPost, p.api+path, model, body)
}

// Failure is the error that a server's words mean, in the form of any wire that package openai knows; status is 0
// within a stream that began well.
func (p *Provider) Failure(status int, body []byte, model string) *chat.Error {
	return p.classify(status, faultIn(body), model)
}

// Decode reads the body of one answer as a model made by Chat does. tools are those that were offered.
func Decode(body io.Reader, tools []chat.Spec) iter.Seq2[chat.Delta, error] {
	p, err := New("http://localhost", Options{Lone: true})
	return Heard(err, func(h Hearing) error {
		d := &decoder{provider: p, calls: newCalls(chat.Request{Tools: tools}), began: h.Began, ended: h.Ended, emit: h.Emit}
		return d.read(body)
	})
}

// Heard yields what a decoder hears when nothing waits for the answer: it lies there already.
func Heard(err error, read func(Hearing) error) iter.Seq2[chat.Delta, error] {
	return func(yield func(chat.Delta, error) bool) {
		gone := false
		if err == nil {
			err = read(Hearing{
				Began: func() {}, Ended: func() {},
				Emit: func(d chat.Delta) bool {
					gone = !yield(d, nil)
					return !gone
				},
			})
		}
		if err != nil && !gone {
			yield(chat.Delta{}, err)
		}
	}
}
