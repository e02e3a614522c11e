package store

import (
	"os"
	"path/filepath"

	"interpreter/agent/event"
)

// File is where a log is kept. Closing it gives up its lock.
type File struct {
	path    string
	out     *os.File      // nil until the first turn starts
	started bool          // a turn has started since it was opened
	waiting []event.Event // come before that
	torn    bool          // the file does not end with a line break
	held    int
}

// Path is where the session is, or will be once its first turn starts.
func (f *File) Path() string { return f.path }

// Held is how many events the session had when it was opened. What comes behind them is new, a Warned about damage
// included.
func (f *File) Held() int { return f.held }

// Close closes the file. A session without a turn leaves none.
func (f *File) Close() error {
	if f.out == nil {
		return nil
	}
	unlock(f.out)
	err := f.out.Close()
	f.out = nil
	return err
}

// keep is the sink of the log. Until a turn starts nothing has happened that a person would miss, so events wait
// in memory: a session that was only looked at leaves no file, or its file as it was.
func (f *File) keep(e event.Event) error {
	if _, starts := e.Body.(event.TurnStarted); !starts && !f.started {
		f.waiting = append(f.waiting, e)
		return nil
	}
	if !f.started {
		if err := f.start(); err != nil {
			return err
		}
	}
	if err := f.write(e); err != nil {
		return err
	}
	switch e.Body.(type) {
	case event.TurnEnded, event.Answered: // before anything acts on an approval
		if err := f.out.Sync(); err != nil {
			return &Error{Op: "write session", Path: f.path, Err: err}
		}
	}
	return nil
}

// start makes the file if there is none and writes what waited.
func (f *File) start() error {
	if f.out == nil {
		if err := f.create(); err != nil {
			return err
		}
	}
	for len(f.waiting) > 0 {
		if err := f.write(f.waiting[0]); err != nil {
			return err
		}
		f.waiting = f.waiting[1:]
	}
	f.started = true
	return nil
}

func (f *File) create() error {
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return &Error{Op: "create session", Path: f.path, Err: err}
	}
	out, err := os.OpenFile(f.path, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return &Error{Op: "create session", Path: f.path, Err: err}
	}
	if err := lock(out); err != nil {
		out.Close()
		return &Error{Op: "lock session", Path: f.path, Err: err}
	}
	f.out = out
	return nil
}

// write appends one line. A line that was cut, by a crash or by a full disk, is closed before the next one.
func (f *File) write(e event.Event) error {
	line, err := event.Encode(e)
	if err != nil {
		return &Error{Op: "write session", Path: f.path, Err: err}
	}
	if f.torn {
		line = append([]byte("\n"), line...)
	}
	n, err := f.out.Write(append(line, '\n'))
	if err != nil {
		f.torn = f.torn || n > 0
		return &Error{Op: "write session", Path: f.path, Err: err,
			Remedy: "free some space; what was kept so far can be resumed"}
	}
	f.torn = false
	return nil
}
