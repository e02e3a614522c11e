package agent

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"interpreter/agent/event"
	"interpreter/harness"
	"interpreter/local/chat"
	"interpreter/sandbox"
	"interpreter/sandbox/action"
)

// task is one call on its way to its Did.
type task struct {
	call  chat.Call
	step  harness.Step
	need  action.Need
	key   string
	fault error   // there is no step
	last  *string // … because the call says that the work is done, with this last word
	twin  *task   // an equal call of the same answer, with none between that could change its result; that one runs
	grant []string
	leave action.Leave // what a command may do
	by    string       // who let it happen, or refused it; see event.Did
	said  string       // what is told of a refusal by the sandbox, when a person had a word in it
	note  string       // of a second run
	guess bool         // something in its values was mended
	other []string     // what of it was written another way than it should be
	room  int          // bytes its result may have; 0: any number

	did     *event.Did
	outcome action.Outcome
	words   string
	err     error
	panic   string
	took    time.Duration
}

// sideways bounds how many reading calls run at once.
const sideways = 8

// act carries out the calls of an answer: those that only read side by side, all others one after another. Each
// gets one Did, in call order. A step may end the turn; what was called behind it is not run.
func (t *turn) act(ctx context.Context, said event.Said) (done bool, err error) {
	t.tries.justNow, t.begun = false, ""
	ctx = action.WithAnswer(ctx, t.answers)
	if said.Finish == chat.CutShort {
		return false, t.cutCalls(ctx, said)
	}
	t.tries.cut = 0
	tasks := t.tasks(said.Message.Calls)
	for i := 0; i < len(tasks); {
		n := 1
		for n < t.sideways() && reads(tasks[i]) && i+n < len(tasks) && reads(tasks[i+n]) {
			n++
		}
		if err := t.carry(ctx, tasks[i:i+n]); err != nil {
			return false, err
		}
		if i += n; t.ending == nil {
			continue
		}
		if err := t.refuseAll(said.Message.Calls[i:], wordsOver); err != nil {
			return false, err
		}
		last := *t.ending
		defer func() { t.ending, t.parting = nil, nil }()
		return t.finalWord(last, said)
	}
	switch {
	case t.calls > t.cfg.MaxCalls:
		return false, t.wrapUp(ctx, fmt.Sprintf("the limit of %d tool calls in a turn is reached", t.cfg.MaxCalls))
	case t.repeats.over:
		return false, t.wrapUp(ctx, "the model kept repeating calls that change nothing")
	}
	return false, nil
}

// sideways is how many reading calls run at once. Small models get theirs one after another.
func (t *turn) sideways() int {
	if t.cfg.Class == Small {
		return 1
	}
	return sideways
}

// cutCalls answers calls that the length limit cut off. A model that only ever gets so far must not go on for ever.
func (t *turn) cutCalls(ctx context.Context, said event.Said) error {
	words := wordsCutCall
	if n := said.Usage.Output; n > 1 {
		words = fmt.Sprintf(wordsCutCallAt, n)
	}
	if err := t.mend(event.CutAnswer, "its calls were not run, and asked for again"); err != nil {
		return err
	}
	if err := t.refuseAll(said.Message.Calls, words); err != nil {
		return err
	}
	if t.tries.cut++; t.tries.cut > maxCut {
		return t.wrapUp(ctx, "the model's calls were cut off at its length limit several times in a row")
	}
	return nil
}

// harmless reports whether an action leaves everything as it was for the others.
func harmless(n action.Need) bool {
	return n.Effect == action.Reads || n.Effect == action.Thinks || n.Effect == action.Runs && !n.Escalate && readsOnly(n)
}

func reads(k *task) bool { return k.fault == nil && k.need.Effect == action.Reads }

func (t *turn) refuseAll(calls []chat.Call, words string) error {
	for _, c := range calls {
		if err := t.add(event.Did{CallID: c.ID, Tool: c.Name, Status: event.Declined, Error: "not run", Words: words}); err != nil {
			return err
		}
	}
	return nil
}

// tasks makes each call concrete.
func (t *turn) tasks(calls []chat.Call) []*task {
	first := map[string]*task{}
	tasks := make([]*task, len(calls))
	for i, c := range calls {
		k := &task{call: c, guess: slices.Contains(t.guessed, i), other: t.spelled[i]}
		k.step, k.fault = t.cfg.Harness.Step(c)
		var unknown *harness.UnknownToolError
		if errors.As(k.fault, &unknown) {
			if text, ok := harness.Finishing(c.Name, c.Args); ok {
				k.last = &text
			}
			unknown.Offered(t.fold.Opened().Tools)
		}
		if k.fault == nil {
			k.need = t.cfg.Workspace.NeedOf(k.step)
			if t.free() { // there is nothing to leave
				k.need.Escalate, k.need.Opens = false, sandbox.Opened{}
			}
			k.key = keyOf(k.step.Tool, c)
			if k.twin = first[k.key]; k.twin == nil {
				if !harmless(k.need) {
					clear(first)
				}
				if !polls(k.step) {
					first[k.key] = k
				}
			}
		}
		tasks[i] = k
	}
	return tasks
}

// carry takes a few tasks through approval and execution to their Dids. More than one are all reads.
func (t *turn) carry(ctx context.Context, tasks []*task) error {
	var runs sync.WaitGroup
	stopped := error(nil)
	for _, k := range tasks {
		if err := t.before(ctx, k); err != nil {
			stopped = err
			break
		}
		if k.did == nil && k.twin == nil {
			k.room = t.resultRoom()
			runs.Go(func() { k.run(ctx, t.cfg.Workspace) })
		}
	}
	runs.Wait()
	for _, k := range tasks {
		if k.did == nil && k.words == "" && k.err == nil && k.twin == nil && k.outcome == nil && stopped != nil {
			continue // never started: the end of the turn closes it
		}
		late := t.rerun(ctx, k)
		if k.panic != "" {
			panic(k.panic)
		}
		if err := t.finish(ctx, k); err != nil {
			return err
		}
		if stopped == nil {
			stopped = late
		}
	}
	if stopped == nil {
		stopped = ctx.Err()
	}
	return stopped
}

// before settles what needs no run: calls that make no sense, repeat themselves, or are not allowed.
func (t *turn) before(ctx context.Context, k *task) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	t.calls++
	if k.last != nil {
		t.ending = k.last
		k.refuse(event.Completed, "", wordsDone)
		return t.mend(event.FinishCalled, k.call.Name)
	}
	if k.fault != nil {
		t.repeats.miss(k.call)
		k.refuse(event.Failing, k.fault.Error(), t.cfg.Harness.Say(k.call.Name, k.fault)+t.notes.fault(k, t.fold.Opened().Tools))
		return nil
	}
	if other := append(slices.Clone(k.other), k.step.Spelled...); len(other) > 0 || len(k.step.Note) > 0 {
		if len(other) == 0 {
			other = k.step.Note
		}
		if err := t.mend(event.OtherSpelling, strings.Join(other, ", ")); err != nil {
			return err
		}
	}
	title := k.step.Title()
	if err := t.add(event.Started{CallID: k.call.ID, Tool: k.call.Name, Title: title, Need: k.need}); err != nil {
		return err
	}
	switch {
	case t.repeats.over:
		k.refuse(event.Declined, "not run", wordsNoMore)
	case t.calls > t.cfg.MaxCalls:
		k.refuse(event.Declined, "limit of calls reached", fmt.Sprintf(wordsLimit, t.cfg.MaxCalls))
	case k.twin != nil, polls(k.step):
	default:
		if r := t.repeats.before(k.key, k.need, lasting(k.step.Action)); r.words != "" {
			status, why := event.Declined, "repeated without change"
			if r.pointer {
				status, why = event.Completed, ""
			}
			k.refuse(status, why, t.repeated(k, r.words, false))
			return t.mend(event.Repetition, "not run again")
		}
	}
	if k.did != nil || k.twin != nil {
		return nil
	}
	return t.consent(ctx, k, title)
}

func (k *task) refuse(status event.Status, why, words string) {
	k.did = &event.Did{CallID: k.call.ID, Tool: k.call.Name, Status: status, Error: why, Words: words}
}

// run does the step. A panic is kept for the owner of the turn.
func (k *task) run(ctx context.Context, w *action.Workspace) {
	began := time.Now()
	defer func() {
		k.took = time.Since(began)
		if p := recover(); p != nil {
			k.panic = fmt.Sprintf("%s: %v\n%s", k.call.Name, p, debug.Stack())
		}
	}()
	ctx = action.WithRoom(action.WithCall(ctx, k.call.ID), k.room)
	if len(k.grant) > 0 {
		ctx = action.WithApproved(ctx, k.grant...)
	}
	if k.need.Effect == action.Runs {
		ctx = action.WithLeave(ctx, k.leave)
	}
	k.outcome, k.words, k.err = k.step.Run(ctx, w)
}

// finish appends the Did.
func (t *turn) finish(ctx context.Context, k *task) error {
	if k.did != nil {
		k.did.By = k.by
		return t.add(*k.did)
	}
	d := event.Did{CallID: k.call.ID, Tool: k.call.Name, Status: event.Completed, Took: k.took, By: k.by}
	switch {
	case k.twin != nil:
		if first := k.twin.did; first != nil {
			d.Outcome, d.Status, d.Error, d.Words = first.Outcome, first.Status, first.Error, first.Words+wordsTwin
		} else {
			d.Status, d.Error, d.Words = event.Aborted, "aborted", t.aborted(k.call.Name)
		}
	case ctx.Err() != nil && k.err != nil: // what was done all the same is told as done
		d.Status, d.Error = event.Aborted, "aborted"
		d.Words = t.cfg.Harness.Say(k.call.Name, &harness.AbortedError{After: k.took.Round(100 * time.Millisecond)})
		if ran, ok := k.outcome.(action.Ran); ok && ran.Output != "" {
			d.Outcome = ran
			d.Words += "\nIt printed until then:\n" + ran.Output
		}
	case k.err != nil:
		if polls(k.step) {
			t.repeats.miss(k.call) // nothing is there to wait for
		}
		d.Status, d.Error = event.Failing, k.err.Error()
		d.Words = t.cfg.Harness.Say(k.call.Name, k.err)
	default:
		d.Outcome, d.Words = k.outcome, k.words
		if ran, ok := k.outcome.(action.Ran); ok && len(ran.Denied) > 0 {
			d.Words, d.Remedy = t.tell(k, ran), remedyOf(ran.Refused, t.cfg.Workspace.Box.Policy())
		}
		if d.Words += k.note; k.note != "" {
			d.Words = strings.TrimLeft(d.Words, "\n")
		}
		if ran, ok := k.outcome.(action.Ran); ok && ran.Session == 0 && ran.Exit.Code != 0 && !stops(k.step) {
			d.Status = event.Failing
		}
		if seen, ok := k.outcome.(action.Seen); ok && len(seen.Image) > 0 && t.cfg.Env.Vision {
			d.Images = []chat.Image{{MIME: seen.MIME, Data: seen.Image}}
		}
	}
	whole := strings.ToValidUTF8(d.Words, "\uFFFD")
	d.Words = t.bounded(whole, d.Outcome)
	if seen, ok := d.Outcome.(action.Seen); ok && len(d.Words) < len(whole) {
		t.cfg.Workspace.Forget(seen.Real) // what was cut here must be shown again when it is asked for
	}
	if changed, ok := d.Outcome.(action.Changed); ok && k.twin == nil && changed.Level > "E1" {
		if err := t.mend(event.LooseEdit, t.loosely(changed)); err != nil {
			return err
		}
	}
	t.remark(ctx, k, &d)
	k.did = &d
	if err := t.add(d); err != nil {
		return err
	}
	if k.step.Ends != nil && k.twin == nil && d.Outcome != nil && ctx.Err() == nil {
		if last, ended := k.step.Ends(d.Outcome); ended && t.ending == nil {
			if t.ending = &last; k.step.Parting != nil {
				t.parting = func(said string) string { return k.step.Parting(d.Outcome, said) }
			}
		}
	}
	return nil
}

// stops reports whether a step ends a command: that such a one did not end well is what was wanted.
func stops(s harness.Step) bool {
	_, ok := s.Action.(action.Stop)
	return ok
}

func (t *turn) aborted(tool string) string {
	return t.cfg.Harness.Say(tool, &harness.AbortedError{})
}

// wrapUp gives the model its last word: one answer, whose calls are refused.
func (t *turn) wrapUp(ctx context.Context, why string) error {
	if err := t.inject("end of tools", wordsWrapUp); err != nil {
		return err
	}
	if err := t.add(event.Warned{Text: why + "; it was asked to sum up"}); err != nil {
		return err
	}
	said, err := t.stream(ctx, t.request(), ear{tells: true})
	if err != nil {
		return err
	}
	if said.Message.Text != "" || len(said.Message.Calls) > 0 {
		t.normalise(&said.Message)
		if err := t.add(said); err != nil {
			return err
		}
		if err := t.refuseAll(said.Message.Calls, wordsNoMore); err != nil {
			return err
		}
		t.final = said.Message.Text
	}
	return &limitError{why}
}
