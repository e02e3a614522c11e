package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"interpreter/agent/approve"
	"interpreter/agent/event"
	"interpreter/harness"
	"interpreter/local/chat"
	"interpreter/local/practice"
	"interpreter/sandbox/action"
	"interpreter/sandbox/sandboxtest"
)

type pathParams struct {
	Path string `json:"path"`
}

type runParams struct {
	Command  string `json:"command"`
	Escalate bool   `json:"escalate,omitempty"`
}

type editParams struct {
	Path string `json:"path"`
	Old  string `json:"old"`
	New  string `json:"new"`
}

type writeParams struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

// boom is an action with a bug.
type boom struct{}

func (boom) Title() string     { return "boom" }
func (boom) Need() action.Need { return action.Need{Effect: action.Thinks} }
func (boom) Do(context.Context, *action.Workspace) (action.Told, error) {
	panic("the bug")
}

// plain is a harness that knows no family.
func plain() harness.Harness {
	prose := fstest.MapFS{
		"system.md":  {Data: []byte("You are in {{.Dir}}, sandbox {{.Sandbox}}.")},
		"compact.md": {Data: []byte("Sum up the conversation.")},
	}
	for _, name := range []string{"read", "list", "run", "edit", "write", "boom", "ask"} {
		prose[name+".md"] = &fstest.MapFile{Data: []byte("Does what " + name + " says.")}
	}
	return harness.Harness{
		Name: "plain", Prose: prose,
		Tools: []harness.Tool{
			harness.Row("read", func(p pathParams) action.Read { return action.Read{Path: p.Path} }, func(s action.Seen) string { return s.Text }),
			harness.Row("list", func(p pathParams) action.List { return action.List{Path: p.Path, All: true} }, func(f action.Found) string {
				var b strings.Builder
				for _, h := range f.Hits {
					b.WriteString(filepath.Base(h.Path) + "\n")
				}
				return b.String()
			}),
			harness.Row("run", func(p runParams) action.Run {
				return action.Run{Script: p.Command, Escalate: p.Escalate, Reason: "it must"}
			}, func(r action.Ran) string { return fmt.Sprintf("exit code %d\n%s", r.Exit.Code, r.Output) }),
			harness.Row("edit", func(p editParams) action.Edit { return action.Edit{Path: p.Path, Old: p.Old, New: p.New} },
				func(c action.Changed) string { return fmt.Sprintf("Changed %d place(s).", c.Spots) }),
			harness.Row("write", func(p writeParams) action.Write { return action.Write{Path: p.Path, Content: p.Content} },
				func(c action.Changed) string { return "Written." }),
			harness.Row("boom", func(struct{}) boom { return boom{} }, func(action.Told) string { return "" }),
		},
	}
}

// world is a session with what a test looks at.
type world struct {
	*Session
	t     *testing.T
	dir   string
	model *practice.Model
	box   *sandboxtest.Box
	log   *event.Log
	sent  *requests
}

// requests are what a session sent, each with how often the conversation had been replaced by then.
type requests struct {
	chat.Model
	log *event.Log
	mu  sync.Mutex
	all []sent
}

type sent struct {
	chat.Request
	epoch int
}

func (r *requests) Stream(ctx context.Context, req chat.Request) iter.Seq2[chat.Delta, error] {
	r.mu.Lock()
	epoch := len(bodies[event.Compacted](r.log)) + len(bodies[event.Opened](r.log))
	r.all = append(r.all, sent{req, epoch})
	r.mu.Unlock()
	return r.Model.Stream(ctx, req)
}

// start makes a session whose model plays a script. change may alter the configuration.
func start(t *testing.T, script string, change ...func(*Config)) *world {
	t.Helper()
	return startIn(t, t.TempDir(), event.NewLog(nil), script, change...)
}

func startIn(t *testing.T, dir string, log *event.Log, script string, change ...func(*Config)) *world {
	t.Helper()
	parsed, err := practice.Parse(script)
	if err != nil {
		t.Fatal(err)
	}
	policy := sandboxtest.Writable(t, dir)
	box := sandboxtest.New(t, policy)
	w := &world{t: t, dir: policy.Dir, model: practice.NewModel(parsed), box: box, log: log}
	w.sent = &requests{Model: w.model, log: log}
	cfg := Config{
		Model: w.sent, ModelName: "m", Provider: "p", Window: 65536, Harness: plain(), HarnessWhy: "test",
		Env:       harness.Environment{Dir: policy.Dir, Sandbox: string(policy.Mode)},
		Workspace: &action.Workspace{Dir: policy.Dir, Box: box, Env: sandboxtest.Environ(), Shell: "/bin/sh"},
		Approval:  approve.OnRequest, Log: log,
	}
	for _, f := range change {
		f(&cfg)
	}
	if len(log.Events()) == 0 {
		if err := log.Append(event.Begun{ID: "s", Dir: policy.Dir}); err != nil {
			t.Fatal(err)
		}
	}
	if w.Session, err = New(cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		w.Close()
		w.consistent()
	})
	return w
}

// prompt runs a turn that must not fail.
func (w *world) prompt(text string) event.TurnEnded {
	w.t.Helper()
	if err := w.Prompt(context.Background(), chat.Message{Text: text}); err != nil {
		w.t.Fatalf("%s: %v", text, err)
	}
	return w.ended()
}

func (w *world) ended() event.TurnEnded {
	w.t.Helper()
	all := bodies[event.TurnEnded](w.log)
	if len(all) == 0 {
		w.t.Fatal("no turn has ended")
	}
	return all[len(all)-1]
}

func bodies[B event.Body](l *event.Log) []B {
	var out []B
	for _, e := range l.Events() {
		if b, ok := e.Body.(B); ok {
			out = append(out, b)
		}
	}
	return out
}

func (w *world) words() []string {
	var out []string
	for _, d := range bodies[event.Did](w.log) {
		out = append(out, d.Words)
	}
	return out
}

func (w *world) file(name, text string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// consistent checks what holds for every session: each call has one Did, in call order and before the next answer,
// each turn that started ended, and each request is the last one plus a tail.
func (w *world) consistent() {
	w.t.Helper()
	var open []string
	running := false
	for _, e := range w.log.Events() {
		switch b := e.Body.(type) {
		case event.TurnStarted:
			running = true
		case event.TurnEnded:
			if !running || len(open) > 0 {
				w.t.Errorf("a turn ended out of order, open calls %v", open)
			}
			running = false
		case event.Said:
			if len(open) > 0 {
				w.t.Errorf("calls %v have no result", open)
			}
			for _, c := range b.Message.Calls {
				open = append(open, c.ID)
			}
		case event.Did:
			if len(open) == 0 || open[0] != b.CallID {
				w.t.Errorf("a result of %s where %v is due", b.CallID, open)
				return
			}
			open = open[1:]
		}
	}
	if running {
		w.t.Error("a turn has not ended")
	}
	w.prefixes()
}

// prefixes checks the prefix law over all that was sent: each request is the one before it plus a tail, except where a
// compaction or another opening stands between them. Requests for a summary, which may leave out what does not fit, and
// warm-ups, which are answered by one token, are no part of the conversation.
func (w *world) prefixes() {
	w.t.Helper()
	w.sent.mu.Lock()
	defer w.sent.mu.Unlock()
	epochs := map[int][]chat.Request{}
	for _, r := range w.sent.all {
		last := r.Messages[len(r.Messages)-1]
		if r.Output == 1 || last.Role == chat.User && strings.HasPrefix(last.Text, w.cfg.Harness.CompactPrompt()) {
			continue
		}
		epochs[r.epoch] = append(epochs[r.epoch], r.Request)
	}
	for _, requests := range epochs {
		checkPrefixes(w.t, requests)
	}
}

func checkPrefixes(t *testing.T, requests []chat.Request) {
	t.Helper()
	var last, tools []byte
	for i, r := range requests {
		now, err := harness.WireJSON(chat.Request{Messages: r.Messages})
		if err != nil {
			t.Fatal(err)
		}
		now = bytes.TrimSuffix(now, []byte("]}"))
		if !bytes.HasPrefix(now, last) {
			t.Errorf("request %d rewrites what was sent:\n%s\n%s", i, last, now)
		}
		specs, err := harness.WireJSON(chat.Request{Tools: r.Tools})
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 && !bytes.Equal(specs, tools) {
			t.Errorf("request %d has other tools", i)
		}
		last, tools = now, specs
	}
}

// script is one reply a line, followed request by request.
func script(replies ...string) string {
	out := "follow requests\n"
	for _, r := range replies {
		out += "reply\n"
		for line := range strings.Lines(r) {
			out += "  " + strings.TrimSuffix(line, "\n") + "\n"
		}
	}
	return out
}

func call(name string, args map[string]any) string {
	raw, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	return "call " + name + " " + string(raw)
}

func read(path string) string   { return call("read", map[string]any{"path": path}) }
func run(command string) string { return call("run", map[string]any{"command": command}) }
func edit(path, old, new string) string {
	return call("edit", map[string]any{"path": path, "old": old, "new": new})
}

func TestTurnFromPromptToAnswer(t *testing.T) {
	w := start(t, script("think hm\nsay Let me look.\n"+read("a.txt")+"\ntokens 100 20", "say It says hello.\ntokens 150 10"))
	w.file("a.txt", "hello\n")
	ended := w.prompt("what does a.txt say?")
	if ended.Reason != event.Finished || ended.Final != "It says hello." || ended.Usage.Input != 250 || ended.Usage.Output != 30 {
		t.Errorf("got %+v", ended)
	}
	var kinds []string
	for _, e := range w.log.Events() {
		kinds = append(kinds, e.Body.Kind())
	}
	if got, want := strings.Join(kinds, " "), "session_meta turn_context opened prompted said started did said turn_ended"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if said := bodies[event.Said](w.log)[0].Message; said.Thinking != "hm" || said.Text != "Let me look." {
		t.Errorf("got %+v", said)
	}
	if did := bodies[event.Did](w.log)[0]; did.Status != event.Completed || did.Outcome.(action.Seen).Text == "" || !strings.Contains(did.Words, "hello") {
		t.Errorf("got %+v", did)
	}
	last := w.model.Requests()[1]
	if last.Window != 65536 || len(last.Tools) != 6 {
		t.Errorf("window %d, %d tools", last.Window, len(last.Tools))
	}
}

func TestAnswersAreHeardAsTheyCome(t *testing.T) {
	w := start(t, script("say one two three four five six seven eight nine ten eleven twelve"))
	from := w.Events(context.Background(), 0)
	w.prompt("count")
	w.Close()
	text := ""
	for e := range from {
		if h, ok := e.Body.(event.Heard); ok {
			text += h.Text
		}
	}
	if text != w.ended().Final {
		t.Errorf("heard %q", text)
	}
}

func TestCallsThatMakeNoSenseAreAnswered(t *testing.T) {
	w := start(t, script(
		"call teleport {\"to\":\"x\"}\nmiscall read {\"path\": \"a\nmiscall read\ncall read {\"nope\":1}",
		"say Sorry."))
	w.prompt("go")
	dids := bodies[event.Did](w.log)
	if len(dids) != 4 {
		t.Fatalf("%d results", len(dids))
	}
	for _, d := range dids {
		if d.Status != event.Failing || d.Words == "" || d.Error == "" {
			t.Errorf("got %+v", d)
		}
	}
	if !strings.Contains(dids[0].Words, "teleport") || !strings.Contains(dids[0].Words, "read") {
		t.Errorf("the tools are not named: %s", dids[0].Words)
	}
	if !strings.Contains(dids[1].Words, "JSON") {
		t.Errorf("the reason is not named: %s", dids[1].Words)
	}
	for _, c := range bodies[event.Said](w.log)[0].Message.Calls {
		var object map[string]any
		if json.Unmarshal(c.Args, &object) != nil {
			t.Errorf("raw arguments are in the history: %s", c.Args)
		}
	}
}

func TestTheSameCallTwiceInOneAnswerRunsOnce(t *testing.T) {
	w := start(t, script(run("echo x >> log")+"\n"+run("echo x >> log"), "say ok"))
	w.prompt("go")
	if n := len(w.box.Commands()); n != 1 {
		t.Errorf("it ran %d times", n)
	}
	if words := w.words(); !strings.Contains(words[1], "ran once") || !strings.HasPrefix(words[1], words[0]) {
		t.Errorf("got %q", words)
	}
}

// Between two equal calls stands one that changes what they see: both run.
func TestTheSameCallAfterAChangeRunsAgain(t *testing.T) {
	w := start(t, script(read("a")+"\n"+run("cat a")+"\n"+edit("a", "one", "two")+"\n"+read("a")+"\n"+run("cat a"), "say ok"))
	w.file("a", "one")
	w.prompt("go")
	if got := w.words(); !strings.Contains(got[0]+got[1], "one") || !strings.HasPrefix(got[3], "two") || !strings.Contains(got[4], "two") {
		t.Errorf("got %q", got)
	}
	w = start(t, script(run("date +%N > b")+"\n"+run("cat b; : >> c")+"\n"+run("date +%N > b"), "say ok"))
	w.prompt("go")
	if got := w.box.Commands(); len(got) != 3 {
		t.Errorf("%d commands ran", len(got))
	}
}

// late is an action that is done when the interrupt comes.
type late struct{ interrupt context.CancelFunc }

func (late) Title() string     { return "late" }
func (late) Need() action.Need { return action.Need{Effect: action.Writes, Paths: []string{"f"}} }
func (a late) Do(context.Context, *action.Workspace) (action.Changed, error) {
	a.interrupt()
	return action.Changed{Files: []action.FileChange{{Path: "f", Kind: action.Added}}}, nil
}

func TestWhatWasDoneIsToldInSpiteOfAnInterrupt(t *testing.T) {
	ctx, interrupt := context.WithCancel(context.Background())
	w := start(t, script("call late {}\n"+read("f"), "say never"), func(c *Config) {
		c.Harness.Prose.(fstest.MapFS)["late.md"] = &fstest.MapFile{Data: []byte("Comes late.")}
		c.Harness.Tools = append(c.Harness.Tools, harness.Row("late", func(struct{}) late { return late{interrupt} },
			func(action.Changed) string { return "Written." }))
	})
	if err := w.Prompt(ctx, chat.Message{Text: "go"}); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	dids := bodies[event.Did](w.log)
	if len(dids) != 2 || dids[0].Status != event.Completed || dids[0].Words != "Written." || dids[1].Status != event.Aborted {
		t.Errorf("got %+v", dids)
	}
}

func TestAnInterruptedAnswerIsKeptAsFarAsItWent(t *testing.T) {
	ctx, interrupt := context.WithCancel(context.Background())
	w := start(t, script("say First point.\npause 1h\nsay Second point.\n"+read("f"), "say Short."))
	w.model.Sleep = func(ctx context.Context, d time.Duration) error {
		if d == 0 {
			return nil
		}
		interrupt()
		<-ctx.Done()
		return ctx.Err()
	}
	if err := w.Prompt(ctx, chat.Message{Text: "explain"}); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	said := bodies[event.Said](w.log)
	if len(said) != 1 || strings.TrimSpace(said[0].Message.Text) != "First point." || said[0].Finish != chat.Left || len(said[0].Message.Calls) > 0 {
		t.Fatalf("got %+v", said)
	}
	w.prompt("shorter") // checks pairing and the prefix law as well
	told := w.model.Requests()[1].Messages
	if kept := told[len(told)-3]; kept.Role != chat.Assistant || !strings.Contains(kept.Text, "First point.") {
		t.Errorf("the model was told %+v", told)
	}
}

func TestReadsSideBySideAnswerInCallOrder(t *testing.T) {
	var calls []string
	for i := range 20 {
		calls = append(calls, read(fmt.Sprintf("f%d", i)))
	}
	w := start(t, script(strings.Join(calls, "\n"), "say ok"))
	for i := range 20 {
		w.file(fmt.Sprintf("f%d", i), fmt.Sprintf("text %d", i))
	}
	w.prompt("go")
	for i, words := range w.words() {
		if !strings.Contains(words, fmt.Sprintf("text %d", i)) {
			t.Errorf("result %d is %q", i, words)
		}
	}
}

func TestCutAnswerRunsNothing(t *testing.T) {
	w := start(t, script(run("echo x")+"\nfinish length", "say cut\nfinish length", "say ok"))
	if ended := w.prompt("go"); ended.Final != "cutok" { // the model was asked to go on where it ended
		t.Errorf("got %+v", ended)
	}
	if len(w.box.Commands()) > 0 || !strings.Contains(w.words()[0], "cut off") {
		t.Errorf("ran %v, said %q", w.box.Commands(), w.words())
	}
	if in := bodies[event.Injected](w.log); len(in) != 1 || in[0].Message.Text != wordsCutText {
		t.Errorf("got %+v", in)
	}
}

// A model whose calls never get to their end is stopped, not asked for ever.
func TestCallsThatAreAlwaysCut(t *testing.T) {
	cut := run("echo x") + "\nfinish length"
	w := start(t, script(cut, cut, cut, cut, "say It is too long for me.", "say never asked for"))
	err := w.Prompt(context.Background(), chat.Message{Text: "go"})
	if ended := w.ended(); err != nil || ended.Reason != event.Limited || !strings.Contains(ended.Error, "cut off") || ended.Final != "It is too long for me." {
		t.Errorf("got %+v, %v", ended, err)
	}
	w = start(t, script(cut, cut, run("echo y"), cut, cut, "say ok")) // not in a row
	if ended := w.prompt("go"); ended.Final != "ok" {
		t.Errorf("got %+v", ended)
	}
}

func TestCallInTextThatWasCutIsNotRun(t *testing.T) {
	decode := func(c *Config) {
		c.Harness.Decode = func(a harness.Answer) (harness.Reading, error) {
			m := a.Message
			if m.Text == "CALL" {
				m.Text, m.Calls = "", []chat.Call{{Name: "run", Args: json.RawMessage(`{"command":"echo x"}`)}}
			}
			return harness.Reading{Message: m}, nil
		}
	}
	w := start(t, script("say CALL\nfinish length", "say ok"), decode)
	if ended := w.prompt("go"); ended.Final != "ok" || len(w.box.Commands()) > 0 {
		t.Errorf("ended with %+v, ran %v", ended, w.box.Commands())
	}
	if in := bodies[event.Injected](w.log); len(in) != 1 || !strings.Contains(in[0].Message.Text, "cut off") {
		t.Errorf("got %+v", in)
	}
}

func TestEmptyAnswers(t *testing.T) {
	w := start(t, script("tokens 5 1", "tokens 5 1", "say ok"))
	w.prompt("go")
	r := w.model.Requests()
	if len(r) != 3 || !reflect.DeepEqual(r[0], r[2]) || len(bodies[event.Waited](w.log)) != 2 {
		t.Errorf("%d requests, %d waits", len(r), len(bodies[event.Waited](w.log)))
	}
	if got := bodies[event.Said](w.log); len(got) != 1 {
		t.Errorf("empty answers were kept: %+v", got)
	}

	w = start(t, script("think hm", "think hm", "say ok"))
	w.prompt("go")
	if in := bodies[event.Injected](w.log); len(in) != 1 || in[0].Message.Text != wordsEmpty {
		t.Errorf("after two thoughts: %+v", in)
	}

	w = start(t, script("tokens 5 1", "tokens 5 1", "tokens 5 1", "tokens 5 1", "say never asked for"))
	err := w.Prompt(context.Background(), chat.Message{Text: "go"})
	if ended := w.ended(); err == nil || ended.Reason != event.Broke || ended.Remedy == "" || len(w.model.Requests()) != 4 {
		t.Errorf("got %+v after %d requests", ended, len(w.model.Requests()))
	}
}

func TestFailedRequestsFailTheTurn(t *testing.T) {
	w := start(t, script("say half an ans\ncut", "say fine"))
	err := w.Prompt(context.Background(), chat.Message{Text: "go"})
	if ended := w.ended(); err == nil || ended.Reason != event.Broke || !strings.Contains(ended.Error, "ended before the answer") {
		t.Errorf("got %+v, %v", ended, err)
	}
	if ended := w.prompt("again"); ended.Final != "fine" {
		t.Errorf("the next turn: %+v", ended)
	}
}

func TestPromptsAreRefused(t *testing.T) {
	w := start(t, script("say x"))
	if err := w.Prompt(context.Background(), chat.Message{Text: " \n"}); err == nil {
		t.Error("an empty prompt passed")
	}
	if len(w.log.Events()) != 1 {
		t.Error("an empty prompt left events")
	}
}

func TestPanicEndsTheTurnOnly(t *testing.T) {
	w := start(t, script("call boom {}\n"+read("x"), "say fine"))
	err := w.Prompt(context.Background(), chat.Message{Text: "go"})
	if ended := w.ended(); err == nil || ended.Reason != event.Broke || !strings.Contains(ended.Error, "the bug") {
		t.Errorf("got %+v, %v", ended, err)
	}
	w.consistent()
	if ended := w.prompt("again"); ended.Final != "fine" {
		t.Errorf("the next turn: %+v", ended)
	}
}

func TestNudge(t *testing.T) {
	nudge := func(c *Config) {
		c.Harness.Nudge = func(p harness.Pause) string {
			m := p.Message
			if strings.HasSuffix(m.Text, ":") {
				return "go on"
			}
			return ""
		}
	}
	w := start(t, script("say Next I will:", read("a"), "say Now:", "say And now:", "say never"), nudge)
	ended := w.prompt("go")
	if in := bodies[event.Injected](w.log); len(in) != 2 || ended.Final != "And now:" {
		t.Errorf("%d nudges, final %q", len(in), ended.Final)
	}
}

func TestCallsWrittenAsText(t *testing.T) {
	decode := func(c *Config) {
		c.Harness.Decode = func(a harness.Answer) (harness.Reading, error) {
			m := a.Message
			if m.Text == "broken" {
				return harness.Reading{Message: m}, &harness.ArgumentsError{Tool: "read", Raw: "{"}
			}
			if name, ok := strings.CutPrefix(m.Text, "READ "); ok {
				args, err := json.Marshal(pathParams{name})
				if err != nil {
					return harness.Reading{Message: m}, err
				}
				m.Text, m.Calls = "", []chat.Call{{Name: "read", Args: args}}
			}
			return harness.Reading{Message: m}, nil
		}
	}
	w := start(t, script("raw broken", "raw READ a.txt", "say ok"), decode)
	w.file("a.txt", "hello\n")
	w.prompt("go")
	if words := w.words(); len(words) != 1 || !strings.Contains(words[0], "hello") {
		t.Errorf("got %q", words)
	}
	if len(bodies[event.Recovered](w.log)) != 2 || len(bodies[event.Injected](w.log)) != 1 {
		t.Errorf("recovered %v, injected %v", bodies[event.Recovered](w.log), bodies[event.Injected](w.log))
	}
	w = start(t, script("raw broken", "raw broken", "raw broken", "say never"), decode)
	if err := w.Prompt(context.Background(), chat.Message{Text: "go"}); err == nil || len(w.model.Requests()) != 3 {
		t.Errorf("%v after %d requests", err, len(w.model.Requests()))
	}
}

func TestSteerIsHeardBeforeTheNextStep(t *testing.T) {
	w := start(t, script(run("true"), "say ok", "say again"))
	from := w.Events(context.Background(), 0)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for e := range from {
			if _, ok := e.Body.(event.Started); ok {
				w.Steer("also this")
				return
			}
		}
	}()
	w.Steer("before")
	w.prompt("go")
	<-done
	w.prompt("more")
	steered := 0
	for _, p := range bodies[event.Prompted](w.log) {
		if p.Steered {
			steered++
		}
	}
	if steered != 2 {
		t.Errorf("%d words in passing were heard", steered)
	}
}

func TestSwitch(t *testing.T) {
	w := start(t, script("say one", "say two"))
	w.prompt("go")
	other, err := practice.Parse(script("say other"))
	if err != nil {
		t.Fatal(err)
	}
	model := practice.NewModel(other)
	lean := plain()
	lean.Name, lean.Tools = "lean", lean.Tools[:1]
	if err := w.Switch(Change{Model: model, ModelName: "n", Window: 131072, Harness: lean, HarnessWhy: "asked"}); err != nil {
		t.Fatal(err)
	}
	if ended := w.prompt("more"); ended.Final != "other" {
		t.Errorf("got %+v", ended)
	}
	r := model.Requests()[0]
	if len(r.Tools) != 1 || r.Window != 131072 || len(r.Messages) != 4 || r.Messages[1].Text != "go" {
		t.Errorf("got %+v", r)
	}
	if opened := bodies[event.Opened](w.log); len(opened) != 2 || opened[1].Harness != "lean" {
		t.Errorf("got %d openings", len(opened))
	}
	if started := bodies[event.TurnStarted](w.log)[1]; started.Model != "n" || started.Why != "asked" {
		t.Errorf("got %+v", started)
	}
	if err := w.Switch(Change{Model: model}); err == nil {
		t.Error("a model without a name passed")
	}
}

func TestOneTurnAtATime(t *testing.T) {
	w := start(t, script("stall 1h\nsay x"))
	ctx, cancel := context.WithCancel(context.Background())
	asked := make(chan struct{})
	w.model.Sleep = func(ctx context.Context, _ time.Duration) error {
		close(asked)
		<-ctx.Done()
		return ctx.Err()
	}
	first := make(chan error)
	go func() { first <- w.Prompt(ctx, chat.Message{Text: "go"}) }()
	<-asked
	if err := w.Prompt(context.Background(), chat.Message{Text: "too"}); !errors.Is(err, ErrBusy) {
		t.Errorf("got %v", err)
	}
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if ended := w.ended(); ended.Reason != event.Interrupted {
		t.Errorf("got %+v", ended)
	}
}
