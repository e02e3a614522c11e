package responses

import (
	"context"
	"errors"
	"io"
	"iter"
	"net/http"

	"interpreter/local"
	"interpreter/local/chat"
	"interpreter/local/openai"
)

// path is where a request goes, below the version of the API.
const path = "/responses"

// model is a model as the server serves it.
type model struct {
	provider *Provider
	info     local.ModelInfo
	id       string // what the server calls it
	window   int
	pace     local.Pace
	members  openai.Members
}

// Stream sends a request and yields the answer as it comes.
func (m *model) Stream(ctx context.Context, req chat.Request) iter.Seq2[chat.Delta, error] {
	body, _ := m.encode(req)
	return m.provider.Exchange(ctx, openai.Exchange{
		Model: m.info.Name, Window: m.window, Pace: &m.pace, Size: len(body),
		Open: func(ctx context.Context) (*http.Response, error) { return m.open(ctx, req) },
		Read: func(body io.Reader, h openai.Hearing) error {
			d := newDecoder(m.provider.Provider, m.info.Name, local.NewIDs(req.Messages), h)
			d.limit = output(req)
			return d.read(body)
		},
	})
}

// open sends a request, without the members that the server turns out not to know.
func (m *model) open(ctx context.Context, req chat.Request) (*http.Response, error) {
	for {
		body, sent := m.encode(req)
		res, err := m.provider.Post(ctx, path, m.info.Name, body)
		var failure *chat.Error
		if err == nil || !errors.As(err, &failure) || !m.members.Learn(failure, sent, parts...) {
			return res, err
		}
	}
}

// Decode reads the body of one answer as a model of this package does.
func Decode(body io.Reader) iter.Seq2[chat.Delta, error] {
	p, err := New("http://localhost", openai.Options{Lone: true})
	return openai.Heard(err, func(h openai.Hearing) error {
		return newDecoder(p.Provider, "", local.NewIDs(nil), h).read(body)
	})
}
