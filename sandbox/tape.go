package sandbox

import (
	"slices"
	"sync"
)

// halfTape is what is kept of the beginning and of the end of an output.
const halfTape = 512 << 10

// tape keeps the head and the tail of what is written to it. It never refuses a byte: a child must not block because
// it talks too much.
type tape struct {
	mu      sync.Mutex
	head    []byte
	ring    []byte // the last bytes after head; a circle from at once it is full
	at      int
	omitted int64
}

func (t *tape) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(p)
	room := min(halfTape-len(t.head), len(p))
	t.head = append(t.head, p[:room]...)
	p = p[room:]
	if more := len(p) - halfTape; more > 0 {
		t.omitted += int64(more)
		p = p[more:]
	}
	room = min(halfTape-len(t.ring), len(p))
	t.ring = append(t.ring, p[:room]...)
	p = p[room:]
	t.omitted += int64(len(p))
	for len(p) > 0 {
		copied := copy(t.ring[t.at:], p)
		p = p[copied:]
		t.at = (t.at + copied) % halfTape
	}
	return n, nil
}

func (t *tape) output() Output {
	t.mu.Lock()
	defer t.mu.Unlock()
	return Output{
		Head:    slices.Clone(t.head),
		Tail:    slices.Concat(t.ring[t.at:], t.ring[:t.at]),
		Omitted: t.omitted,
	}
}
