package exec

import (
	"fmt"
	"time"

	"interpreter/agent/event"
	"interpreter/local"
	"interpreter/local/chat"
)

// reading reckons how long a server will read before the first word of an answer: by what it has not read yet, and by
// how fast it has read so far. It is a reader of the log and asks nobody.
type reading struct {
	rate   float64 // tokens a second; 0: not known
	unread int     // tokens of the next request that the server has not read, estimated
	sure   bool    // it holds the rest; otherwise it may hold more than that
}

// shortReading is what needs no words of its own.
const shortReading = 10 * time.Second

// Reads tells how fast the model reads, in tokens a second as it was measured, 0 where it was not, and whether the
// server has read the session's opening already. earlier are the events of earlier runs of the session.
func (h *Human) Reads(rate float64, opened bool, earlier []event.Event) {
	h.reading = reading{rate: rate, sure: opened && len(earlier) == 0}
	for _, e := range earlier {
		if _, first := e.Body.(event.Opened); !first || !opened {
			h.reading.recall(e)
		}
	}
}

// event takes note of what a request will hold more, and of what was measured.
func (r *reading) event(e event.Event) {
	switch b := e.Body.(type) {
	case event.Opened:
		if !r.sure { // what the tool check has read is this
			r.unread += opening(b)
		}
	case event.Prompted:
		r.unread += tokensOf(b.Message)
	case event.Injected:
		r.unread += tokensOf(b.Message)
	case event.Did:
		r.unread += local.Tokens(len(b.Words))
	case event.Compacted:
		r.unread, r.sure = b.After, false
	case event.Said:
		r.learn(b.Usage)
		r.unread, r.sure = 0, true
	}
}

// recall takes note of what an earlier run said: whether the server still holds it is not known.
func (r *reading) recall(e event.Event) {
	if b, ok := e.Body.(event.Said); ok {
		r.unread += tokensOf(b.Message)
		return
	}
	r.event(e)
}

// learn measures. Some servers count all of a prompt as read whatever they held of it, so of one that is sure to hold
// the rest only what is new counts, unless that would make it far slower than before: then it held nothing.
func (r *reading) learn(u chat.Usage) {
	counted := u.Input - u.CachedInput
	if counted < 64 || u.Prefill < time.Second {
		return
	}
	most := float64(counted) / u.Prefill.Seconds()
	least := float64(min(r.unread, counted)) / u.Prefill.Seconds()
	switch {
	case u.CachedInput > 0:
		r.rate = most
	case r.sure && r.unread >= 64 && least >= r.rate/3:
		r.rate = least
	case r.rate > most:
		r.rate = most
	}
}

// expect is what a wait for the model is about, and how long it will take; 0 when that is short or not known.
func (r *reading) expect() (string, time.Duration) {
	const plain = "waiting for the model"
	if r.rate <= 0 {
		return plain, 0
	}
	takes := time.Duration(float64(r.unread) / r.rate * float64(time.Second))
	if takes < shortReading {
		return plain, 0
	}
	about := "about"
	if !r.sure {
		about = "up to"
	}
	rate := fmt.Sprintf("%.0f", r.rate)
	if r.rate < 10 {
		rate = fmt.Sprintf("%.1f", r.rate)
	}
	return fmt.Sprintf("reading %s %s tokens, %s %s at %s tokens/s", about, thousands(rounded(r.unread)), about, left(takes), rate), takes
}

// rounded keeps as many digits as an estimate has.
func rounded(n int) int {
	step := 1
	for n/step >= 1000 {
		step *= 10
	}
	return (n + step/2) / step * step
}

func opening(b event.Opened) int {
	total := 0
	for _, m := range b.Messages {
		total += tokensOf(m)
	}
	for _, t := range b.Tools {
		total += local.Tokens(len(t.Name) + len(t.Description) + len(t.Parameters))
	}
	return total
}

func tokensOf(m chat.Message) int {
	bytes := len(m.Text) + len(m.Thinking)
	for _, c := range m.Calls {
		bytes += len(c.Name) + len(c.Args)
	}
	return local.Tokens(bytes)
}
