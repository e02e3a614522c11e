package event

import (
	"context"
	"errors"
	"iter"
	"sort"
	"sync"
	"time"
)

// How much of what is not kept waits for slow readers before the oldest is dropped.
const (
	looseEvents = 1024
	looseBytes  = 1 << 20
)

// Log is an append-only list of events with one sink and any number of readers. Append may be called from any
// goroutine; readers never hold it up.
type Log struct {
	writing sync.Mutex // held around the sink, so that order in memory is order on disk
	keep    func(Event) error
	clock   func() time.Time

	reading sync.Mutex
	kept    []placed
	loose   []placed // not kept, for readers that follow
	bytes   int      // held by loose
	place   int      // counts all appended events
	changed chan struct{}
	waiting int
	closed  bool
}

// ErrClosed is what Append says after Close.
var ErrClosed = errors.New("append event: the log is closed")

// placed is an event with its place among all, kept or not.
type placed struct {
	Event
	place int
}

// NewLog makes a log whose kept events go to keep, one by one and in order, before any reader sees them. keep may
// be nil: nothing outlives the process then.
func NewLog(keep func(Event) error) *Log {
	return Restore(nil, keep)
}

// Restore makes a log that already holds events; keep is not called for those.
func Restore(events []Event, keep func(Event) error) *Log {
	l := &Log{keep: keep, clock: time.Now, changed: make(chan struct{})}
	for i, e := range events {
		e.Seq = i
		l.place++
		l.kept = append(l.kept, placed{e, l.place})
	}
	return l
}

// Append adds what happened. Its error is the sink's, and then the event is not in the log.
func (l *Log) Append(b Body) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	return l.append(b)
}

func (l *Log) append(b Body) error {
	l.reading.Lock()
	e := Event{Seq: len(l.kept), Time: l.clock().Round(0), Body: b}
	closed := l.closed
	l.reading.Unlock()
	if closed {
		return ErrClosed
	}
	kept := Kept(b)
	if kept && l.keep != nil {
		if err := l.keep(e); err != nil {
			return err
		}
	}
	l.reading.Lock()
	defer l.reading.Unlock()
	l.place++
	if kept {
		l.kept = append(l.kept, placed{e, l.place})
	} else {
		l.loose = append(l.loose, placed{e, l.place})
		l.bytes += weight(b)
		l.shed()
	}
	if l.waiting > 0 {
		close(l.changed)
		l.changed = make(chan struct{})
		l.waiting = 0
	}
	return nil
}

func weight(b Body) int {
	switch b := b.(type) {
	case Heard:
		return len(b.Text) + len(b.Thinking)
	case Printed:
		return len(b.Text)
	}
	return 0
}

// shed drops the oldest of what is not kept once there is twice too much of it.
func (l *Log) shed() {
	if len(l.loose) < 2*looseEvents && l.bytes < 2*looseBytes {
		return
	}
	n := 0
	for ; n < len(l.loose)-1 && (len(l.loose)-n > looseEvents || l.bytes > looseBytes); n++ {
		l.bytes -= weight(l.loose[n].Body)
	}
	l.loose = append([]placed(nil), l.loose[n:]...)
}

// Events returns the kept events so far.
func (l *Log) Events() []Event {
	l.reading.Lock()
	defer l.reading.Unlock()
	out := make([]Event, len(l.kept))
	for i, p := range l.kept {
		out[i] = p.Event
	}
	return out
}

// Close ends every From after the last event. Nothing may be appended afterwards.
func (l *Log) Close() {
	l.writing.Lock()
	defer l.writing.Unlock()
	l.reading.Lock()
	defer l.reading.Unlock()
	if !l.closed {
		l.closed = true
		close(l.changed)
	}
}

// From replays the kept events from seq on, then follows until ctx ends or the log is closed. No kept event is
// dropped. What is not kept is seen from the moment of the call, as far as the reader keeps up.
func (l *Log) From(ctx context.Context, seq int) iter.Seq[Event] {
	l.reading.Lock()
	at := cursor{next: max(seq, 0)}
	if n := len(l.kept); n > 0 {
		at.place = l.kept[n-1].place
	}
	l.reading.Unlock()
	return func(yield func(Event) bool) {
		at := at // each run of the sequence starts at the same point
		for {
			batch, changed := l.batch(&at)
			for _, e := range batch {
				if ctx.Err() != nil || !yield(e) {
					return
				}
			}
			if len(batch) > 0 {
				continue
			}
			if changed == nil {
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-changed:
			}
		}
	}
}

// cursor is how far a reader has come.
type cursor struct {
	next  int // Seq of the next kept event
	place int // of the last event that is not kept
}

// batch returns what a reader has not seen, bounded, and when there is nothing the channel that tells of more; nil
// when there will be none.
func (l *Log) batch(at *cursor) ([]Event, <-chan struct{}) {
	const most = 256
	l.reading.Lock()
	defer l.reading.Unlock()
	var out []Event
	i := sort.Search(len(l.loose), func(i int) bool { return l.loose[i].place > at.place })
	for len(out) < most {
		kept := at.next < len(l.kept)
		loose := i < len(l.loose)
		switch {
		case loose && (!kept || l.loose[i].place < l.kept[at.next].place):
			if l.loose[i].Seq >= at.next {
				out = append(out, l.loose[i].Event)
			}
			at.place = l.loose[i].place
			i++
		case kept:
			out = append(out, l.kept[at.next].Event)
			at.next++
		default:
			if len(out) > 0 {
				return out, nil
			}
			if l.closed {
				return nil, nil
			}
			l.waiting++
			return nil, l.changed
		}
	}
	return out, nil
}

// Announce adds what the sink could not keep, so that readers still learn of it. It is for the end of a turn whose
// session file cannot be written any more.
func (l *Log) Announce(b Body) {
	l.writing.Lock()
	defer l.writing.Unlock()
	keep := l.keep
	l.keep = nil
	_ = l.append(b) // without a sink only a closed log refuses, and that has no readers
	l.keep = keep
}
