package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"interpreter/agent/event"
	"interpreter/agent/store"
	"interpreter/local/chat"
)

// tries counts what is done about answers that are no good, so that each is done a bounded number of times.
type tries struct {
	empty     int // in a row
	prodded   int // reminders after empty answers, in a row
	cut       int
	nudged    int
	justNow   bool // the last answer was nudged already
	garbled   int  // in a row
	overflows int
	shape     int
}

const (
	maxEmpty   = 2
	maxCut     = 3
	maxNudges  = 2
	maxGarbled = 2
)

// ask gets one answer worth keeping and appends it.
func (t *turn) ask(ctx context.Context) (event.Said, error) {
	for {
		said, err := t.stream(ctx, t.request(), true)
		if overflow := overflowOf(err); overflow != nil {
			if err := t.shrink(ctx, overflow); err != nil {
				return event.Said{}, err
			}
			continue
		}
		if err != nil {
			return event.Said{}, t.left(ctx, said, err)
		}
		garbled := t.decode(&said)
		if len(said.Message.Calls) == 0 && strings.TrimSpace(said.Message.Text) == "" && garbled == nil {
			if err := t.empty(said); err != nil {
				return event.Said{}, err
			}
			continue
		}
		t.tries.empty, t.tries.prodded, t.tries.overflows = 0, 0, 0
		t.format = nil
		t.normalise(&said.Message)
		if err := t.add(said); err != nil {
			return event.Said{}, err
		}
		if err := t.distrust(said.Message, garbled); err != nil {
			return event.Said{}, err
		}
		if garbled == nil {
			t.tries.garbled = 0
			return said, nil
		}
		if t.tries.garbled++; t.tries.garbled > maxGarbled {
			return event.Said{}, fmt.Errorf("the model writes calls that cannot be read: %w", garbled)
		}
		if err := t.inject("unreadable call", t.cfg.Harness.Say("", garbled)); err != nil {
			return event.Said{}, err
		}
	}
}

// left keeps what the model had said when a person interrupted it: they have read it, and the server has it in its
// memory. Calls are not kept, they never ran.
func (t *turn) left(ctx context.Context, said event.Said, err error) error {
	if ctx.Err() == nil || strings.TrimSpace(said.Message.Text) == "" {
		return err
	}
	said.Message.Calls, said.Finish = nil, chat.Left
	if lost := t.add(said); lost != nil {
		return lost
	}
	return err
}

// stream sends a request and puts the answer together. loud tells readers of each piece. With an error comes what was
// heard until then.
func (t *turn) stream(ctx context.Context, req chat.Request, loud bool) (event.Said, error) {
	var said event.Said
	var text, thinking strings.Builder
	together := func() event.Said {
		said.Message.Role = chat.Assistant
		said.Message.Text = strings.ToValidUTF8(text.String(), "\uFFFD")
		said.Message.Thinking = strings.ToValidUTF8(thinking.String(), "\uFFFD")
		return said
	}
	for d, err := range t.cfg.Model.Stream(ctx, req) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return together(), err
		}
		if d.Wait != nil {
			text.Reset()
			thinking.Reset()
			said = event.Said{}
			if err := t.add(event.Waited{Wait: *d.Wait}); err != nil {
				return event.Said{}, err
			}
			continue
		}
		if d.Notice != "" {
			if err := t.add(event.Warned{Text: d.Notice}); err != nil {
				return event.Said{}, err
			}
		}
		if loud && d.Text+d.Thinking != "" {
			if err := t.add(event.Heard{Text: d.Text, Thinking: d.Thinking}); err != nil {
				return event.Said{}, err
			}
		}
		text.WriteString(d.Text)
		thinking.WriteString(d.Thinking)
		if d.Call != nil {
			said.Message.Calls = append(said.Message.Calls, *d.Call)
		}
		if d.Usage != nil {
			said.Usage = *d.Usage
		}
		if d.Finish != "" {
			said.Finish = d.Finish
		}
	}
	if err := ctx.Err(); err != nil {
		return together(), err
	}
	if said.Finish == "" {
		said.Finish = chat.Stopped
	}
	return together(), nil
}

// decode finds calls that were written as prose. The error is one that cannot be read.
func (t *turn) decode(said *event.Said) error {
	h := t.cfg.Harness
	if h.Decode == nil {
		return nil
	}
	m, err := h.Decode(said.Message)
	if err != nil {
		return err
	}
	n := len(m.Calls) - len(said.Message.Calls)
	if said.Finish == chat.CutShort && n > 0 {
		return errCutText // what looks whole may have been meant to go on
	}
	if n > 0 {
		_ = t.add(event.Recovered{What: "call written as text", Detail: fmt.Sprintf("%d call(s)", n)}) // a lost log shows at the next step
	}
	m.Role = chat.Assistant
	said.Message = m
	return nil
}

var errCutText = errors.New(wordsCutTextCall)

// normalise gives each call an id of its own and arguments that are an object; what did not parse stays in Raw and
// never reaches a server again.
func (t *turn) normalise(m *chat.Message) {
	seen := map[string]bool{}
	for i := range m.Calls {
		c := &m.Calls[i]
		if c.ID == "" || t.ids[c.ID] || seen[c.ID] {
			base := c.ID
			if base == "" {
				base = "call"
			}
			for n := len(t.ids) + i + 1; c.ID == "" || t.ids[c.ID] || seen[c.ID]; n++ {
				c.ID = fmt.Sprintf("%s_%d", base, n)
			}
		}
		seen[c.ID] = true
		var object map[string]json.RawMessage
		if len(strings.TrimSpace(string(c.Args))) == 0 && c.Raw == "" {
			c.Args = json.RawMessage("{}")
		}
		if json.Unmarshal(c.Args, &object) != nil || object == nil {
			if c.Raw == "" {
				c.Raw = strings.ToValidUTF8(string(c.Args), "\uFFFD")
			}
			c.Args = json.RawMessage("{}")
		}
	}
}

// distrust counts calls that cannot be read, and passes on that there were two within ten turns.
func (t *turn) distrust(said chat.Message, garbled error) error {
	raw := slices.ContainsFunc(said.Calls, func(c chat.Call) bool { return c.Raw != "" })
	if t.doubted || garbled == nil && !raw {
		return nil
	}
	const near = 10
	t.garbled = slices.DeleteFunc(append(t.garbled, t.turns), func(turn int) bool { return turn <= t.turns-near })
	if len(t.garbled) < 2 {
		return nil
	}
	t.doubted = true
	if t.cfg.Distrust == nil {
		return nil
	}
	if text := t.cfg.Distrust(); text != "" {
		return t.add(event.Warned{Text: text})
	}
	return nil
}

// empty deals with an answer that says and calls nothing: the same request again, then a reminder, then the end.
func (t *turn) empty(said event.Said) error {
	limit := maxEmpty
	what := "an empty answer"
	if said.Message.Thinking != "" {
		limit, what = 1, "thoughts and no answer"
	}
	if t.tries.empty++; t.tries.empty <= limit {
		return t.add(event.Waited{Wait: chat.Wait{Attempt: t.tries.empty, Limit: limit, Why: "the model gave " + what}})
	}
	if t.tries.prodded > 0 {
		return &Failure{fmt.Errorf("the model gave %s, several times", what),
			"try another model, or check the server's chat template and stop words"}
	}
	t.tries.prodded++
	if err := t.add(event.Recovered{What: "empty answer", Detail: what + "; reminded"}); err != nil {
		return err
	}
	t.tries.empty = limit // the next empty one is the last
	return t.inject("empty answer", wordsEmpty)
}

// settle decides what an answer without calls means: the end, or one more round.
func (t *turn) settle(said event.Said) (done bool, err error) {
	again := t.tries.justNow
	t.tries.justNow = false
	t.final = t.begun + said.Message.Text
	t.begun = ""
	if t.readMail(""); len(t.steers) > 0 {
		return false, nil
	}
	if said.Finish == chat.CutShort {
		if t.tries.cut++; t.tries.cut <= maxCut {
			t.begun = t.final
			return false, t.inject("cut answer", wordsCutText)
		}
		return true, t.add(event.Warned{Text: "the answer was cut off at the model's limit several times"})
	}
	if h := t.cfg.Harness; h.Nudge != nil && !again && t.tries.nudged < maxNudges {
		if text := h.Nudge(said.Message); text != "" {
			t.tries.nudged++
			t.tries.justNow = true
			if err := t.add(event.Recovered{What: "early stop", Detail: "reminded"}); err != nil {
				return false, err
			}
			return false, t.inject("early stop", text)
		}
	}
	if t.schema != nil {
		return t.shape()
	}
	return true, nil
}

func overflowOf(err error) *chat.Error {
	var e *chat.Error
	if errors.As(err, &e) && e.Kind == chat.Overflow {
		return e
	}
	return nil
}

// remedy finds what a person can do about an error.
func remedy(err error) string {
	var failure *Failure
	var model *chat.Error
	var kept *store.Error
	switch {
	case errors.As(err, &failure) && failure.Remedy != "":
		return failure.Remedy
	case errors.As(err, &model):
		return model.Remedy
	case errors.As(err, &kept):
		return kept.Remedy
	}
	return ""
}
