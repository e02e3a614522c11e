package exec

import (
	"strings"
	"testing"
	"time"

	"interpreter/agent/event"
	"interpreter/local/chat"
	"interpreter/sandbox"
	"interpreter/sandbox/action"
)

// A person sees what is typed into a terminal and what the model is shown of it, under a line that says what it is of.
func TestTerminalIsShown(t *testing.T) {
	keys := func(typed, script string, effect action.Effect) event.Started {
		return event.Started{CallID: "c", Title: "type it", Need: action.Need{Effect: effect, Script: script, TTY: true, Typed: typed}}
	}
	did := func(out action.Ran) event.Did {
		return event.Did{CallID: "c", Tool: "terminal", Status: event.Completed, Outcome: out, Took: time.Second}
	}
	look := event.Started{CallID: "c", Title: "look at the terminal", Need: action.Need{Effect: action.Thinks, TTY: true}}
	claim := event.Started{CallID: "c", Title: "report the work as done", Need: action.Need{Effect: action.Thinks}}
	for _, c := range []struct {
		name string
		in   []event.Body
		want string
	}{
		{"the screen", []event.Body{keys("clear; cat a", "clear; cat a\n", action.Runs), did(action.Ran{Session: 2, Screen: "alpha\n$ \n\n"})},
			"run   clear; cat a   (cwd /repo)\nlooked after 1.0 s\nalpha\n$\n"},
		{"what is new", []event.Body{keys("ls", "ls\n", action.Runs), did(action.Ran{Session: 2, Output: "a\n", Screen: "$ ls\na\n$"})},
			"run   ls   (cwd /repo)\nlooked after 1.0 s\na\n"},
		{"keys", []event.Body{keys("C-d", "", action.Thinks), did(action.Ran{Session: 2, Output: "^D\n"})},
			"run   C-d   (cwd /repo)\nlooked after 1.0 s\n^D\n"},
		{"the shell ended", []event.Body{keys("exit 3", "exit 3\n", action.Runs), did(action.Ran{Exit: sandbox.Exit{Code: 3}})},
			"run   exit 3   (cwd /repo)\nexit 3, 1.0 s\n"},
		{"a look", []event.Body{look, did(action.Ran{Session: 2, Output: "done\n"})}, "look  at the terminal\nlooked after 1.0 s\ndone\n"},
		{"a claim", []event.Body{claim, did(action.Ran{Session: 2, Claims: 1})}, "done  report the work as done\nlooked after 1.0 s\n"},
		{"a submission", []event.Body{claim, did(action.Ran{Script: "git diff HEAD", Dir: "/repo", Claims: 2, Output: "+x\n"})},
			"done  report the work as done\nok 1.0 s\n+x\n"},
		{"a look at a command", []event.Body{event.Started{CallID: "c", Title: "wait for command 2", Need: action.Need{Effect: action.Thinks}}, did(action.Ran{Session: 2, Script: "sleep 9"})},
			"wait  for command 2\nstill running as 2 after 1.0 s\n"},
	} {
		var out strings.Builder
		h := &Human{Out: &out, dir: "/repo"}
		for i, body := range c.in {
			h.Event(event.Event{Seq: i, Body: body})
		}
		if out.String() != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, out.String(), c.want)
		}
	}
}

// What was said beside the call that ended the turn is not said twice on a terminal.
func TestLastWordIsSaidOnce(t *testing.T) {
	var out strings.Builder
	h := &Human{Out: &out, ShowFinal: true}
	for i, body := range []event.Body{
		event.Said{Message: chat.Message{Text: "DISCUSSION\nAll is well.", Calls: []chat.Call{{ID: "c"}}}},
		event.TurnEnded{Reason: event.Finished, Final: "All is well.\n\nSubmitted."},
	} {
		h.Event(event.Event{Seq: i, Body: body})
	}
	if got := out.String(); strings.Count(got, "All is well.") != 1 || !strings.Contains(got, "\nSubmitted.\n") {
		t.Errorf("got %q", got)
	}
}

// A wait that is no matter of counting has no number.
func TestWaitWithoutACount(t *testing.T) {
	var out strings.Builder
	h := &Human{Out: &out}
	h.Event(event.Event{Body: event.Waited{Wait: chat.Wait{Why: "it thought too long"}}})
	h.Event(event.Event{Body: event.Waited{Wait: chat.Wait{Why: "nothing came", Attempt: 1, Limit: 3}}})
	if want := "wait  it thought too long\nwait  nothing came, try 2 of 4\n"; out.String() != want {
		t.Errorf("got %q", out.String())
	}
}
