// Package agent turns prompts into work: it asks the model, has its calls carried out within what approvals and
// the sandbox allow, and narrates everything into one event log. It knows no provider, no tool name and no screen,
// and it never reads the machine's settings.
package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"interpreter/agent/approve"
	"interpreter/agent/approve/rules"
	"interpreter/agent/event"
	"interpreter/harness"
	"interpreter/local/chat"
	"interpreter/sandbox/action"
)

// Config is all a session needs, as values.
type Config struct {
	Model       chat.Model
	ModelName   string
	Provider    string
	Wire        string // how the provider is spoken to; kept for the record
	Window      int    // tokens; 0 when unknown: nothing is compacted then
	Output      int    // most tokens of one answer; 0: the model's own limit
	Effort      string // reasoning effort
	Options     map[string]any
	Harness     harness.Harness
	HarnessWhy  string
	Env         harness.Environment
	Workspace   *action.Workspace
	Approval    approve.Policy
	Unasked     []approve.Kind              // questions that are switched off; nil: the policy has no switches, which is not the same as none off
	Rules       *rules.Set                  // nil: none
	Remember    func(prefix []string) error // keeps a rule for later sessions; nil: rules last as long as the session
	Git         func(dir string) bool       // see approve.Judge
	Log         *event.Log
	Schema      json.RawMessage  // of the final answer; nil: free text
	Interactive bool             // a person answers event.Asked
	MaxCalls    int              // calls in one turn; 0: 100
	Class       Class            // how large the model is; "" when unknown
	Thoughts    int              // tokens of thought before an answer; 0: by class and effort, negative: any number
	CompactAt   int              // tokens; 0: by the window
	Now         func() time.Time // nil: the machine's clock
	// Distrust is told once when a model that was trusted to call tools wrote two calls within ten turns that cannot be
	// read. It returns what a person should know, "" when nothing.
	Distrust func() string
}

// Session is one conversation. Its methods may be called from any goroutine; one turn runs at a time.
type Session struct {
	cfg    Config
	log    *event.Log
	schema *jsonschema.Resolved
	mail   *mailbox
	warm   warming
	baton  chan struct{} // held by the goroutine that owns everything below

	fold event.Fold
	ids  map[string]bool // ids of calls so far
	// What a person granted or declined for the rest of the session lasts as long as the program: a session that goes on
	// later asks again. Only rules last longer.
	grants  approve.Grants
	widened map[string]action.Leave // commands that run with more rights, by keyOfNeed of what they ask for themselves
	noes    map[string]bool         // more rights that were declined after a refusal, by keyOfNeed

	steers []string // heard, not yet passed on
	lost   error    // the log could not be written

	turns   int   // so far
	garbled []int // turns with a call that could not be read
	doubted bool  // Distrust was told

	tokens int // of the conversation when it was last measured; 0: never since it was replaced
	counts int // messages in that measure
	floor  int // compacting below this size has been shown to gain nothing
	poor   int // compactions that gained nothing
	failed int // compactions that broke off, in a row
	limit  int // what the server said its window is, when that is less than ours
	gauge  gauge

	prompts  int               // so far
	answers  int               // so far; a turn that begins counts as well, so that no answer follows one of another turn
	shown    []string          // what the model was given in this turn
	forms    []string          // of calls that were written as text
	native   bool              // the server has read a call of this model
	mended   bool              // the next answer was mended: its calls are not the server's reading
	plan     []action.PlanItem // as the model last wrote it
	idle     int               // results since then, or since the last reminder of it
	rounds   int               // answers with calls since then
	recalled bool              // it was reminded of since it was last written or looked at
	looks    bool              // plan mode is on
}

// ErrBusy is what a session answers while a turn runs.
var ErrBusy = errors.New("a turn is running")

// New makes a session that continues cfg.Log, which must hold at least its Begun.
func New(cfg Config) (*Session, error) {
	if cfg.Model == nil || cfg.Log == nil || cfg.Workspace == nil || cfg.Workspace.Box == nil {
		return nil, errors.New("new session: model, log, workspace and box are all needed")
	}
	if cfg.MaxCalls <= 0 {
		cfg.MaxCalls = 100
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Approval == "" {
		cfg.Approval = approve.Never
	}
	s := &Session{cfg: cfg, log: cfg.Log, mail: newMailbox(), baton: make(chan struct{}, 1), ids: map[string]bool{}}
	if len(cfg.Schema) > 0 {
		schema, err := compile(cfg.Schema)
		if err != nil {
			return nil, fmt.Errorf("new session: output schema: %w", err)
		}
		s.schema = schema
	}
	for _, e := range cfg.Log.Events() {
		s.take(e)
	}
	if s.looks {
		cfg.Workspace.StayPlanning()
	}
	if s.plan != nil {
		cfg.Workspace.ResumePlan(s.plan)
	}
	if cfg.Interactive && cfg.Workspace.Host == nil {
		cfg.Workspace.Host = host{s}
	}
	if cfg.Workspace.Printed == nil {
		cfg.Workspace.Printed = func(call, text string) {
			_ = cfg.Log.Append(event.Printed{CallID: call, Text: text}) // not kept, so nothing can be lost
		}
	}
	return s, nil
}

// Prompt runs one turn and returns when it has ended. Everything in it is told by events; the error is the one
// that TurnEnded carries, for callers that want an exit code; only a turn that could not even be started, because
// its session file cannot be written, has no TurnEnded. Ending ctx interrupts the turn.
func (s *Session) Prompt(ctx context.Context, in chat.Message) error {
	if strings.TrimSpace(in.Text) == "" && len(in.Images) == 0 {
		return errors.New("prompt: it is empty")
	}
	in.Role = chat.User
	in.Text = strings.ToValidUTF8(in.Text, "\uFFFD")
	return s.own(func() error {
		return s.turn(ctx, func(t *turn) error {
			if err := t.prompt(in); err != nil {
				return err
			}
			return t.run(ctx)
		})
	})
}

// Compact runs a turn that only replaces the conversation by a summary of it.
func (s *Session) Compact(ctx context.Context) error {
	return s.own(func() error {
		return s.turn(ctx, func(t *turn) error {
			if s.fold.Len() == 0 {
				return errors.New("compact: there is no conversation yet")
			}
			return t.compact(ctx)
		})
	})
}

// own runs f as the one owner of the session. A Warm under way makes way.
func (s *Session) own(f func() error) error {
	s.warm.claim()
	defer s.warm.release()
	select {
	case s.baton <- struct{}{}:
	default:
		return ErrBusy
	}
	defer func() { <-s.baton }()
	return f()
}

// Steer says a word in passing: the model hears it before its next step, or with the next prompt.
func (s *Session) Steer(text string) {
	if strings.TrimSpace(text) != "" {
		s.mail.post(letter{steer: text})
	}
}

// Answer settles an event.Asked. An answer to a question that nobody asks any more is dropped.
func (s *Session) Answer(id string, d approve.Decision, note string) {
	s.mail.post(letter{answer: &answer{id: id, decision: d, note: note}})
}

// Reply settles an event.Asked that has Questions. No answers: the person declines.
func (s *Session) Reply(id string, answers map[string]string) {
	s.mail.post(letter{answer: &answer{id: id, decision: approve.Once, answers: answers}})
}

// Change says what is different from the next turn on. A zero field stays as it was.
type Change struct {
	Model      chat.Model
	ModelName  string
	Provider   string
	Window     int
	Class      Class
	Harness    harness.Harness
	HarnessWhy string
	Env        harness.Environment
	Approval   approve.Policy
	Effort     string
}

// Switch changes model, harness or policy from the next turn on. Another model or harness starts with another
// opening; the conversation goes on.
func (s *Session) Switch(c Change) error {
	if c.Model != nil && c.ModelName == "" {
		return errors.New("switch: a model without a name")
	}
	s.mail.post(letter{change: &c})
	return nil
}

// Events reads the log from a Seq on and follows it.
func (s *Session) Events(ctx context.Context, from int) iter.Seq[event.Event] {
	return s.log.From(ctx, from)
}

// Close ends the session: commands still running are killed, readers of the log come to its end. It waits for no
// turn; end that one's context first.
func (s *Session) Close() error {
	err := s.own(func() error { return s.cfg.Workspace.Close() })
	s.log.Close()
	return err
}

// add appends an event and takes it in. Once the log is lost the session does nothing more.
func (s *Session) add(b event.Body) error {
	if s.lost != nil {
		return s.lost
	}
	if err := s.log.Append(b); err != nil {
		s.lost = err
		return err
	}
	s.take(event.Event{Body: b})
	return nil
}

// take keeps what the session derives from events.
func (s *Session) take(e event.Event) {
	s.fold.Add(e)
	switch b := e.Body.(type) {
	case event.Said:
		s.answers++
		if len(b.Message.Calls) > 0 {
			s.rounds++
		}
		for _, c := range b.Message.Calls {
			s.ids[c.ID] = true
		}
		s.native = s.native || len(b.Message.Calls) > 0 && !s.mended
		s.mended = false
		if b.Usage.Input > 0 {
			s.tokens, s.counts = b.Usage.Input+b.Usage.Output, s.fold.Len()
		}
	case event.TurnStarted:
		s.turns++
		s.answers++
		s.shown = nil
	case event.Prompted:
		if !b.Steered {
			s.prompts++
		}
		s.shown = append(s.shown, cmp.Or(b.Sent, b.Message.Text))
	case event.Did:
		s.did(b)
	case event.Recovered:
		if b.What == event.CallAsText {
			s.forms, s.mended = append(s.forms, cmp.Or(b.Form, b.Detail)), true
		}
	case event.Compacted:
		s.tokens, s.counts, s.gauge = 0, 0, gauge{ratio: s.gauge.ratio, told: s.gauge.told}
	case event.Opened:
		s.tokens, s.counts, s.gauge = 0, 0, gauge{}
	}
}

func (s *Session) did(b event.Did) {
	s.shown = append(s.shown, b.Words)
	planned, ok := b.Outcome.(action.Planned)
	if ok {
		s.plan = planned.Items
	}
	if s.idle++; ok || b.Reminded {
		s.idle, s.rounds, s.recalled = 0, 0, !ok
	}
	if b.PlanMode != "" {
		s.looks = b.PlanMode == event.PlanBegun
	}
}

// readMail sorts letters. It returns the answer to the question id, if it came.
func (s *Session) readMail(id string) *answer {
	var found *answer
	for _, l := range s.mail.take() {
		switch {
		case l.answer != nil && id != "" && l.answer.id == id:
			found = l.answer
		case l.change != nil:
			s.mail.later = append(s.mail.later, *l.change)
		case l.steer != "":
			s.steers = append(s.steers, l.steer)
		}
	}
	return found
}

// apply makes the changes asked for since the last turn.
func (s *Session) apply() {
	s.readMail("")
	for _, c := range s.mail.later {
		if c.Model != nil {
			s.cfg.Model, s.cfg.ModelName, s.cfg.Window = c.Model, c.ModelName, c.Window
			s.cfg.Class = c.Class
			s.limit, s.floor, s.poor, s.gauge = 0, 0, 0, gauge{}
		}
		if c.Provider != "" {
			s.cfg.Provider = c.Provider
		}
		if c.Harness.Name != "" {
			s.cfg.Harness, s.cfg.HarnessWhy = c.Harness, c.HarnessWhy
		}
		if c.Env.Dir != "" {
			s.cfg.Env = c.Env
		}
		if c.Approval != "" {
			s.cfg.Approval = c.Approval
		}
		if c.Effort != "" {
			s.cfg.Effort = c.Effort
		}
	}
	s.mail.later = nil
}
