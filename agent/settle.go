package agent

import (
	"slices"
	"strings"

	"interpreter/agent/event"
	"interpreter/harness"
	"interpreter/local/chat"
	"interpreter/sandbox/action"
)

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
			if err := t.mend(event.CutAnswer, "asked to go on"); err != nil {
				return false, err
			}
			return false, t.inject("cut answer", wordsCutText)
		}
		return true, t.add(event.Warned{Text: "the answer was cut off at the model's limit several times"})
	}
	if text, why := t.early(said); text != "" && !again && t.tries.nudged < t.cfg.Class.nudges() {
		t.tries.nudged++
		t.tries.justNow = true
		kind := event.EarlyStop
		if t.cfg.Harness.Text && t.cfg.Harness.Nudge != nil { // its nudges are about replies in which no command was found
			kind, why = event.UnreadableCall, "no command in its form, sent back once"
		}
		if err := t.mend(kind, why); err != nil {
			return false, err
		}
		return false, t.inject("early stop", text)
	}
	if t.unchecked() {
		t.tries.checked = true
		if err := t.mend(event.UncheckedChange, "reminded"); err != nil {
			return false, err
		}
		return false, t.inject("unchecked change", wordsUnchecked)
	}
	return t.finished()
}

// early words a reminder for an answer that stops before the work is done; "" when it is an end.
func (t *turn) early(said event.Said) (text, why string) {
	h := t.cfg.Harness
	if t.cfg.Workspace.Planning() {
		return "", ""
	}
	p := harness.Pause{
		Message: said.Message, Finish: said.Finish, Asked: t.asking, Calls: t.calls, Interactive: t.cfg.Interactive,
	}
	for _, spec := range t.fold.Opened().Tools {
		p.Offered = append(p.Offered, spec.Name)
	}
	if t.planned {
		p.Open = slices.DeleteFunc(slices.Clone(t.plan), func(i action.PlanItem) bool { return i.Status == "completed" })
	}
	stops := false
	if len(p.Offered) > 0 || h.Text && h.Nudge == nil {
		p.Why, stops = harness.EarlyStop(p)
	}
	if h.Nudge != nil {
		text = h.Nudge(p)
	}
	switch {
	case text != "" && p.Why == "":
		return text, "reminded"
	case text == "" && stops:
		text = t.inForm(wordsEarly)
	}
	return text, p.Why
}

// unchecked reports, once, that nobody is there to look at a change and the check that was asked for was not made.
func (t *turn) unchecked() bool {
	return !t.cfg.Interactive && !t.tries.checked && t.changed && !t.ranSince && t.calls < t.cfg.MaxCalls &&
		harness.AsksToVerify(t.asking) && t.runs()
}

// runs reports whether the model has a tool that runs commands.
func (t *turn) runs() bool {
	if t.cfg.Harness.Text {
		return true
	}
	return slices.ContainsFunc(t.fold.Opened().Tools, func(s chat.Spec) bool {
		return harness.RunsCommands(s.Name)
	})
}

// finalWord ends the turn at a step that says so, or a call that can only mean it.
func (t *turn) finalWord(text string, said event.Said) (done bool, err error) {
	switch t.final = text; {
	case t.parting != nil && t.schema == nil:
		t.final = t.parting(said.Message.Text)
	case strings.TrimSpace(text) == "":
		t.final = said.Message.Text
	}
	if t.readMail(""); len(t.steers) > 0 {
		return false, nil
	}
	return t.finished()
}

// finished ends the turn with its final text, in the shape that was asked for.
func (t *turn) finished() (done bool, err error) {
	if t.schema != nil {
		return t.shape()
	}
	return true, nil
}
