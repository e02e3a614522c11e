package practice

import (
	"net/http"
	"strconv"

	"interpreter/local/chat"
)

// voice writes the pieces of one answer in the form of one wire.
type voice interface {
	begin()
	text(piece string)
	think(piece string)
	call(c chat.Call)
	malformed(raw string)
	fault(text string) // the server gives up after it began to answer
	end(finish chat.Finish, usage chat.Usage)
}

// perform plays an answer in a voice. The voice has sent nothing yet.
func (s *Server) perform(w http.ResponseWriter, r *http.Request, a answer, v voice) {
	if s.Sleep(r.Context(), a.stall) != nil {
		panic(http.ErrAbortHandler)
	}
	if a.status != 0 {
		if a.retry > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(int(a.retry.Seconds())))
		}
		text := a.detail
		if text == "" {
			text = http.StatusText(a.status)
		}
		s.refuse(w, r, a.status, text)
		return
	}
	v.begin()
	for _, step := range a.steps {
		switch step.Kind {
		case Say:
			for _, piece := range pieces(step.Text) {
				v.text(piece)
			}
		case Raw:
			v.text(step.Text)
		case Think:
			for _, piece := range pieces(step.Text) {
				v.think(piece)
			}
		case Call:
			v.call(step.Call)
		case Malformed:
			v.malformed(step.Text)
		case Pause:
			if s.Sleep(r.Context(), step.For) != nil {
				panic(http.ErrAbortHandler)
			}
		case Cut:
			panic(http.ErrAbortHandler) // net/http closes the connection without a word
		case Fault:
			v.fault(step.Text)
			return
		}
	}
	v.end(a.finish, a.usage)
}

// stream is text that reaches the client piece by piece.
type stream struct {
	w http.ResponseWriter
}

func (s stream) open(kind string) {
	s.w.Header().Set("Content-Type", kind)
	s.w.Header().Set("Cache-Control", "no-cache")
	s.w.WriteHeader(http.StatusOK)
}

func (s stream) send(text string) {
	s.w.Write([]byte(text))
	if f, ok := s.w.(http.Flusher); ok {
		f.Flush()
	}
}

// whole collects an answer for a client that does not stream.
type whole struct {
	said, thought string
	calls         []chat.Call
	broken        string // raw bytes in place of the answer
	done          func(whole, chat.Finish, chat.Usage)
	failed        func(text string)
	raw           func(text string)
}

func (a *whole) begin()               {}
func (a *whole) text(piece string)    { a.said += piece }
func (a *whole) think(piece string)   { a.thought += piece }
func (a *whole) call(c chat.Call)     { a.calls = append(a.calls, c) }
func (a *whole) malformed(raw string) { a.broken += raw }
func (a *whole) fault(text string)    { a.failed(text) }
func (a *whole) end(finish chat.Finish, usage chat.Usage) {
	if a.broken != "" {
		a.raw(a.broken)
		return
	}
	a.done(*a, finish, usage)
}

// collect makes the voice of an answer in one piece.
func (s *Server) collect(w http.ResponseWriter, r *http.Request, done func(whole, chat.Finish, chat.Usage)) *whole {
	return &whole{
		done:   done,
		failed: func(text string) { s.refuse(w, r, http.StatusInternalServerError, text) },
		raw: func(text string) {
			w.Header().Set("Content-Type", "application/json")
			w.Write([]byte(text))
		},
	}
}
