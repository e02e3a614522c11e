package agent

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"interpreter/agent/approve"
	"interpreter/agent/event"
	"interpreter/harness"
	"interpreter/local/chat"
	"interpreter/sandbox/action"
)

func interactive(c *Config) { c.Interactive = true }

func never(c *Config) { c.Approval = approve.Never }

// answering settles every question with the next of some decisions.
func (w *world) answering(decisions ...approve.Decision) {
	from := w.Events(context.Background(), 0)
	done := make(chan struct{})
	w.t.Cleanup(func() { <-done })
	go func() {
		defer close(done)
		for e := range from {
			if a, ok := e.Body.(event.Asked); ok && len(decisions) > 0 {
				w.Answer("someone else's question", approve.Once, "")
				w.Answer(a.ID, decisions[0], "use make")
				decisions = decisions[1:]
			}
		}
	}()
	w.t.Cleanup(func() { w.log.Close() })
}

func outside(command string) string {
	return call("run", map[string]any{"command": command, "escalate": true})
}

func TestApprovals(t *testing.T) {
	w := start(t, script(outside("echo 1"), outside("echo 2"), outside("echo 2"), outside("echo 3"), "say ok"), interactive)
	w.answering(approve.Once, approve.ForSession, approve.No)
	w.prompt("go")
	asked, dids := bodies[event.Asked](w.log), bodies[event.Did](w.log)
	if len(asked) != 3 || !strings.Contains(asked[0].Why, "it must") || asked[0].Title != "run echo 1" {
		t.Errorf("asked %+v", asked)
	}
	if answered := bodies[event.Answered](w.log); len(answered) != 3 || answered[2].Decision != "no" {
		t.Errorf("answered %+v", answered)
	}
	var statuses []event.Status
	for _, d := range dids {
		statuses = append(statuses, d.Status)
	}
	if want := []event.Status{event.Completed, event.Completed, event.Completed, event.Declined}; !slices.Equal(statuses, want) {
		t.Errorf("got %v", statuses)
	}
	if !strings.Contains(dids[3].Words, "use make") {
		t.Errorf("the note is lost: %q", dids[3].Words)
	}
	for _, c := range w.box.Commands() {
		if !c.Outside {
			t.Errorf("%q ran inside", c.Argv)
		}
	}
}

func TestStopEndsTheTurn(t *testing.T) {
	w := start(t, script(outside("echo 1")+"\n"+run("echo 2"), "say fine"), interactive)
	w.answering(approve.Stop)
	err := w.Prompt(context.Background(), chat.Message{Text: "go"})
	if ended := w.ended(); !errors.Is(err, errStopped) || ended.Reason != event.Interrupted || len(w.box.Commands()) > 0 {
		t.Errorf("%v, %+v", err, ended)
	}
	dids := bodies[event.Did](w.log)
	if len(dids) != 2 || dids[0].Status != event.Declined || dids[1].Status != event.Aborted {
		t.Errorf("got %+v", dids)
	}
	if ended := w.prompt("again"); ended.Final != "fine" {
		t.Errorf("got %+v", ended)
	}
}

func TestNobodyToAsk(t *testing.T) {
	for _, policy := range []approve.Policy{approve.OnRequest, approve.Never} {
		w := start(t, script(outside("echo 1"), run("git reset --hard"), "say ok"), func(c *Config) { c.Approval = policy })
		w.prompt("go")
		for _, d := range bodies[event.Did](w.log) {
			if d.Status != event.Declined || !strings.Contains(d.Words, "nobody may be asked: ") || d.Error == "" {
				t.Errorf("%s: got %+v", policy, d)
			}
		}
		if len(w.box.Commands()) > 0 || len(bodies[event.Asked](w.log)) > 0 {
			t.Errorf("%s: ran %v", policy, w.box.Commands())
		}
	}
}

func TestApprovedWriteOutside(t *testing.T) {
	target := filepath.Join(t.TempDir(), "x")
	write := call("write", map[string]any{"path": target, "content": "hi"})
	w := start(t, script(write, "say ok"), interactive)
	w.answering(approve.Once)
	w.prompt("go")
	if got, err := os.ReadFile(target); err != nil || string(got) != "hi" {
		t.Errorf("%q, %v: %q", got, err, w.words())
	}
	os.Remove(target)
	w = start(t, script(write, "say ok"), never)
	w.prompt("go")
	if _, err := os.Stat(target); err == nil || bodies[event.Did](w.log)[0].Status != event.Declined {
		t.Errorf("written without leave: %q", w.words())
	}
}

func TestQuestionsReachThePerson(t *testing.T) {
	ask := func(c *Config) {
		c.Interactive = true
		c.Harness.Tools = append(c.Harness.Tools, harness.Row("ask", func(p pathParams) asking { return asking{p.Path} },
			func(o action.Told) string { return o.Text }))
	}
	w := start(t, script(call("ask", map[string]any{"path": "Which one?"}), "say ok"), ask)
	from := w.Events(context.Background(), 0)
	go func() {
		for e := range from {
			if a, ok := e.Body.(event.Asked); ok {
				w.Reply(a.ID, map[string]string{a.Questions[0].ID: "the second"})
			}
		}
	}()
	w.prompt("go")
	if words := w.words(); words[0] != "the second" {
		t.Errorf("got %q", words)
	}
}

// asking is an action that asks one question.
type asking struct{ text string }

func (a asking) Title() string   { return "ask" }
func (asking) Need() action.Need { return action.Need{Effect: action.Thinks} }
func (a asking) Do(ctx context.Context, w *action.Workspace) (action.Told, error) {
	answers, err := w.Host.Ask(ctx, []action.Question{{ID: "1", Text: a.text}})
	return action.Told{Text: answers["1"], Answers: answers}, err
}

func TestInterruptKillsWhatRuns(t *testing.T) {
	w := start(t, script(run("echo begun; sleep 300")+"\n"+run("echo never"), "say fine"), never)
	ctx, cancel := context.WithCancel(context.Background())
	from := w.Events(context.Background(), 0)
	go func() {
		for e := range from {
			if p, ok := e.Body.(event.Printed); ok && strings.Contains(p.Text, "begun") {
				cancel()
			}
		}
	}()
	began := time.Now()
	err := w.Prompt(ctx, chat.Message{Text: "go"})
	if took := time.Since(began); !errors.Is(err, context.Canceled) || took > 10*time.Second {
		t.Errorf("%v after %v", err, took)
	}
	dids := bodies[event.Did](w.log)
	if len(dids) != 2 || dids[0].Status != event.Aborted || dids[1].Status != event.Aborted || !strings.Contains(dids[0].Words, "aborted by user") {
		t.Fatalf("got %+v", dids)
	}
	if ran, ok := dids[0].Outcome.(action.Ran); !ok || !strings.Contains(ran.Output, "begun") || !strings.Contains(dids[0].Words, "begun") {
		t.Errorf("what it printed is lost: %+v", dids[0])
	}
	if ended := w.ended(); ended.Reason != event.Interrupted {
		t.Errorf("got %+v", ended)
	}
	w.prompt("again")
	last := w.model.Requests()[1].Messages
	if n := len(last); last[n-2].Text != wordsInterrupted || last[n-1].Text != "again" {
		t.Errorf("the model is told %+v", last[len(last)-2:])
	}
}

func TestInterruptWhileAsking(t *testing.T) {
	w := start(t, script(outside("echo 1"), "say fine"), interactive)
	ctx, cancel := context.WithCancel(context.Background())
	from := w.Events(context.Background(), 0)
	go func() {
		for e := range from {
			if _, ok := e.Body.(event.Asked); ok {
				cancel()
			}
		}
	}()
	if err := w.Prompt(ctx, chat.Message{Text: "go"}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if dids := bodies[event.Did](w.log); len(dids) != 1 || dids[0].Status != event.Aborted {
		t.Errorf("got %+v", dids)
	}
}

// Case sh-10: a command that removes the folder it is in leaves the next one in the workspace.
func TestCaseSh10(t *testing.T) {
	w := start(t, script(run("cd sub && rm -rf ../sub; pwd; true"), run("pwd"), "say ok"), interactive)
	if err := os.Mkdir(filepath.Join(w.dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	w.answering(approve.Once)
	w.prompt("go")
	words := w.words()
	if !strings.HasPrefix(words[0], "exit code 0") || words[1] != "exit code 0\n"+w.dir+"\n" {
		t.Errorf("got %q", words)
	}
}
