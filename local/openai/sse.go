package openai

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// longest bounds one event of a stream, in bytes: a whole file may arrive in one.
const longest = 64 << 20

// event is one server-sent event: its name, if it has one, and its data.
type event struct {
	name string
	data []byte
}

// events reads a body as server-sent events, as the HTML standard defines them (section 9.2.6), and takes what servers
// make of that: a last event without an empty line after it, events on neighbouring lines without one between them,
// and llama.cpp's field "error".
type events struct {
	in    *bufio.Reader
	feed  bool // a carriage return ended the last line: a line feed after it belongs to it
	open  bool // an event has begun
	next  event
	stray []byte // the first line that no event stream has
	any   bool   // an event was seen
	over  bool   // the body has ended
}

// read returns the next event, and io.EOF after the last one. An event without data is none.
func (e *events) read() (event, error) {
	for !e.over {
		line, err := e.line()
		if err != nil && !errors.Is(err, io.EOF) {
			return event{}, err
		}
		e.over = err != nil
		if done, full := e.take(line); full {
			return done, nil
		}
	}
	if done, full := e.close(); full {
		return done, nil
	}
	return event{}, io.EOF
}

// take handles one line and returns an event that it completes.
func (e *events) take(line []byte) (done event, full bool) {
	if len(line) == 0 {
		return e.close()
	}
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "", "id", "retry": // the first is a comment
	case "event":
		if e.open && ends(e.next.data) {
			done, full = e.close()
		}
		e.next.name = string(value)
	case "error":
		done, full = e.close()
		e.next, e.open, e.any = event{"error", value}, true, true
	case "data":
		// Within one value nothing begins on a new line after a closing brace.
		if e.open && ends(e.next.data) && (bytes.HasPrefix(value, []byte("{")) || isDone(value)) {
			done, full = e.close()
		}
		if e.open {
			value = append(append(e.next.data, '\n'), value...)
		}
		e.next.data, e.open, e.any = value, true, true
	default:
		if e.stray == nil {
			e.stray = line
		}
	}
	return done, full
}

func ends(data []byte) bool {
	return isDone(data) || bytes.HasSuffix(bytes.TrimRight(data, " \t"), []byte("}"))
}

func isDone(data []byte) bool { return string(bytes.TrimSpace(data)) == "[DONE]" }

func (e *events) close() (event, bool) {
	done, full := e.next, e.open
	e.next, e.open = event{}, false
	return done, full
}

// line reads a line of any length up to the limit; lines end with a line feed, a carriage return, or both.
func (e *events) line() ([]byte, error) {
	var line []byte
	for {
		if _, err := e.in.Peek(1); err != nil {
			return line, err
		}
		part, _ := e.in.Peek(e.in.Buffered())
		if e.feed {
			e.feed = false
			if part[0] == '\n' {
				e.in.Discard(1)
				continue
			}
		}
		at := bytes.IndexAny(part, "\r\n")
		if at >= 0 {
			line = append(line, part[:at]...)
			e.feed = part[at] == '\r'
			e.in.Discard(at + 1)
			return line, nil
		}
		line = append(line, part...)
		e.in.Discard(len(part))
		if len(line)+len(e.next.data) > longest {
			return nil, fmt.Errorf("an event of the stream is longer than %d bytes", longest)
		}
	}
}
