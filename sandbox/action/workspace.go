package action

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"interpreter/sandbox"
)

// Host is what an action needs from the conversation around it; agent implements it.
type Host interface {
	// Ask puts questions to a person and returns the answers by question id.
	Ask(ctx context.Context, questions []Question) (map[string]string, error)
}

// Workspace is where actions happen. Its fields are set once, before the first action; the zero value of each
// unexported one is ready. Actions of one turn that only read may use it from several goroutines.
type Workspace struct {
	Dir   string // working directory, real and absolute; relative paths of actions start here
	Box   sandbox.Box
	Env   []string // whole environment of child processes
	Shell string   // absolute path of the shell that runs scripts
	Spill string   // folder that keeps outputs too long for a model; "" keeps none
	Host  Host     // nil when nobody can be asked

	// Guides are names of instruction files of folders, of which the first in a folder counts; nil: the folder's own
	// files give no instructions.
	Guides []string

	// Login gives what the person's login shell adds to a command, waiting until that is known: the environment instead of
	// Env, and a file for the shell of the same kind to begin with, "" when the script needs none. An empty script stands
	// for any. nil: nothing is added.
	Login func(ctx context.Context, script string) (env []string, file string)

	// Printed hears what commands print while an action waits for them; call is what WithCall put into the context.
	// It is called from the goroutine of the action. nil: nobody listens.
	Printed func(call, text string)

	state
}

// Question is one thing to ask a person.
type Question struct {
	ID      string
	Header  string
	Text    string
	Options []string
	Several bool
}

// state is what a workspace remembers of a session: files seen, commands running, the plan.
type state struct {
	mu       sync.Mutex
	files    map[string]seenFile // by real path
	fails    map[string]int      // edits in a row that did not match, by real path
	refused  map[string]refusal  // what guards refused last, by real path
	past     past
	plan     []PlanItem
	runs     runTable
	kept     kept // what commands leave to the next
	terminal *terminal
	typing   sync.Mutex            // one Keys at a time
	claims   claims                // that the work is done
	private  func(netip.Addr) bool // addresses that only full access may reach; nil is privateAddress
	planning bool

	stamps map[string]stamp // of Touched, by real path
}

// seenFile is the content last shown or written.
type seenFile struct {
	sum  [sha256.Size]byte
	full bool // all of it was shown
}

type callKey struct{}

// WithCall marks a context with the id of the call it serves; Workspace.Printed hears it.
func WithCall(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, callKey{}, id)
}

func callOf(ctx context.Context) string {
	id, _ := ctx.Value(callKey{}).(string)
	return id
}

type approvedKey struct{}

// WithApproved marks a context with paths that a person allowed this action to write although the policy does not.
// It lifts nothing that is Forbidden.
func WithApproved(ctx context.Context, paths ...string) context.Context {
	have, _ := ctx.Value(approvedKey{}).([]string)
	return context.WithValue(ctx, approvedKey{}, append(have[:len(have):len(have)], paths...))
}

// policy is the box's, with what a person approved for this action.
func (w *Workspace) policy(ctx context.Context) (sandbox.Policy, error) {
	p := w.Box.Policy()
	paths, _ := ctx.Value(approvedKey{}).([]string)
	if len(paths) == 0 {
		return p, nil
	}
	abs := make([]string, len(paths))
	for i, path := range paths {
		abs[i] = w.Abs(path)
	}
	return p.Allowing(abs...)
}

// ReadFile gives the content and the real path of a file, if the policy lets the agent read it. A missing file is a
// *MissingError, a folder an *IsDirectoryError, a refusal a *DeniedError.
func (w *Workspace) ReadFile(ctx context.Context, path string) ([]byte, string, error) {
	return w.readFor(ctx, "read", path)
}

func (w *Workspace) readFor(ctx context.Context, what, path string) ([]byte, string, error) {
	p, err := w.policy(ctx)
	if err != nil {
		return nil, "", err
	}
	abs := w.Abs(path)
	info, err := os.Stat(abs)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, "", &MissingError{What: what, Path: path, Similar: w.similar(abs), Dir: w.Dir}
	case err == nil && info.IsDir():
		return nil, "", &IsDirectoryError{What: what, Path: path}
	}
	data, real, err := p.ReadFile(abs)
	return data, real, w.refusal(err, "read", path)
}

// WriteFile replaces or creates a file, with the folders above it, if the policy lets the agent write there, and
// gives its real path. A refusal is a *DeniedError.
func (w *Workspace) WriteFile(ctx context.Context, path string, data []byte) (string, error) {
	return w.put(ctx, path, data, true)
}

// put writes a file; with keep, Undo can take it back.
func (w *Workspace) put(ctx context.Context, path string, data []byte, keep bool) (string, error) {
	p, err := w.policy(ctx)
	if err != nil {
		return "", err
	}
	before, _, err := p.ReadFile(w.Abs(path))
	keep = keep && (err == nil || errors.Is(err, fs.ErrNotExist))
	real, err := p.WriteFile(w.Abs(path), data)
	if err != nil {
		return real, w.refusal(err, "write", path)
	}
	w.wrote(real, data)
	if keep {
		w.changed(real, before, append([]byte{}, data...))
	}
	return real, nil
}

// setMode gives a file that was written the permissions it had under another name or before.
func (w *Workspace) setMode(ctx context.Context, path string, mode fs.FileMode) error {
	p, err := w.policy(ctx)
	if err != nil {
		return err
	}
	return w.refusal(p.SetMode(w.Abs(path), mode), "write", path)
}

// changed keeps what a file was, for Undo.
func (w *Workspace) changed(real string, before, after []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.past.remember(real, before, after)
}

// unchanged drops the latest change of a file from what Undo can take back.
func (w *Workspace) unchanged(real string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.past.drop(real)
}

func (w *Workspace) removeFile(ctx context.Context, path string, keep bool) error {
	p, err := w.policy(ctx)
	if err != nil {
		return err
	}
	info, missing := os.Lstat(w.Abs(path))
	before, real, unread := p.ReadFile(w.Abs(path))
	if err := p.Remove(w.Abs(path)); err != nil {
		return w.refusal(err, "remove", path)
	}
	if keep && missing == nil && info.Mode().IsRegular() && unread == nil {
		w.changed(real, append([]byte{}, before...), nil)
	}
	return nil
}

// mayWrite asks the policy before anything is done.
func (w *Workspace) mayWrite(ctx context.Context, path string) (real string, err error) {
	p, err := w.policy(ctx)
	if err != nil {
		return "", err
	}
	real, place, err := p.Place(w.Abs(path))
	if err == nil && place != sandbox.Inside {
		err = w.refusal(&sandbox.PlaceError{Path: path, Real: real, Place: place}, "write", path)
	}
	return real, err
}

// refusal turns the sandbox's verdict into a DeniedError and leaves other errors alone.
func (w *Workspace) refusal(err error, what, path string) error {
	var place *sandbox.PlaceError
	if !errors.As(err, &place) {
		return err
	}
	d := &DeniedError{What: what, Path: path, Place: place.Place}
	switch {
	case place.Place == sandbox.Guarded:
		d.Why = "it is protected: settings and hooks there run later without review"
	case place.Place == sandbox.Forbidden:
		d.Why = "it is out of the agent's reach"
	case w.Box.Policy().Mode == sandbox.ReadOnly:
		d.Why = "nothing may be written in read-only mode"
	default:
		d.Why = "it is outside the folders that may be written"
	}
	return d
}

// saw remembers what was shown, and tells whether the same content had been shown whole before.
func (w *Workspace) saw(real string, data []byte, full bool) (before bool) {
	sum := sha256.Sum256(data)
	w.mu.Lock()
	defer w.mu.Unlock()
	old, ok := w.files[real]
	same := ok && old.sum == sum
	if w.files == nil {
		w.files = map[string]seenFile{}
	}
	w.files[real] = seenFile{sum, full || same && old.full}
	return same && old.full
}

// wrote remembers the agent's own change, so that it does not count as somebody else's.
func (w *Workspace) wrote(real string, data []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.files == nil {
		w.files = map[string]seenFile{}
	}
	w.files[real] = seenFile{sum: sha256.Sum256(data)}
}

// known tells whether a file was read or written in this session, and whether it has changed since.
func (w *Workspace) known(real string, data []byte) (read, stale bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	old, ok := w.files[real]
	return ok, ok && old.sum != sha256.Sum256(data)
}

// Forget drops what was shown of some files, by their real paths, or of all: after a compaction the model no longer
// has it, and a file must be shown again.
func (w *Workspace) Forget(real ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for path, f := range w.files {
		if len(real) == 0 || slices.Contains(real, path) {
			f.full = false
			w.files[path] = f
		}
	}
}

// failed counts edits of a file that did not match, in a row.
func (w *Workspace) failed(real string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fails == nil {
		w.fails = map[string]int{}
	}
	w.fails[real]++
	return w.fails[real]
}

func (w *Workspace) matched(real string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.fails, real)
}

// relative is a path below Dir as a person would write it, slash-separated; others stay absolute.
func (w *Workspace) relative(abs string) string {
	rel, err := filepath.Rel(w.Dir, abs)
	if err != nil || !below(w.Dir, abs) {
		return abs
	}
	return filepath.ToSlash(rel)
}

// below tells whether a path is dir or in it, by its spelling.
func below(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// one is a title of limited length on one line.
func one(format string, args ...any) string {
	line := strings.Join(strings.Fields(fmt.Sprintf(format, args...)), " ")
	if short := cutRunes(line, 120); short != line {
		return short + "…"
	}
	return line
}
