package agent

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"interpreter/agent/event"
	"interpreter/agent/store"
	"interpreter/harness"
	"interpreter/local/chat"
	"interpreter/sandbox"
	"interpreter/sandbox/action"
)

// wrapping is a harness that says something around each prompt.
func wrapping(c *Config) {
	c.Harness.Wrap = func(_ harness.Environment, t harness.Turn, prompt string) string {
		return fmt.Sprintf("turn %d, %s, %s: %s", t.Number, t.Now.Format(time.TimeOnly), strings.Join(t.Paths, " "), prompt)
	}
}

func TestWrappedPromptsStayAsTheyWereSent(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	log, file, err := store.Create(home, event.Begun{ID: "0197f000-0000-7000-8000-000000000003", Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	clock := func(c *Config) { c.Now = func() time.Time { return now } }
	w := startIn(t, dir, log, script(read("a")+"\n"+edit("./b", "1", "2"), "say one", "say two"), wrapping, clock)
	w.file("a", "text")
	w.file("b", "1")
	w.prompt("first")
	now = now.Add(time.Minute)
	w.Steer("in passing")
	w.prompt("second")
	first := w.model.Requests()
	last := first[len(first)-1].Messages
	if last[1].Text != "turn 1, 10:00:00, : first" || last[len(last)-1].Text != "turn 2, 10:01:00, ./b a: second" || last[len(last)-2].Text != "in passing" {
		t.Errorf("got %q, %q, %q", last[1].Text, last[len(last)-2].Text, last[len(last)-1].Text)
	}
	for _, p := range bodies[event.Prompted](log) {
		if p.Steered != (p.Sent == "") || strings.Contains(p.Message.Text, "turn") {
			t.Errorf("people see %+v", p)
		}
	}
	w.Close()
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	if log, file, err = store.Open(file.Path()); err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	w = startIn(t, dir, log, script("say three"), wrapping, clock)
	w.prompt("third")
	again := w.model.Requests()
	checkPrefixes(t, append(first, again...))
	if text := again[0].Messages[len(again[0].Messages)-1].Text; text != "turn 3, 10:01:00, ./b a: third" {
		t.Errorf("got %q", text)
	}
}

// planning adds a plan to the plain harness, and a reminder of it.
func planning(c *Config) {
	type params struct {
		Steps []string `json:"steps"`
	}
	c.Harness.Prose.(fstest.MapFS)["plan.md"] = &fstest.MapFile{Data: []byte("Plans.")}
	c.Harness.Tools = append(slices.Clone(c.Harness.Tools), harness.Row("plan", func(p params) action.Plan {
		var a action.Plan
		for _, s := range p.Steps {
			text, done := strings.CutSuffix(s, "!")
			a.Items = append(a.Items, action.PlanItem{Text: text, Status: map[bool]string{true: "completed", false: "pending"}[done]})
		}
		return a
	}, func(action.Planned) string { return "Planned." }))
}

func plan(steps ...string) string { return call("plan", map[string]any{"steps": steps}) }

func TestReminders(t *testing.T) {
	var seen []harness.Progress
	remind := func(c *Config) {
		c.Harness.Remind = func(p harness.Progress) string {
			seen = append(seen, p)
			if len(p.Touched) > 0 {
				return "<changed " + strings.Join(p.Touched, " ") + ">"
			}
			if p.Idle == 3 {
				return fmt.Sprintf("<%d steps>", len(p.Plan))
			}
			return ""
		}
	}
	log := event.NewLog(nil)
	w := startIn(t, t.TempDir(), log, script(read("a"), plan("x", "y"), run("echo 1"), run("echo 2"), run("echo 3"), run("echo 4"), "say done!", "say ok"), planning, remind)
	w.file("a", "1")
	w.prompt("go")
	words := w.words()
	if !strings.HasSuffix(words[4], "\n\n<2 steps>") || strings.Contains(strings.Join(words[:4], ""), "<") || strings.Contains(words[5], "<") {
		t.Errorf("got %q", words)
	}
	idle := []int{}
	for _, p := range seen {
		idle = append(idle, p.Idle)
	}
	if fmt.Sprint(idle) != "[1 0 1 2 3 1]" || seen[0].Plan != nil || len(seen[1].Plan) != 2 || seen[1].Tool != "plan" {
		t.Errorf("got %v, %+v", idle, seen)
	}
	// a resumed session goes on counting
	again := startIn(t, w.dir, log, script(run("echo 5"), run("echo 6"), "say done!"), planning, remind)
	again.prompt("more")
	if words := again.words(); !strings.HasSuffix(words[len(words)-1], "<2 steps>") || strings.Contains(words[len(words)-2], "<") {
		t.Errorf("after a resume: %q", words)
	}
}

func TestChangesOfOthersAreTold(t *testing.T) {
	w := start(t, script(read("a")+"\n"+read("b"), "say one", read("c"), read("c2"), run("echo other > b"), read("c3"), edit("a", "two", "three"), read("c4"), "say ok"))
	for _, name := range []string{"a", "b", "c", "c2", "c3", "c4"} {
		w.file(name, "one "+name)
	}
	w.prompt("look")
	later := time.Now().Add(time.Hour)
	w.file("a", "two")
	if err := os.Chtimes(filepath.Join(w.dir, "a"), later, later); err != nil {
		t.Fatal(err)
	}
	w.prompt("go on")
	for i, words := range w.words() {
		if told := strings.Contains(words, fmt.Sprintf(wordsTouched, "a")); told != (i == 2) || strings.Contains(words, "not by you: b") {
			t.Errorf("result %d: %q", i, words)
		}
	}
}

func TestHarnessWordsRepeats(t *testing.T) {
	var seen []harness.Repeated
	w := start(t, script(run("echo same"), run("echo same "), run("echo same"), read("a"), read("a"), read("a"), "say ok"), func(c *Config) {
		c.Harness.Repeat = func(r harness.Repeated, plain string) string {
			if strings.HasPrefix(plain, "\n") {
				t.Errorf("plain words begin with a line end: %q", plain)
			}
			seen = append(seen, r)
			if r.Row == 3 {
				return "<third time>"
			}
			return ""
		}
	})
	w.file("a", "text")
	w.prompt("go")
	words := w.words()
	if !strings.HasSuffix(words[1], wordsSame) || !strings.HasSuffix(words[2], "\n<third time>") || words[5] != "<third time>" {
		t.Errorf("got %q", words)
	}
	last := seen[len(seen)-1]
	if last.Tool != "read" || last.Args != `{"path":"a"}` || last.Row != 3 || last.Ran {
		t.Errorf("got %+v", seen)
	}
	if !seen[0].Ran || seen[0].Row != 2 {
		t.Errorf("got %+v", seen[0])
	}
}

// behind runs commands that nobody waits for.
func behind(c *Config) {
	c.Harness.Prose.(fstest.MapFS)["behind.md"] = &fstest.MapFile{Data: []byte("Runs behind.")}
	c.Harness.Tools = append(slices.Clone(c.Harness.Tools), harness.Row("behind", func(p runParams) action.Run {
		return action.Run{Script: p.Command, Background: true}
	}, func(r action.Ran) string { return fmt.Sprintf("started %d", r.Session) }))
}

// awaitEnd waits for the commands in the background.
func (w *world) awaitEnd() {
	w.t.Helper()
	for range 2000 {
		if !slices.ContainsFunc(w.cfg.Workspace.Running(), func(r action.Running) bool { return !r.Ended }) {
			return
		}
		time.Sleep(time.Millisecond)
	}
	w.t.Fatal("commands still run")
}

func TestEndedCommandsAreToldOnce(t *testing.T) {
	gate := filepath.Join(t.TempDir(), "gate")
	wait := call("behind", map[string]any{"command": "until test -e " + gate + "; do sleep 0.01; done; exit 3"})
	open := run("touch " + gate + "; sleep 0.2")
	w := start(t, script(wait, open, run("echo after"), "say ok", "say more"), behind)
	w.prompt("go")
	w.awaitEnd()
	w.prompt("next")
	told := 0
	for _, words := range w.words() {
		told += strings.Count(words, "has ended")
	}
	for _, in := range bodies[event.Injected](w.log) {
		told += strings.Count(in.Message.Text, "has ended")
	}
	if told != 1 || !strings.Contains(strings.Join(w.words(), "\n"), "[command 1 has ended: until test") || !strings.Contains(strings.Join(w.words(), "\n"), "exit code 3.]") {
		t.Errorf("told %d times: %q", told, w.words())
	}
}

func TestCommandsThatEndBetweenTurnsAreToldWithThePrompt(t *testing.T) {
	gate := filepath.Join(t.TempDir(), "gate")
	wait := call("behind", map[string]any{"command": "until test -e " + gate + "; do sleep 0.01; done"})
	w := start(t, script(wait, "say ok", "say more"), behind, func(c *Config) {
		c.Harness.Ended = func(r action.Ran) string { return fmt.Sprintf("<ended %d, %d>", r.Session, r.Exit.Code) }
	})
	w.prompt("go")
	if err := os.WriteFile(gate, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	w.awaitEnd()
	w.prompt("next")
	in := bodies[event.Injected](w.log)
	if len(in) != 1 || in[0].Message.Text != "<ended 1, 0>" {
		t.Errorf("got %+v", in)
	}
}

func TestPlanModeOnlyLooks(t *testing.T) {
	propose := func(c *Config) {
		c.Harness.Tools = slices.Clone(c.Harness.Tools)
		for _, name := range []string{"EnterPlanMode", "ExitPlanMode"} {
			c.Harness.Prose.(fstest.MapFS)[name+".md"] = &fstest.MapFile{Data: []byte("Plans.")}
		}
		c.Harness.Tools = append(c.Harness.Tools,
			harness.Row("EnterPlanMode", func(struct{}) action.EnterPlan { return action.EnterPlan{} }, func(o action.Told) string { return o.Text }),
			harness.Row("ExitPlanMode", func(p writeParams) action.ExitPlan { return action.ExitPlan{Text: p.Content} }, func(o action.Told) string { return o.Text }))
		c.Interactive, c.Env.Interactive = true, true
	}
	log := event.NewLog(nil)
	w := startIn(t, t.TempDir(), log, script("call EnterPlanMode {}", edit("a", "one", "two"), run("touch b"), run("ls")+"\n"+read("a"),
		"say I will edit the file.", call("ExitPlanMode", map[string]any{"path": "", "content": "edit it"}), edit("a", "one", "two"), "say done"), propose)
	w.file("a", "one")
	from := w.Events(context.Background(), 0)
	go func() {
		for e := range from {
			if a, ok := e.Body.(event.Asked); ok && len(a.Questions) > 0 {
				w.Reply(a.ID, map[string]string{a.Questions[0].ID: a.Questions[0].Options[0]})
			}
		}
	}()
	ended := w.prompt("change it")
	if ended.Final != "I will edit the file." || len(bodies[event.Injected](w.log)) > 0 {
		t.Fatalf("a stop while planning: %+v", ended)
	}
	if again := startIn(t, w.dir, event.Restore(log.Events(), nil), script("say ok"), propose); !again.cfg.Workspace.Planning() {
		t.Error("a resumed session has forgotten that it plans")
	}
	w.prompt("go on")
	dids := bodies[event.Did](w.log)
	for i, want := range []event.Status{event.Completed, event.Declined, event.Declined, event.Completed, event.Completed, event.Completed, event.Completed} {
		if dids[i].Status != want {
			t.Errorf("call %d: %+v", i, dids[i])
		}
	}
	for _, d := range dids[1:3] {
		if !strings.Contains(d.Words, "plan mode is on") || !strings.Contains(d.Words, "ExitPlanMode") {
			t.Errorf("got %q", d.Words)
		}
	}
	if len(w.box.Commands()) != 1 {
		t.Errorf("%d commands ran", len(w.box.Commands()))
	}
	if again := startIn(t, w.dir, event.Restore(log.Events(), nil), script("say ok"), propose); again.cfg.Workspace.Planning() {
		t.Error("a resumed session plans again")
	}
}

func TestUncheckedChange(t *testing.T) {
	change := edit("a", "one", "two")
	w := start(t, script(change, "say Changed.", run("echo pass"), "say Changed and tested."))
	w.file("a", "one")
	ended := w.prompt("change it and run the tests")
	if in := bodies[event.Injected](w.log); len(in) != 1 || in[0].Message.Text != wordsUnchecked || ended.Final != "Changed and tested." || ended.Recovered[event.UncheckedChange] != 1 {
		t.Errorf("got %+v, %+v", ended, in)
	}
	for name, c := range map[string]struct {
		request string
		replies []string
		change  func(*Config)
	}{
		"it ran":            {"change it and run the tests", []string{change, run("true"), "say Changed."}, nil},
		"nobody asked":      {"change it", []string{change, "say Changed."}, nil},
		"nothing changed":   {"run the tests", []string{read("a"), "say It is fine."}, nil},
		"somebody is there": {"change it and run the tests", []string{change, "say Changed."}, func(c *Config) { c.Interactive = true }},
	} {
		w := start(t, script(append(c.replies, "say never")...), func(cfg *Config) {
			if c.change != nil {
				c.change(cfg)
			}
		})
		w.file("a", "one")
		if w.prompt(c.request); len(bodies[event.Injected](w.log)) > 0 {
			t.Errorf("%s: %+v", name, bodies[event.Injected](w.log))
		}
	}
}

func TestOpenPlanIsAnEarlyStop(t *testing.T) {
	w := start(t, script(plan("a!", "b"), "say The first step is behind me.", plan("a!", "b!"), "say Finished."), planning)
	ended := w.prompt("do it")
	if in := bodies[event.Injected](w.log); len(in) != 1 || ended.Final != "Finished." {
		t.Errorf("got %+v, %+v", ended, in)
	}
	w = start(t, script(plan("a", "b"), "say I cannot go on: there is no network."), planning)
	if w.prompt("do it"); len(bodies[event.Injected](w.log)) != 0 {
		t.Errorf("a blocker is an end: %+v", bodies[event.Injected](w.log))
	}
}

func TestSlowCommandIsRunBehind(t *testing.T) {
	need := action.Need{Effect: action.Runs, Script: "make all"}
	var f failures
	for i := range 2 {
		if words := f.again(need, false); words != "" {
			t.Fatalf("run %d: %q", i, words)
		}
		f.after(need, action.Ran{Script: "make all", Output: strings.Repeat("x", i), Exit: sandbox.Exit{Code: 124, TimedOut: true}})
	}
	if f.again(need, false) != wordsSlow || f.again(need, true) != "" {
		t.Error("it would be waited for again, or may not run at all")
	}
	f.after(need, action.Ran{Script: "make all"})
	if f.again(need, false) != "" {
		t.Error("it ended in time since")
	}
}

// which is a PATH.
type which []string

func (w which) Which(program string) (string, bool) {
	return "/bin/" + program, slices.Contains(w, program)
}

func TestHints(t *testing.T) {
	path := which{"python3", "grep", "find"}
	for _, c := range []struct {
		script, out string
		code        int
		want        string
	}{
		{"python x.py", "sh: 1: python: not found\n", 127, "python is not installed; use python3"},
		{"rg x", "bash: line 1: rg: command not found", 127, "use grep"},
		{"frobnicate", "zsh:1: command not found: frobnicate", 127, "frobnicate is not installed"},
		{"pytest -q", "sh: pytest: not found", 127, "python3 -m pytest"},
		{"grep x", "sh: 1: grep: not found", 127, "at /bin/grep"},
		{"python3 x.py", "ModuleNotFoundError: No module named 'yaml'", 1, "yaml is not installed"},
		{"node x.js", "Error: Cannot find module 'express'", 1, "express is not installed"},
		{"./build.sh", "sh: 1: ./build.sh: Permission denied", 126, "sh ./build.sh"},
		{"mkdir /x", "mkdir: cannot create directory '/x': Permission denied", 1, "sudo does not help"},
		{"apt install x", "Do you want to continue? [Y/n] Abort. (y/n)", 1, "-y"},
		{"python3 ask.py", "EOFError: EOF when reading a line", 1, "nobody can answer"},
		{"serve", "listen tcp :8080: bind: address already in use", 1, "another process has that port"},
		{"cat <<EOF > f\nx\n EOF", "sh: 1: Syntax error: end of file unexpected (expecting here-document)\nunexpected end of file", 2, "EOF must stand alone"},
		{"sed -i s/a/b/ f", "sed: 1: \"f\": invalid command code f", 1, "sed -i ''"},
		{"ls *.foo", "ls: cannot access '*.foo': No such file or directory", 2, "nothing matches *.foo"},
		{"cat my file.txt", "cat: my: No such file or directory\ncat: file.txt: No such file or directory", 1, "\"my file.txt\" is one path"},
		{"cat a b c", "cat: a: No such file or directory\ncat: c: No such file or directory", 1, ""},
		{"git status", "fatal: not a git repository (or any of the parent directories): .git", 128, "no git repository"},
		{"go test ./... || true", "--- FAIL: TestX (0.00s)\nFAIL\n", 0, "`|| true` hides the exit code"},
		{"go test ./... | tail -5", "--- FAIL: TestX (0.00s)\nFAIL\n", 0, "that of tail"},
		{"go test ./... | tail -5", "ok  	x	0.1s\n", 0, ""},
		{"cat notes", "FAILURE is an option\n", 0, ""},
		{"cd sub", "", 0, "starts in the workspace folder again"},
		{"cd sub && ls", "a\n", 0, ""},
		{"./serve > log 2>&1 &", "", 0, "ended with it"},
		{"./serve & sleep 1; curl -s localhost", "ok\n", 0, "ended with it"},
		{"./a & ./b & wait", "ok\n", 0, ""},
		{"false", "", 1, ""},
	} {
		_, got := hint(action.Ran{Script: c.script, Output: c.out, Exit: sandbox.Exit{Code: c.code}}, false, path)
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%q, %q: %q", c.script, c.out, got)
		}
		if len(got) > 200 {
			t.Errorf("%d bytes: %q", len(got), got)
		}
	}
	for script, want := range map[string]string{"vim x": "interactive", "git rebase -i HEAD~3": "interactive", "python3": "interactive", "make": "timeout", "python3 x.py": "timeout"} {
		if kind, _ := hint(action.Ran{Script: script, Exit: sandbox.Exit{Code: 124, TimedOut: true}}, false, path); kind != want {
			t.Errorf("%q: %s", script, kind)
		}
	}
	if kind, _ := hint(action.Ran{Script: "cd sub"}, true, path); kind != "" {
		t.Error("the folder is kept there")
	}
}

func TestHintsStandInResultsOnce(t *testing.T) {
	w := start(t, script(run("frobnicate-x 1"), run("frobnicate-x 2")+"\n"+run("cd /"), "say ok"))
	w.prompt("go")
	words := w.words()
	if !strings.Contains(words[0], "frobnicate-x is not installed") || !strings.Contains(words[2], "starts in the workspace folder again") {
		t.Errorf("got %q", words)
	}
}

func TestRemarksOnFiles(t *testing.T) {
	lock, test := edit("go.sum", "a", "b"), edit("x_test.go", "a", "b")
	for request, want := range map[string]bool{"fix the bug": true, "fix the tests": false} {
		w := start(t, script(lock, test, edit("x_test.go", "b", "c"), "say ok"))
		w.file("go.sum", "a")
		w.file("x_test.go", "a")
		w.prompt(request)
		words := w.words()
		if !strings.Contains(words[0], "package manager") || strings.Contains(words[1], "is a test") != want || strings.Contains(words[2], "is a test") {
			t.Errorf("%s: %q", request, words)
		}
	}
	for name, want := range map[string]bool{"a_test.go": true, "test_a.py": true, "src/a.spec.ts": true, "tests/x.rs": true, "a.go": false, "latest.go": false, "testing.py": false} {
		if tests(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}

func TestTheSecondUnknownToolGetsTheSchema(t *testing.T) {
	w := start(t, script("call reader {}", "call reads {\"x\":1}", "say ok"))
	w.prompt("go")
	if words := w.words(); strings.Contains(words[0], "takes path") || !strings.Contains(words[1], "[read takes path: string]") {
		t.Errorf("got %q", words)
	}
	long := "miscall write {\"path\": \"a\", \"content\": \"" + strings.Repeat("word ", 300)
	w = start(t, script(long, long+"x", "say ok"))
	w.prompt("go")
	if words := w.words(); strings.Contains(words[0], "smaller parts") || !strings.HasSuffix(words[1], wordsParts) {
		t.Errorf("got %q", words)
	}
}

func TestBudgetOfAResult(t *testing.T) {
	for _, c := range []struct {
		window int
		class  Class
		want   int
	}{{32768, Medium, 7863}, {32768, Small, 5898}, {8192, "", 1965}, {4096, Small, leastResult}, {0, "", 0}} {
		w := start(t, script("say ok"), window(c.window), func(cfg *Config) { cfg.Class = c.class })
		w.prompt("go")
		if got := w.resultRoom(); got != c.want {
			t.Errorf("%d tokens, %s: %d bytes", c.window, c.class, got)
		}
	}
}

func TestOutputFitsTheWindow(t *testing.T) {
	w := start(t, script("say one\ntokens 7000 10", "say The summary.", "say two"), window(8192), func(c *Config) { c.Output, c.CompactAt = 4000, 7300 })
	w.prompt("go")
	w.prompt("more")
	r := w.model.Requests()
	if r[0].Output != 4000 || len(r) != 2 || r[1].Output < 512 || r[1].Output > 8192-7010-headroom {
		t.Errorf("%d requests, outputs %d, %d", len(r), r[0].Output, r[1].Output)
	}
	w = start(t, script(run("echo")+"\nfinish length", run("echo"), "say one"), func(c *Config) { c.Output = 1000 })
	w.prompt("go")
	if r := w.model.Requests(); r[0].Output != 1000 || r[1].Output != 2000 || r[2].Output != 1000 {
		t.Errorf("after a cut the outputs are %d, %d, %d", r[0].Output, r[1].Output, r[2].Output)
	}
	w = start(t, script("say one"), window(131072))
	if w.prompt("go"); w.model.Requests()[0].Output != 0 {
		t.Error("where there is plenty of room it is the model's own")
	}
}

// A session in which everything goes wrong that can be mended, from a file and over a resume: nothing that was sent is
// ever rewritten.
func TestPrefixLawOfEveryRecovery(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	log, file, err := store.Create(home, event.Begun{ID: "0197f000-0000-7000-8000-000000000004", Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	leak := "raw <<END\nFirst.\n<tool_call>\n{\"name\": \"read\", \"arguments\": {\"path\": \"a\"}}\n</tool_call>\nEND"
	set := []func(*Config){wrapping, planning, behind, func(c *Config) {
		c.Class = Small
		c.Harness.Remind = func(p harness.Progress) string {
			if p.Idle%4 == 3 {
				return "<the plan?>"
			}
			return ""
		}
	}}
	w := startIn(t, dir, log, script(
		"tokens 5 9", leak, "raw <tool_call>{\"name\": \"write\", \"arguments\": {\"path\": \"f\"", "say Now I'll run the tests.",
		"think "+strings.TrimSpace(wordsOf(1500))+"\nsay never", "think hm", "think hm", "miscall read {", "call reader {}", "call reads {}",
		"say "+strings.Repeat("Once more. ", 100), read("a")+"\n"+read("a"), read("a"), read("a"), run("frobnicate-x"), run("frobnicate-x"), run("frobnicate-x"),
		edit("a", "one ", "two"), "say half an ans\nfinish length", "say wer", "error cannot parse tool call",
		call("done", map[string]any{"result": "All of it."}),
	), set...)
	w.file("a", "one\n")
	first := w.prompt("fix it")
	second := w.prompt("and run the tests")
	if first.Reason != event.Finished || second.Final != "All of it." {
		t.Errorf("got %+v and %+v; %q", first, second, w.words())
	}
	for _, kind := range []string{event.EmptyAnswer, event.CallAsText, event.UnreadableCall, event.EarlyStop, event.LongThoughts, event.EndlessAnswer, event.Repetition, event.CutAnswer, event.FinishCalled} {
		if first.Recovered[kind]+second.Recovered[kind] == 0 {
			t.Errorf("no %s among %v, %v", kind, first.Recovered, second.Recovered)
		}
	}
	before := w.model.Requests()
	w.Close()
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	if log, file, err = store.Open(file.Path()); err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	again := startIn(t, dir, log, script(read("a"), "say done"), set...)
	again.prompt("once more")
	checkPrefixes(t, append(before, again.model.Requests()...))
	if len(again.forms) != len(w.forms) || again.prompts != 3 {
		t.Errorf("forms %v, %d prompts", again.forms, again.prompts)
	}
}

var _ chat.Model = stubborn{}
