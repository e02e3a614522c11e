package openai

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"interpreter/local/chat"
)

// Frame is what a wire does with the pieces of an answer. All wires of this kind come as server-sent events, and from
// servers that do not stream, or forget the frame, as one object or as objects one after the other.
type Frame struct {
	Path  string // of the call, for the words of an error
	Model string
	// Piece takes an event, or an object without the frame of one. done ends the reading; so does an error.
	Piece func(name string, data []byte) (done bool, err error)
	// Mark takes [DONE]; nil: it means nothing.
	Mark func() (done bool, err error)
	// Whole reports whether the answer has ended, so that nothing more need come.
	Whole func() bool
}

// ErrGone ends the reading of an answer that nobody listens to any more.
var ErrGone = errors.New("nobody listens")

// Frames reads the body of an answer to its end. A body that ends before the answer does is a *chat.Error of kind
// Broken, and a page of the web one of kind Invalid.
func (p *Provider) Frames(body io.Reader, f Frame) error {
	in := bufio.NewReaderSize(body, 32<<10)
	first, err := begins(in)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	switch first {
	case '{':
		return f.objects(in)
	case '<':
		page, _ := io.ReadAll(io.LimitReader(in, 64<<10))
		return p.stranger(f.Path, page, f.Model)
	}
	return f.events(p, in)
}

// begins skips what may stand before a body, and looks at its first byte; 0 is none.
func begins(in *bufio.Reader) (byte, error) {
	if mark, _ := in.Peek(3); string(mark) == "\xef\xbb\xbf" {
		in.Discard(3)
	}
	for {
		next, err := in.Peek(1)
		if err != nil {
			return 0, err
		}
		if !bytes.ContainsAny(next, " \t\r\n") {
			return next[0], nil
		}
		in.Discard(1)
	}
}

func (f Frame) events(p *Provider, in *bufio.Reader) error {
	stream := events{in: in}
	for {
		e, err := stream.read()
		done := false
		switch {
		case errors.Is(err, io.EOF) && f.Whole():
			return nil
		case errors.Is(err, io.EOF) && !stream.any && len(stream.stray) > 0:
			return p.stranger(f.Path, stream.stray, f.Model)
		case errors.Is(err, io.EOF):
			return Broken(f.Model, "the stream ended before the answer did", io.ErrUnexpectedEOF)
		case err != nil:
			return err
		case isDone(e.data):
			if f.Mark != nil {
				done, err = f.Mark()
			}
		case len(bytes.TrimSpace(e.data)) > 0:
			done, err = f.Piece(e.name, e.data)
			if err != nil && stream.over && e.name != "error" && !json.Valid(e.data) {
				err = Broken(f.Model, "the stream ended in the middle of an event", io.ErrUnexpectedEOF)
			}
		}
		if done || err != nil {
			return err
		}
	}
}

// objects reads the answer of a server that does not stream, or that sends its chunks without the frame of events.
func (f Frame) objects(in *bufio.Reader) error {
	values := json.NewDecoder(in)
	for {
		var raw json.RawMessage
		switch err := values.Decode(&raw); {
		case errors.Is(err, io.EOF) && f.Whole():
			return nil
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return Broken(f.Model, "the answer ended before it was whole", io.ErrUnexpectedEOF)
		case err != nil:
			var syntax *json.SyntaxError
			if errors.As(err, &syntax) {
				return Broken(f.Model, "the answer is no JSON: "+err.Error(), err)
			}
			return err
		}
		if done, err := f.Piece("", raw); done || err != nil {
			return err
		}
	}
}

// Broken is the error of an answer that ended, or went wrong, before it was whole.
func Broken(model, detail string, err error) *chat.Error {
	return &chat.Error{Kind: chat.Broken, Model: model, Detail: detail, Err: err}
}
