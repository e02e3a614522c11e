package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"interpreter/agent/event"
)

// Reading is what a session file holds, as far as it makes sense.
type Reading struct {
	Events  []event.Event
	Unknown int    // events of a type this version does not know; they are among Events
	Damage  string // one sentence about what could not be read, "" when nothing
	Torn    bool   // the last line has no end
}

// Read reads a session file without taking or changing it.
func Read(path string) (Reading, error) {
	f, err := os.Open(path)
	if err != nil {
		return Reading{}, &Error{Op: "read session", Path: path, Err: err}
	}
	defer f.Close()
	return readFrom(f, path)
}

func readFrom(f *os.File, path string) (Reading, error) {
	raw, err := io.ReadAll(f)
	if err != nil {
		return Reading{}, &Error{Op: "read session", Path: path, Err: err}
	}
	got := parse(raw)
	if got.Damage != "" {
		got.Damage = fmt.Sprintf("session %s: %s", path, got.Damage)
	}
	return got, nil
}

// parse takes every whole record out of a file that may be torn, glued together or zeroed in places, as crashes
// and power cuts leave files.
func parse(raw []byte) Reading {
	got := Reading{Torn: len(raw) > 0 && raw[len(raw)-1] != '\n'}
	bad, first := 0, 0
	for number := 1; len(raw) > 0; number++ {
		line, rest, _ := bytes.Cut(raw, []byte("\n"))
		raw = rest
		whole := true
		for part := range bytes.SplitSeq(line, []byte{0}) {
			events, ok := records(part)
			got.Events = append(got.Events, events...)
			whole = whole && ok
		}
		if !whole || bytes.IndexByte(line, 0) >= 0 {
			if bad++; bad == 1 {
				first = number
			}
		}
	}
	for i := range got.Events {
		got.Events[i].Seq = i
		if _, ok := got.Events[i].Body.(event.Foreign); ok {
			got.Unknown++
		}
	}
	if bad > 0 {
		got.Damage = fmt.Sprintf("%d damaged line(s), the first at %d; the rest was read", bad, first)
	}
	return got
}

// records reads the envelopes of one line: normally one, several when a line break was lost. ok is false when
// something had to be left out.
func records(line []byte) (events []event.Event, ok bool) {
	ok = true
	start := []byte(`{"timestamp"`)
	for line = bytes.TrimSpace(line); len(line) > 0; line = bytes.TrimSpace(line) {
		dec := json.NewDecoder(bytes.NewReader(line))
		var record json.RawMessage
		err := dec.Decode(&record)
		if err == nil {
			var e event.Event
			if e, err = event.Decode(record); err == nil {
				events = append(events, e)
			}
			ok = ok && err == nil
			line = line[dec.InputOffset():]
			continue
		}
		ok = false
		next := bytes.Index(line[1:], start)
		if next < 0 {
			return events, false
		}
		line = line[1+next:]
	}
	return events, ok
}
