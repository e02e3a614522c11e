package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"interpreter/agent/approve"
	"interpreter/agent/event"
	"interpreter/harness"
	"interpreter/sandbox"
	"interpreter/sandbox/action"
)

// consent lets a task pass, refuses it, or asks a person and waits.
func (t *turn) consent(ctx context.Context, k *task, title string) error {
	if acts := k.need.Effect == action.Writes || k.need.Effect == action.Runs; acts && t.cfg.Workspace.Planning() && !harmless(k.need) {
		words := t.cfg.Harness.Say(k.call.Name, &harness.RefusedError{Words: fmt.Sprintf(wordsPlanning, t.proposing())})
		k.refuse(event.Declined, "plan mode is on", words)
		return nil
	}
	k.leave = action.Leave{Opened: k.need.Opens}
	v := t.judge(ctx, k.need).Decide(k.need)
	wider, widened := t.widened[keyOfNeed(k.need)]
	switch {
	case v.What == approve.Refuse:
		t.forbid(ctx, k, v, title)
		return nil
	case t.unreasoned(k):
		err := t.cfg.Harness.Escalates.Unreasoned()
		k.refuse(event.Failing, err.Error(), t.cfg.Harness.Say(k.call.Name, err))
		return nil
	case v.What == approve.Go && k.guess && t.cfg.Interactive && t.cfg.Approval != approve.Never && !harmless(k.need):
		v.Why = "the call was damaged: a part of it was put right by guess"
		return t.asked(ctx, k, title, v)
	case v.Outside:
		k.leave.Outside, k.by = true, event.ByRule
		return nil
	case widened: // a yes to more rights is one to the command
		k.leave, k.by = wider, event.ByGrant
		return nil
	case v.What == approve.Go:
		return nil
	case t.grants.Covers(t.exact(k.need)):
		k.grant, k.by = t.exact(k.need).Paths, event.ByGrant
		return nil
	case !t.cfg.Interactive:
		t.forbid(ctx, k, v, title)
		return nil
	}
	return t.asked(ctx, k, title, v)
}

// forbid refuses a task without asking anybody.
func (t *turn) forbid(ctx context.Context, k *task, v approve.Verdict, title string) {
	k.by = event.ByPolicy
	asks := v.What == approve.Ask
	if !asks { // it may stand for a question that nobody puts
		if j := t.judge(ctx, k.need); j.Policy == approve.Never || len(j.Off) > 0 {
			j.Policy, j.Off = approve.OnRequest, nil
			asks = j.Decide(k.need).What == approve.Ask
		}
	}
	var err error = &harness.DeclinedError{Title: title, Never: !asks, Why: v.Why}
	switch {
	case asks:
	case k.need.Effect == action.Runs:
		k.by = event.ByRule
	default:
		denied := &action.DeniedError{What: string(k.need.Effect), Path: title, Why: v.Why}
		if len(k.need.Paths) > 0 {
			denied.Path = k.need.Paths[0]
		}
		err = denied
	}
	k.refuse(event.Declined, v.Why, t.cfg.Harness.Say(k.call.Name, err))
	if v.Kind == approve.BySandbox && k.need.Effect == action.Writes && t.cfg.Approval != approve.Untrusted {
		k.did.Remedy = remedyOf(writing(k.need.Paths), t.cfg.Workspace.Box.Policy())
	}
}

// writing are the refusals of what a file action wants to write.
func writing(paths []string) []sandbox.Refusal {
	var refused []sandbox.Refusal
	for _, path := range paths {
		refused = append(refused, sandbox.Refusal{Path: path})
	}
	return refused
}

// unreasoned reports a command that asks to leave the sandbox and does not say why, in the way its family can.
func (t *turn) unreasoned(k *task) bool {
	return k.need.Escalate && t.cfg.Harness.Escalates.Reason != "" && strings.TrimSpace(k.need.Reason) == ""
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

// asked puts a task to a person and does what they say.
func (t *turn) asked(ctx context.Context, k *task, title string, v approve.Verdict) error {
	q := t.question(k, title, v)
	got, err := t.put(ctx, q)
	if err != nil {
		return err
	}
	k.by = event.ByPerson
	if !got.decision.Grants() {
		words := t.cfg.Harness.Say(k.call.Name, &harness.DeclinedError{Title: title, Asked: true, Note: got.note})
		k.refuse(event.Declined, "declined by the user", words)
		if got.decision == approve.Stop {
			return errStopped
		}
		return nil
	}
	need := t.exact(k.need)
	k.grant = need.Paths
	if got.decision != approve.ByPrefix {
		t.grants.Add(got.decision, need)
		return nil
	}
	if err := t.allow(v.Prefix); err != nil {
		return err
	}
	if v := t.judge(ctx, k.need).Decide(k.need); v.What == approve.Go {
		k.leave.Outside = v.Outside
	}
	return nil
}

// put asks a person and waits for an answer that was offered. Question and answer are in the log, and on disk, before
// anything acts on them.
func (s *Session) put(ctx context.Context, q event.Asked) (*answer, error) {
	q.ID = newID()
	if err := s.add(q); err != nil {
		return nil, err
	}
	got, err := s.answerTo(ctx, q.ID)
	if err != nil {
		return nil, err
	}
	offered := func(d approve.Decision) bool {
		return slices.ContainsFunc(q.Choices, func(c event.Choice) bool { return c.Decision == string(d) })
	}
	if len(q.Choices) > 0 && !offered(got.decision) {
		settled := *got
		if settled.decision = approve.No; got.decision.Grants() {
			settled.decision = approve.Once // a yes, to less than was meant
		}
		got = &settled
	}
	return got, s.add(event.Answered{ID: q.ID, Decision: string(got.decision), Note: got.note, Answers: got.answers})
}

// allow makes a rule of a prefix. It holds from now on, and in later sessions if it could be kept.
func (t *turn) allow(prefix []string) error {
	if len(prefix) == 0 {
		return nil
	}
	t.cfg.Rules = t.cfg.Rules.With(prefix)
	if t.cfg.Remember == nil {
		return nil
	}
	if err := t.cfg.Remember(prefix); err != nil {
		return t.add(event.Warned{Text: "the rule holds for this session only: " + err.Error()})
	}
	return nil
}

// exact names what an action needs by what it would touch: what is granted for a link is granted for the file that it
// leads to now.
func (t *turn) exact(need action.Need) action.Need {
	if need.Effect == action.Runs {
		if need.Dir = t.folder(need); need.Opens.Paths == nil {
			return need
		}
		need.Opens.Paths = slices.Clone(need.Opens.Paths)
		slices.Sort(need.Opens.Paths)
		return need
	}
	if need.Effect != action.Writes {
		return need
	}
	p := t.cfg.Workspace.Box.Policy()
	paths := make([]string, len(need.Paths))
	for i, path := range need.Paths {
		paths[i] = t.cfg.Workspace.Abs(path)
		if real, _, err := p.Place(paths[i]); err == nil {
			paths[i] = real
		}
	}
	need.Paths = paths
	return need
}

// folder is where a command runs, absolute.
func (t *turn) folder(need action.Need) string {
	if need.Dir == "" {
		return t.cfg.Workspace.Dir
	}
	return t.cfg.Workspace.Abs(need.Dir)
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
	title := "answer questions"
	if len(questions) > 0 {
		title = questions[0].Text
	}
	got, err := h.s.put(ctx, event.Asked{Title: title, Need: action.Need{Effect: action.Thinks}, Questions: questions})
	if got == nil {
		return nil, err
	}
	return got.answers, err
}

// judge decides about an action with what holds now. Where a command finds its programs is known once its shell is.
func (s *Session) judge(ctx context.Context, need action.Need) approve.Judge {
	w := s.cfg.Workspace
	j := approve.Judge{Policy: s.cfg.Approval, Off: s.cfg.Unasked, Box: w.Box.Policy(), Rules: s.cfg.Rules, Git: s.cfg.Git, Env: w.Env}
	if need.Effect == action.Runs && w.Login != nil {
		j.Env, _ = w.Login(ctx, need.Script)
	}
	return j
}

// free reports whether nothing confines commands.
func (s *Session) free() bool { return s.cfg.Workspace.Box.Policy().Mode == sandbox.FullAccess }
