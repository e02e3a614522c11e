package agent

import (
	"context"
	"fmt"
	"strings"

	"interpreter/agent/approve"
	"interpreter/agent/event"
	"interpreter/harness"
	"interpreter/sandbox/action"
)

// consent lets a task pass, refuses it, or asks a person and waits.
func (t *turn) consent(ctx context.Context, k *task, title string) error {
	if acts := k.need.Effect == action.Writes || k.need.Effect == action.Runs; acts && t.cfg.Workspace.Planning() && !harmless(k.need) {
		words := t.cfg.Harness.Say(k.call.Name, &harness.RefusedError{Words: fmt.Sprintf(wordsPlanning, t.proposing())})
		k.refuse(event.Declined, "plan mode is on", words)
		return nil
	}
	v := t.judge().Decide(k.need)
	switch {
	case v.What == approve.Go && k.guess && t.cfg.Interactive && t.cfg.Approval != approve.Never && !harmless(k.need):
		return t.asked(ctx, k, title, "the call was damaged: a part of it was put right by guess")
	case v.What == approve.Go:
		return nil
	case v.What == approve.Refuse && t.cfg.Approval != approve.Never:
		what := string(k.need.Effect)
		err := &action.DeniedError{What: what, Path: title, Why: v.Why}
		if len(k.need.Paths) > 0 {
			err.Path = k.need.Paths[0]
		}
		k.refuse(event.Declined, v.Why, t.cfg.Harness.Say(k.call.Name, err))
		return nil
	case v.What == approve.Refuse, !t.cfg.Interactive && !t.grants.Covers(k.need):
		k.refuse(event.Declined, v.Why, t.cfg.Harness.Say(k.call.Name, &harness.DeclinedError{Title: title, Why: v.Why}))
		return nil
	case t.grants.Covers(k.need):
		k.grant = k.need.Paths
		return nil
	}
	return t.asked(ctx, k, title, v.Why)
}

// proposing names the tool that ends the plan mode, as far as it can be told by its name.
func (t *turn) proposing() string {
	for _, s := range t.fold.Opened().Tools {
		name := strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(s.Name))
		if strings.HasPrefix(name, "exitplan") {
			return " with " + s.Name
		}
	}
	return ""
}

// asked waits for a person's answer. It is in the log, and on disk, before anything acts on it.
func (t *turn) asked(ctx context.Context, k *task, title, why string) error {
	id := newID()
	if err := t.add(event.Asked{ID: id, CallID: k.call.ID, Title: title, Need: k.need, Why: why}); err != nil {
		return err
	}
	got, err := t.answerTo(ctx, id)
	if err != nil {
		return err
	}
	if err := t.add(event.Answered{ID: id, Decision: string(got.decision), Note: got.note}); err != nil {
		return err
	}
	if got.decision.Grants() {
		t.grants.Add(got.decision, k.need)
		k.grant = k.need.Paths
		return nil
	}
	words := t.cfg.Harness.Say(k.call.Name, &harness.DeclinedError{Title: title, Asked: true, Note: got.note})
	k.refuse(event.Declined, "declined by the user", words)
	if got.decision == approve.Stop {
		return errStopped
	}
	return nil
}

func (s *Session) answerTo(ctx context.Context, id string) (*answer, error) {
	for {
		if got := s.readMail(id); got != nil {
			return got, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-s.mail.bell:
		}
	}
}

// host is how an action asks a person. Such an action runs alone while the owner of the session waits for it, so
// for that time the owner's things are its own.
type host struct{ s *Session }

// Ask puts questions to the person in front of the session.
func (h host) Ask(ctx context.Context, questions []action.Question) (map[string]string, error) {
	id := newID()
	title := "answer questions"
	if len(questions) > 0 {
		title = questions[0].Text
	}
	if err := h.s.add(event.Asked{ID: id, Title: title, Need: action.Need{Effect: action.Thinks}, Questions: questions}); err != nil {
		return nil, err
	}
	got, err := h.s.answerTo(ctx, id)
	if err != nil {
		return nil, err
	}
	return got.answers, h.s.add(event.Answered{ID: id, Decision: string(got.decision), Note: got.note, Answers: got.answers})
}

// judge decides with what holds now.
func (s *Session) judge() approve.Judge {
	return approve.Judge{Policy: s.cfg.Approval, Off: s.cfg.Unasked, Box: s.cfg.Workspace.Box.Policy(), Rules: s.cfg.Rules, Git: s.cfg.Git}
}
