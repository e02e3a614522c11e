package agent

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"interpreter/agent/approve"
	"interpreter/agent/event"
	"interpreter/agent/store"
	"interpreter/harness"
	"interpreter/harness/catalog"
	"interpreter/local/chat"
	"interpreter/sandbox"
)

// calls are what a harness calls things, for the session below.
type calls struct {
	fail, pass, hang, delete, read, edit string
}

var plainCalls = calls{
	fail: run("exit 3"), pass: run("echo fine"), hang: run("echo begun; sleep 300"), delete: run("rm -rf b.txt"),
	read: read("a.txt"), edit: edit("a.txt", "helo", "hello"),
}

// TestPrefixLaw plays twelve steps with everything in them that could rewrite what was sent: a failed command, an
// edit, a denied approval, a word in passing, an interrupt, and a resume from the file.
func TestPrefixLaw(t *testing.T) {
	prefixLaw(t, plain(), plainCalls)
}

// The same with the harnesses of the house, in their own words.
func TestPrefixLawOfTheCatalog(t *testing.T) {
	shell := func(tool, key string) (c calls) {
		say := func(command string) string { return call(tool, map[string]any{key: command}) }
		return calls{fail: say("exit 3"), pass: say("echo fine"), hang: say("echo begun; sleep 300"), delete: say("rm -rf b.txt"), read: say("cat a.txt")}
	}
	native := shell("exec_command", "cmd")
	native.edit = call("apply_patch", map[string]any{"input": "*** Begin Patch\n*** Update File: a.txt\n@@\n-helo <&> wörld\n+hello <&> wörld\n*** End Patch\n"})
	qwen := shell("run_shell_command", "command")
	qwen.read = call("read_file", map[string]any{"file_path": "a.txt"})
	qwen.edit = call("edit", map[string]any{"file_path": "a.txt", "old_string": "helo", "new_string": "hello"})
	minimal := shell("bash", "command")
	minimal.read = read("a.txt")
	minimal.edit = call("edit", map[string]any{"path": "a.txt", "old_text": "helo", "new_text": "hello"})
	for name, c := range map[string]calls{"native": native, "qwen-code": qwen, "minimal": minimal} {
		t.Run(name, func(t *testing.T) {
			h, err := catalog.Named(name)
			if err != nil {
				t.Fatal(err)
			}
			prefixLaw(t, h, c)
		})
	}
}

func prefixLaw(t *testing.T, h harness.Harness, c calls) {
	home, dir := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("helo <&> wörld\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	log, file, err := store.Create(home, event.Begun{ID: "0197f000-0000-7000-8000-000000000001", Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	set := func(cfg *Config) {
		cfg.Harness, cfg.Interactive = h, true
		cfg.Env.Interactive = true
	}
	w := startIn(t, dir, log, script(
		"think hm\nsay Let me <look>.\n"+c.read, c.fail, c.edit, c.read+"\n"+c.pass, c.delete, "say That was it.",
		c.hang), set)
	w.answering(approve.No)
	w.Steer("a word in passing")
	w.prompt("fix <a.txt> & say why")
	ctx, cancel := context.WithCancel(context.Background())
	from := w.Events(ctx, len(log.Events()))
	go func() {
		for e := range from {
			if _, ok := e.Body.(event.Printed); ok {
				cancel()
			}
		}
	}()
	if err := w.Prompt(ctx, chat.Message{Text: "run it"}); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v; %q", err, w.words())
	}
	requests := w.model.Requests()
	for i, want := range []event.Status{event.Completed, event.Failing, event.Completed, event.Completed, event.Completed, event.Declined, event.Aborted} {
		if dids := bodies[event.Did](log); len(dids) != 7 || dids[i].Status != want {
			t.Errorf("call %d of %d came to %+v, want %s", i+1, len(dids), dids[i], want)
		}
	}
	if got, err := os.ReadFile(filepath.Join(dir, "a.txt")); err != nil || string(got) != "hello <&> wörld\n" {
		t.Errorf("the file says %q (%v)", got, err)
	}
	w.Close()
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}

	log, file, err = store.Open(file.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	w = startIn(t, dir, log, script(c.pass, c.read, "say Done.", c.fail, "say Really."), set, func(cfg *Config) {
		cfg.Env.Branch, cfg.Env.Sandbox = "another", "read-only" // what a new day may bring; the opening stays
		cfg.Approval = approve.Never
	})
	w.prompt("go on")
	w.prompt("and more")
	requests = append(requests, w.model.Requests()...)
	checkPrefixes(t, requests)
	if len(requests) != 12 {
		t.Errorf("%d requests", len(requests))
	}
	told := requests[7].Messages
	news := ""
	for _, m := range told[len(told)-4:] {
		news += m.Text + "\n"
	}
	if !strings.Contains(news, "approval policy is now never") || !strings.Contains(news, wordsInterrupted) {
		t.Errorf("the model is told %q", news)
	}
	if opened := bodies[event.Opened](log); len(opened) != 1 {
		t.Errorf("%d openings", len(opened))
	}
}

func TestOtherModelGetsItsOwnOpening(t *testing.T) {
	log := event.NewLog(nil)
	w := startIn(t, t.TempDir(), log, script("say one"))
	w.prompt("go")
	again := startIn(t, w.dir, log, script("say two"), func(c *Config) { c.ModelName = "n" })
	again.prompt("on")
	if opened := bodies[event.Opened](log); len(opened) != 2 || opened[1].Model != "n" {
		t.Errorf("got %d openings", len(opened))
	}
}

// Wherever a crash cuts the file, the session goes on with a request that any server takes.
func TestResumeFromEveryCut(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	log, file, err := store.Create(home, event.Begun{ID: "0197f000-0000-7000-8000-000000000002", Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	w := startIn(t, dir, log, script(run("echo 1")+"\n"+run("echo 2"), "say done"))
	w.prompt("go")
	w.Close()
	file.Close()
	whole, err := os.ReadFile(file.Path())
	if err != nil {
		t.Fatal(err)
	}
	first := bytes.IndexByte(whole, '\n')
	path := filepath.Join(t.TempDir(), "cut.jsonl")
	for n := first + 1; n <= len(whole); n += 199 {
		if err := os.WriteFile(path, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		log, file, err := store.Open(path)
		if err != nil {
			t.Fatalf("at %d: %v", n, err)
		}
		w := startIn(t, dir, log, script("say fine"))
		w.prompt("on")
		r := w.model.Requests()[0].Messages
		open := map[string]bool{}
		for i, m := range r {
			switch {
			case m.Role == chat.System && i > 0:
				t.Fatalf("at %d: a second system message", n)
			case m.Role == chat.Tool:
				if !open[m.Result.CallID] {
					t.Fatalf("at %d: a result without its call", n)
				}
				delete(open, m.Result.CallID)
			case len(open) > 0:
				t.Fatalf("at %d: calls without a result", n)
			}
			for _, c := range m.Calls {
				open[c.ID] = true
			}
		}
		if len(open) > 0 || r[len(r)-1].Text != "on" {
			t.Fatalf("at %d: it ends with %+v", n, r[len(r)-1])
		}
		file.Close()
	}
}

func TestFullDiskStopsTheTurn(t *testing.T) {
	full := errors.New("no space left on device")
	left := 5
	log := event.NewLog(func(event.Event) error {
		if left--; left < 0 {
			return full
		}
		return nil
	})
	w := startIn(t, t.TempDir(), log, script(run("echo 1"), "say never"))
	from := w.Events(context.Background(), 0)
	err := w.Prompt(context.Background(), chat.Message{Text: "go"})
	if !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
	if len(w.box.Commands()) > 0 {
		t.Error("something ran that the log does not tell of")
	}
	for e := range from {
		if ended, ok := e.Body.(event.TurnEnded); ok {
			if ended.Reason != event.Broke || !strings.Contains(ended.Error, "no space left") {
				t.Errorf("readers see %+v", ended)
			}
			break
		}
	}
	left = 0
	if err := w.Prompt(context.Background(), chat.Message{Text: "go"}); !errors.Is(err, full) || len(w.model.Requests()) != 1 {
		t.Errorf("the next prompt: %v after %d requests", err, len(w.model.Requests()))
	}
	left = 100
	w.prompt("there is room again")
}

func TestSandboxNewsReachTheModel(t *testing.T) {
	log := event.NewLog(nil)
	w := startIn(t, t.TempDir(), log, script("say one"))
	w.prompt("explain")
	again := startIn(t, w.dir, log, script("say two"))
	again.cfg.Workspace.Box = changed{again.cfg.Workspace.Box}
	again.prompt("apply")
	r := again.model.Requests()[0].Messages
	if n := len(r); !strings.Contains(r[n-2].Text, "sandbox mode is now danger-full-access") || r[n-1].Text != "apply" {
		t.Errorf("the model is told %+v", r)
	}
}

// changed is a box with another mode.
type changed struct{ sandbox.Box }

func (c changed) Policy() sandbox.Policy {
	p := c.Box.Policy()
	p.Mode = sandbox.FullAccess
	return p
}
