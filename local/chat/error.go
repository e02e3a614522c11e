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

func (e *Error) Error() string {
	text := string(e.Kind)
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
