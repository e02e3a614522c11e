package agent

import (
	"context"
	"encoding/json"
	"time"

	"interpreter/agent/event"
	"interpreter/local/chat"
)

// turn is what a turn keeps while it runs.
type turn struct {
	*Session
	id      string
	began   time.Time
	asking  string // the prompt
	final   string
	begun   string // of a final answer that the length limit cut and the model was asked to go on with
	calls   int
	repeats repeats
	format  json.RawMessage // wanted of the next answer
	tries   tries
	tally   map[string]int // slips that were mended, by kind
	noticed map[string]bool
	notes   notes
	ending  *string                  // the last word of a step that ends the turn
	parting func(said string) string // what that step makes of what was said beside it; nil: nothing
	spelled map[int][]string         // what of the calls of the last answer was written another way
	guessed []int                    // calls of the last answer in whose values something was mended
	deeds
}

// deeds are what the turn has come to so far.
type deeds struct {
	planned  bool // it wrote the plan
	changed  bool // it changed files
	ranSince bool // and ran something since
}

// run asks, acts, and asks again, until there is nothing left to do.
func (t *turn) run(ctx context.Context) error {
	for {
		if err := t.hear(); err != nil {
			return err
		}
		if err := t.makeRoom(ctx); err != nil {
			return err
		}
		said, err := t.ask(ctx)
		if err != nil {
			return err
		}
		next := t.settle
		if len(said.Message.Calls) > 0 {
			next = func(said event.Said) (bool, error) { return t.act(ctx, said) }
		}
		if done, err := next(said); done || err != nil {
			return err
		}
	}
}

// hear passes on what was said in the middle of the turn.
func (t *turn) hear() error {
	t.readMail("")
	for _, text := range t.steers {
		t.repeats = repeats{}
		if err := t.add(event.Prompted{Message: chat.Message{Role: chat.User, Text: text}, Steered: true}); err != nil {
			return err
		}
	}
	t.steers = nil
	if t.fold.Pending() {
		return nil // the next result tells of commands that ended
	}
	return t.tellEnded()
}

// request is the next request: the last one plus a tail.
func (t *turn) request() chat.Request {
	req := t.requestOf(*t.fold.Opened())
	req.Format = t.format
	req.Output = t.output(req.Output)
	return t.stirred(req)
}

// requestOf is a request behind an opening: the conversation so far, with the options of the session.
func (s *Session) requestOf(opened event.Opened) chat.Request {
	req := s.cfg.Harness.Request(s.cfg.Env, opened.Messages, opened.Tools, s.fold.Messages(), s.cfg.Window)
	if s.cfg.Output > 0 {
		req.Output = s.cfg.Output
	}
	if s.cfg.Effort != "" {
		req.Effort = s.cfg.Effort
	}
	for k, v := range s.cfg.Options {
		if req.Options == nil {
			req.Options = map[string]any{}
		}
		req.Options[k] = v
	}
	return req
}
