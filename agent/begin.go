package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"interpreter/agent/event"
	"interpreter/harness"
	"interpreter/local/chat"
	"interpreter/sandbox/action"
)

// limitError ends a turn at a bound, after the model had its last word.
type limitError struct{ why string }

func (e *limitError) Error() string { return e.why }

// errStopped ends a turn because a person refused an action with Stop.
var errStopped = errors.New("stopped by the user")

// Failure is a turn that failed, with what a person can do about it.
type Failure struct {
	Err    error
	Remedy string
}

func (f *Failure) Error() string { return f.Err.Error() }
func (f *Failure) Unwrap() error { return f.Err }

// turn opens a turn, runs it and closes it, whatever happens inside.
func (s *Session) turn(ctx context.Context, run func(*turn) error) error {
	s.apply()
	t := &turn{Session: s, id: newID(), began: time.Now()}
	last, ended := s.fold.Turn()
	if err := s.add(t.started()); err != nil {
		s.lost = nil // the disk may have room again by the next prompt
		return err
	}
	err := t.open(last, ended)
	if err == nil {
		err = t.guarded(run)
	}
	return t.end(ctx, err)
}

func newID() string {
	id, err := uuid.NewV7()
	if err != nil {
		return uuid.NewString() // only the order of ids is lost
	}
	return id.String()
}

func (t *turn) started() event.TurnStarted {
	box := t.cfg.Workspace.Box
	p := box.Policy()
	return event.TurnStarted{
		ID: t.id, Dir: t.cfg.Workspace.Dir, Model: t.cfg.ModelName, Provider: t.cfg.Provider, Harness: t.cfg.Harness.Name,
		Why: t.cfg.HarnessWhy, Window: t.cfg.Window, Sandbox: string(p.Mode), Backend: box.Backend(),
		Network: p.Network, Approval: string(t.cfg.Approval), Date: t.cfg.Now().In(t.cfg.Env.Date.Location()).Format(time.DateOnly),
		Wire: t.cfg.Wire, Roots: p.Roots, Effort: t.cfg.Effort, Zone: t.cfg.Env.Zone,
	}
}

// open makes sure there is an opening for this model and harness, and tells the model what changed since the last
// turn: the opening itself stays as it was.
func (t *turn) open(last *event.TurnStarted, ended *event.TurnEnded) error {
	if err := t.close(func(chat.Call) string { return event.NoResult }); err != nil {
		return err // these calls were open when the program died
	}
	if !t.isOpened(t.fold.Opened()) {
		opened, err := t.opens()
		if err != nil {
			return err
		}
		if err := t.add(opened); err != nil {
			return err
		}
		t.warnOfSize()
	} else if news := t.news(last); news != "" {
		if err := t.inject("environment", news); err != nil {
			return err
		}
	}
	if last != nil && (ended == nil || ended.Reason == event.Interrupted) && t.fold.Len() > 0 {
		return t.inject("turn aborted", wordsInterrupted)
	}
	return nil
}

// news says what is different since the opening was written or the last turn ran.
func (t *turn) news(last *event.TurnStarted) string {
	if last == nil {
		return ""
	}
	var news []string
	now := t.started()
	if now.Dir != last.Dir {
		news = append(news, "the working directory is now "+now.Dir)
	}
	if now.Sandbox != last.Sandbox {
		news = append(news, "the sandbox mode is now "+now.Sandbox)
	}
	if now.Network != last.Network {
		news = append(news, "network access of commands is now "+map[bool]string{true: "on", false: "off"}[now.Network])
	}
	if now.Approval != last.Approval {
		news = append(news, "the approval policy is now "+now.Approval)
	}
	if now.Date != last.Date && last.Date != "" {
		news = append(news, "the date is now "+now.Date)
	}
	if len(news) == 0 {
		return ""
	}
	return "Since the last turn: " + strings.Join(news, "; ") + ". This replaces what was said before."
}

// prompt appends what the person said, behind what they said in passing before and the shape of the answer.
func (t *turn) prompt(in chat.Message) error {
	if err := t.hear(); err != nil {
		return err
	}
	if t.schema != nil {
		if err := t.inject("output schema", wordsSchema+string(t.cfg.Schema)); err != nil {
			return err
		}
	}
	t.asking = in.Text
	said := event.Prompted{Message: in}
	if wrap := t.cfg.Harness.Wrap; wrap != nil {
		said.Sent = wrap(t.cfg.Env, harness.Turn{Number: t.prompts + 1, Now: t.cfg.Now(), Paths: t.paths()}, in.Text)
	}
	return t.add(said)
}

// paths are the files touched so far, latest first, as the model spelled them.
func (s *Session) paths() []string {
	const most = 8
	var paths, seen []string
	touch := func(path, real string) {
		if path != "" && len(paths) < most && !slices.Contains(seen, real) {
			paths, seen = append(paths, path), append(seen, real)
		}
	}
	for _, e := range slices.Backward(s.log.Events()) {
		did, ok := e.Body.(event.Did)
		if !ok || len(paths) == most {
			continue
		}
		switch o := did.Outcome.(type) {
		case action.Seen:
			touch(o.Path, cmp.Or(o.Real, o.Path))
		case action.Changed:
			for _, f := range slices.Backward(o.Files) {
				switch f.Kind {
				case action.Deleted:
					seen = append(seen, cmp.Or(f.Real, f.Path)) // what was read of it before no longer stands
				case action.Moved:
					touch(f.To, f.To)
					seen = append(seen, cmp.Or(f.Real, f.Path))
				default:
					touch(f.Path, cmp.Or(f.Real, f.Path))
				}
			}
		}
	}
	return paths
}

// inForm words a reminder for harnesses whose calls are text: their models know of no tools.
func (t *turn) inForm(words string) string {
	if t.cfg.Harness.Text {
		return strings.ReplaceAll(words, "tool call", "command")
	}
	return words
}

func (t *turn) inject(why, text string) error {
	return t.add(event.Injected{Message: chat.Message{Role: chat.User, Text: text}, Why: why})
}

// guarded runs the turn and makes an error of a panic: a broken invariant ends the turn, not the program.
func (t *turn) guarded(run func(*turn) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the program broke: %v\n%s", p, debug.Stack())
		}
	}()
	return run(t)
}

// end closes the calls that are open and the turn.
func (t *turn) end(ctx context.Context, err error) error {
	out := event.TurnEnded{ID: t.id, Reason: event.Finished, Final: t.final}
	var limit *limitError
	switch {
	case err == nil:
	case errors.As(err, &limit):
		out.Reason, out.Error = event.Limited, err.Error()
		err = nil
	case errors.Is(err, errStopped), ctx.Err() != nil && t.lost == nil:
		out.Reason, out.Error = event.Interrupted, "interrupted"
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
	default:
		out.Reason, out.Error, out.Remedy = event.Broke, err.Error(), remedy(err)
		err = &Failure{err, out.Remedy}
	}
	lost := t.close(func(c chat.Call) string {
		if out.Reason == event.Interrupted {
			return t.aborted(c.Name)
		}
		return event.NoResult
	})
	out.Usage, out.Took, out.Recovered = t.fold.Usage(), time.Since(t.began), t.tally
	if lost == nil {
		lost = t.add(out)
	}
	if lost != nil {
		out.Reason, out.Error, out.Remedy = event.Broke, lost.Error(), remedy(lost)
		t.announce(out)
		t.lost = nil
		return &Failure{lost, out.Remedy}
	}
	return err
}

// close gives every open call its Did. When the log cannot be written any more readers still learn of it.
func (t *turn) close(words func(chat.Call) string) (lost error) {
	for _, c := range t.fold.Open() {
		did := event.Did{CallID: c.ID, Tool: c.Name, Status: event.Aborted, Error: "aborted", Words: words(c)}
		if lost == nil {
			lost = t.add(did)
		}
		if lost != nil {
			t.announce(did)
		}
	}
	return lost
}

func (t *turn) announce(b event.Body) {
	t.log.Announce(b)
	t.take(event.Event{Body: b})
}
