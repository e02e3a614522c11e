package agent

import (
	"strings"
	"testing"

	"interpreter/agent/event"
	"interpreter/harness"
	"interpreter/local/chat"
	"interpreter/sandbox/action"
)

// claiming is a harness whose work must be reported twice in a row.
func claiming() harness.Harness {
	h := plain()
	type none struct{}
	h.Tools = append(h.Tools, harness.Choice("claim", func(none) (harness.Step, error) {
		return harness.Do(action.Claim{Diff: true}, func(r action.Ran) string { return "claimed" }).Ending(func(o action.Outcome) (string, bool) {
			return "", o.(action.Ran).Claims >= 2
		}), nil
	}).Hide())
	return h
}

func claim(text string) string {
	return "say " + text + "\n  " + call("claim", map[string]any{})
}

// Only claims of answers that follow each other count together: not with other work between them, not over the end of a
// turn.
func TestClaimsOfAnswersInARow(t *testing.T) {
	w := start(t, script(claim("One."), run("echo 1"), claim("Two."), claim("Three.")), func(c *Config) { c.Harness = claiming() })
	if ended := w.prompt("go"); ended.Final != "Three." || ended.Reason != event.Finished {
		t.Errorf("got %+v", ended)
	}
	w = start(t, script(claim("One."), "say Stop.", claim("Two."), claim("Three.")), func(c *Config) { c.Harness = claiming() })
	if ended := w.prompt("What is it?"); ended.Final != "Stop." {
		t.Errorf("got %+v", ended)
	}
	if ended := w.prompt("And now?"); ended.Final != "Three." {
		t.Errorf("the claim of the turn before counts: %+v", ended)
	}
}

// shouting is one whose calls are lines that begin with !. A line that begins with ? cannot be read.
func shouting() harness.Harness {
	h := claiming()
	h.Text, h.Tries = true, 3
	for i := range h.Tools {
		h.Tools[i] = h.Tools[i].Hide()
	}
	h.Decode = func(a harness.Answer) (harness.Reading, error) {
		r := harness.Reading{Message: a.Message}
		name, ok := strings.CutPrefix(a.Message.Text, "!")
		switch {
		case ok && a.Finish == chat.CutShort:
			name, _, _ = strings.Cut(name, "|")
			r.Whole, r.Message.Written = true, "!"+name
		case !ok:
			return r, errCutText
		}
		r.Message.Calls = []chat.Call{{Name: name}}
		return r, nil
	}
	return h
}

// A reply that cannot be read stands between claims, and what stood whole before the cut of another is carried out.
func TestClaimsOfSpokenAnswers(t *testing.T) {
	w := start(t, script("say !claim", "say ?", "say !claim", "say !claim|and half of\nfinish length", "say never"), func(c *Config) { c.Harness = shouting() })
	ended := w.prompt("go")
	if dids := bodies[event.Did](w.log); ended.Reason != event.Finished || len(dids) != 3 || dids[2].Status != event.Completed {
		t.Errorf("got %+v, %+v", ended, dids)
	}
}

// A value that was asked for by a schema is no reply in the form of the harness.
func TestShapeOfSpokenAnswers(t *testing.T) {
	w := start(t, script("say !claim", "say !claim", `say {"a":1}`), func(c *Config) {
		c.Harness, c.Schema = shouting(), []byte(`{"type":"object","required":["a"]}`)
	})
	if ended := w.prompt("go"); ended.Final != `{"a":1}` || ended.Reason != event.Finished {
		t.Errorf("got %+v", ended)
	}
}
