package agent

import (
	"sync"

	"interpreter/agent/approve"
)

// A letter is what others send to the goroutine that owns the session: one of the fields is set.
type letter struct {
	steer  string
	answer *answer
	change *Change
}

// answer settles a question.
type answer struct {
	id       string
	decision approve.Decision
	note     string
	answers  map[string]string
}

// mailbox takes letters from anyone, never blocks a sender and loses nothing.
type mailbox struct {
	mu      sync.Mutex
	letters []letter
	bell    chan struct{} // one ring, however many letters
	later   []Change      // read, for the next turn; the owner's
}

func newMailbox() *mailbox { return &mailbox{bell: make(chan struct{}, 1)} }

func (m *mailbox) post(l letter) {
	m.mu.Lock()
	m.letters = append(m.letters, l)
	m.mu.Unlock()
	select {
	case m.bell <- struct{}{}:
	default:
	}
}

func (m *mailbox) take() []letter {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := m.letters
	m.letters = nil
	return out
}
