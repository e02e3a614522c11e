// Package store keeps sessions as files below a home folder: one event a line, appended and never rewritten. It
// creates, lists, finds, resumes and forks them, and holds a lock so that two processes never write one file. It
// does not know what events mean, beyond where a session began and when one must reach the disk.
package store

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"interpreter/agent/event"
)

// Error is a session that could not be kept, read or found.
type Error struct {
	Op     string // "create session", "open session", …
	Path   string // file or folder, may be empty
	Why    string
	Remedy string // what a person can do, "" when nothing
	Err    error
}

func (e *Error) Error() string {
	text := e.Op
	if e.Path != "" {
		text += " " + e.Path
	}
	if e.Why != "" {
		text += ": " + e.Why
	}
	if e.Err != nil {
		text += ": " + reason(e.Err)
	}
	return text
}

func (e *Error) Unwrap() error { return e.Err }

// reason is an error without the path it repeats.
func reason(err error) string {
	switch e := err.(type) {
	case *os.PathError:
		return e.Err.Error()
	case *os.LinkError:
		return e.Err.Error()
	}
	return err.Error()
}

const (
	folder  = "sessions"
	archive = "archived_sessions"
	index   = "session_index.jsonl"
)

// Create starts a session below home. The home is tried at once, so that a full disk or a folder that cannot be
// written is known before anything else happens; the file itself appears when the first turn starts. The log
// already holds b.
func Create(home string, b event.Begun) (*event.Log, *File, error) {
	if err := tryHome(home); err != nil {
		return nil, nil, err
	}
	f := &File{path: pathOf(home, b.ID, time.Now())}
	log := event.NewLog(f.keep)
	return log, f, log.Append(b)
}

// Ephemeral makes a log that no file keeps.
func Ephemeral(b event.Begun) *event.Log {
	log := event.NewLog(nil)
	log.Append(b) // without a sink it cannot fail
	return log
}

// Recall is a session that goes on without being kept: its log is what the file at path holds, and the file stays as
// it is. With a new beginning b it is a copy, as Fork makes one. held is as of File.Held.
func Recall(path string, b *event.Begun) (log *event.Log, held int, err error) {
	got, err := Read(path)
	if err != nil {
		return nil, 0, err
	}
	if len(got.Events) == 0 {
		return nil, 0, &Error{Op: "open session", Path: path, Why: "it holds no events"}
	}
	if b != nil {
		copied := []event.Event{{Time: time.Now(), Body: *b}}
		for _, e := range got.Events {
			if _, begun := e.Body.(event.Begun); !begun {
				e.Seq = len(copied)
				copied = append(copied, e)
			}
		}
		got.Events = copied
	}
	log = event.Restore(got.Events, nil)
	if got.Damage != "" && !warned(got.Events, got.Damage) {
		err = log.Append(event.Warned{Text: got.Damage})
	}
	return log, len(got.Events), err
}

// Open continues the session in the file at path. What is damaged in it is left as it is, and told of by a Warned
// that is appended to the log.
func Open(path string) (*event.Log, *File, error) {
	out, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return nil, nil, &Error{Op: "open session", Path: path, Err: err}
	}
	if err := lock(out); err != nil {
		who := ""
		if pid := holder(out); pid > 0 {
			who = fmt.Sprintf(" (process %d)", pid)
		}
		out.Close()
		return nil, nil, &Error{Op: "open session", Path: path, Why: "another interpreter is using it" + who,
			Remedy: "end that one first, or fork the session"}
	}
	got, err := readFrom(out, path)
	if err != nil {
		out.Close()
		return nil, nil, err
	}
	if len(got.Events) == 0 {
		out.Close()
		return nil, nil, &Error{Op: "open session", Path: path, Why: "it holds no events"}
	}
	f := &File{path: path, out: out, torn: got.Torn, held: len(got.Events)}
	log := event.Restore(got.Events, f.keep)
	if got.Damage != "" && !warned(got.Events, got.Damage) {
		if err := log.Append(event.Warned{Text: got.Damage}); err != nil {
			out.Close()
			return nil, nil, err
		}
	}
	return log, f, nil
}

func warned(events []event.Event, text string) bool {
	for _, e := range events {
		if w, ok := e.Body.(event.Warned); ok && w.Text == text {
			return true
		}
	}
	return false
}

// Fork starts a session b that continues a copy of from. prompts is how many of its prompts to keep; the next one
// and all behind it are left out. A negative number keeps everything.
func Fork(home string, from Info, b event.Begun, prompts int) (*event.Log, *File, error) {
	got, err := Read(from.Path)
	if err != nil {
		return nil, nil, err
	}
	if err := tryHome(home); err != nil {
		return nil, nil, err
	}
	b.ForkedFrom = from.ID
	events := []event.Event{{Time: time.Now(), Body: b}}
	for _, e := range got.Events {
		switch body := e.Body.(type) {
		case event.Begun:
			continue
		case event.Prompted:
			if !body.Steered && prompts == 0 {
				return forked(home, b, upToTurn(events))
			}
			if !body.Steered {
				prompts--
			}
		}
		events = append(events, e)
	}
	return forked(home, b, events)
}

// upToTurn drops the turn that was being opened: its prompt is not part of the copy.
func upToTurn(events []event.Event) []event.Event {
	for i := len(events) - 1; i > 0; i-- {
		switch events[i].Body.(type) {
		case event.TurnStarted:
			return events[:i]
		case event.TurnEnded, event.Said:
			return events
		}
	}
	return events
}

func forked(home string, b event.Begun, events []event.Event) (*event.Log, *File, error) {
	f := &File{path: pathOf(home, b.ID, time.Now()), held: len(events)}
	for i, e := range events {
		e.Seq = i
		f.waiting = append(f.waiting, e)
	}
	return event.Restore(events, f.keep), f, nil
}

func pathOf(home, id string, now time.Time) string {
	now = now.Local()
	return filepath.Join(home, folder, now.Format("2006"), now.Format("01"), now.Format("02"),
		"rollout-"+now.Format("2006-01-02T15-04-05")+"-"+id+".jsonl")
}

// tryHome writes and removes a small file where sessions will go.
func tryHome(home string) error {
	dir := filepath.Join(home, folder)
	failed := func(err error) error {
		return &Error{Op: "keep sessions in", Path: dir, Err: err,
			Remedy: "free some space or make the folder writable, choose another with INTERPRETER_HOME, or run with --ephemeral"}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return failed(err)
	}
	f, err := os.CreateTemp(dir, ".room-*")
	if err != nil {
		return failed(err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if _, err := f.Write(make([]byte, 4096)); err != nil {
		return failed(err)
	}
	return nil
}
