package chat

import (
	"fmt"
	"time"
)

// Kind classifies what went wrong between us and a model, by what can be done about it.
type Kind string

// The kinds. Those that Retryable names may succeed when the same request is sent again.
const (
	Unreachable Kind = "unreachable" // nobody answers at the address
	Broken      Kind = "broken"      // the stream ended before the answer did
	Idle        Kind = "idle"        // no byte within the time allowed
	Busy        Kind = "busy"        // 429, or 503 while a model loads
	Server      Kind = "server"      // 5xx, or an error line in a stream
	Overflow    Kind = "context-overflow"
	Missing     Kind = "model-missing"
	NoTools     Kind = "no-tools"
	NoThinking  Kind = "no-thinking"
	Memory      Kind = "memory" // the model does not fit
	Denied      Kind = "denied" // 401, 403
	Invalid     Kind = "invalid"
	Remote      Kind = "remote" // the server would run the model on another machine
)

// Error is a failure of a model or its server.
type Error struct {
	Kind           Kind
	Model          string
	Status         int           // HTTP status, 0 when there was none
	Detail         string        // what the server said, one line
	RetryAfter     time.Duration // what the server asked for, 0 when it did not
	Prompt, Window int           // tokens, of an Overflow; 0 when the server did not say
	Remedy         string        // what a person can do, a whole sentence; "" when nothing
	Crash          bool          // of a Server: the process that runs the model has ended, for want of memory perhaps
	Err            error
}

// words are the kind as a clause for people.
func (k Kind) words() string {
	switch k {
	case Unreachable:
		return "nobody answers there"
	case Broken:
		return "the connection broke off"
	case Idle:
		return "the server fell silent"
	case Busy:
		return "the server is busy"
	case Server:
		return "the server failed"
	case Overflow:
		return "the context window is too small"
	case Missing:
		return "the server does not have this model"
	case NoTools:
		return "the model cannot call tools"
	case NoThinking:
		return "the model cannot think aloud"
	case Memory:
		return "the model does not fit into memory"
	case Denied:
		return "the server denies access"
	case Invalid:
		return "the server refused the request"
	case Remote:
		return "the server would run this model on another machine"
	}
	return string(k)
}

func (e *Error) Error() string {
	text := e.Kind.words()
	if e.Kind == Invalid && e.Status == 0 { // it was no server of models that answered, or nobody knows what it said
		text = "no usable answer"
	}
	if e.Model != "" {
		text = e.Model + ": " + text
	}
	if e.Status != 0 {
		text += fmt.Sprintf(" (HTTP %d)", e.Status)
	}
	if e.Kind == Overflow && e.Prompt > 0 && e.Window > 0 {
		text += fmt.Sprintf(": the prompt has %d tokens, the window holds %d", e.Prompt, e.Window)
	} else if e.Detail != "" {
		text += ": " + e.Detail
	} else if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

func (e *Error) Unwrap() error { return e.Err }

// Retryable reports whether sending the same request again can help.
func (e *Error) Retryable() bool {
	switch e.Kind {
	case Unreachable, Broken, Idle, Busy, Server:
		return true
	}
	return false
}
