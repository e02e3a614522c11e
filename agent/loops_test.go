package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"interpreter/agent/event"
	"interpreter/harness"
	"interpreter/local/chat"
	"interpreter/sandbox/action"
)

func TestCaseLo01(t *testing.T) {
	var given struct {
		Answers []struct {
			Call []json.RawMessage
		} `json:"model_answers"`
		Result string `json:"tool_result"`
	}
	var want struct {
		Runs    int   `json:"tool_runs"`
		Notes   int   `json:"notes_to_model"`
		Refused []int `json:"refused_calls"`
		EndsAt  int   `json:"turn_ends_at_call"`
	}
	for name, into := range map[string]any{"lo-01.json": &given, "lo-01.expected.json": &want} {
		raw, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(raw, into); err != nil {
			t.Fatal(err)
		}
	}
	var replies []string
	for _, a := range given.Answers {
		var name string
		var args struct{ Path string }
		if json.Unmarshal(a.Call[0], &name) != nil || json.Unmarshal(a.Call[1], &args) != nil || name != "list_directory" {
			t.Fatalf("another call than expected: %s", a.Call)
		}
		replies = append(replies, call("list", map[string]any{"path": args.Path}))
	}
	w := start(t, script(replies...))
	if err := os.Mkdir(filepath.Join(w.dir, "src"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name := range strings.Lines(given.Result) {
		w.file("src/"+strings.TrimSpace(name), "")
	}
	ended := w.prompt("what is in src?")
	runs, notes := 0, 0
	var refused []int
	dids := bodies[event.Did](w.log)
	for i, d := range dids[:want.EndsAt] {
		if _, ran := d.Outcome.(action.Found); ran {
			runs++
		}
		switch {
		case strings.HasSuffix(d.Words, wordsSame), d.Words == wordsPointer:
			notes++
		case d.Words == wordsRefused:
			refused = append(refused, i+1)
		}
	}
	if runs != want.Runs || notes != want.Notes || !slices.Equal(refused[:2], want.Refused) || len(refused) != 3 {
		t.Errorf("%d runs, %d notes, refused %v", runs, notes, refused)
	}
	// the sixth is the last that the model gets to make; a seventh comes instead of the summary it was asked for
	if len(dids) != want.EndsAt+1 || dids[want.EndsAt].Words != wordsNoMore {
		t.Errorf("%d calls were answered", len(dids))
	}
	if ended.Reason != event.Limited || ended.Error == "" || len(bodies[event.Warned](w.log)) != 1 {
		t.Errorf("the person is told %+v", ended)
	}
}

func TestSummaryEndsALoop(t *testing.T) {
	list := call("list", map[string]any{"path": "."})
	w := start(t, script(list, list, list, list, list, list, "say I am stuck."))
	if ended := w.prompt("go"); ended.Final != "I am stuck." || ended.Reason != event.Limited {
		t.Errorf("got %+v", ended)
	}
}

func TestChangedResultsAreNoLoop(t *testing.T) {
	var replies []string
	for range 8 {
		replies = append(replies, run("echo x >> log; wc -l < log"))
	}
	w := start(t, script(append(replies, "say ok")...))
	if ended := w.prompt("go"); ended.Reason != event.Finished || len(w.box.Commands()) != 8 {
		t.Errorf("%+v after %d runs", ended, len(w.box.Commands()))
	}
}

func TestFailingCommand(t *testing.T) {
	test := run("cat state; test -e fixed")
	w := start(t, script(
		test, run("cat state; test -e fixed | tail -3"), run("cat  state;  test -e fixed 2>&1"),
		edit("state", "red", "green"), test, "say ok"))
	w.file("state", "red 12\n")
	w.prompt("go")
	words := w.words()
	if !strings.HasSuffix(words[1], wordsFailing) {
		// the pipe hides the exit code of the second form: it passed, and is no failure
		if !strings.Contains(words[1], "exit code 0") {
			t.Errorf("the second says %q", words[1])
		}
	}

	w = start(t, script(test, run("cat state;  test -e fixed"), test, edit("state", "red", "green"), test, "say ok"))
	w.file("state", "red 12\n")
	w.prompt("go")
	words = w.words()
	if strings.Contains(words[0], "[") || !strings.HasSuffix(words[1], wordsFailing) {
		t.Errorf("got %q", words)
	}
	if !strings.HasPrefix(words[2], "not run") || !strings.Contains(words[2], "red 12") {
		t.Errorf("the third: %q", words[2])
	}
	if !strings.HasPrefix(words[4], "exit code 1\ngreen") || len(w.box.Commands()) != 3 {
		t.Errorf("after the edit: %q, %d runs", words[4], len(w.box.Commands()))
	}
}

func TestCommandKeyLooksThroughHowOutputIsRead(t *testing.T) {
	want := commandKey(action.Need{Script: "go test ./..."})
	for _, s := range []string{"go  test ./... ", "go test ./... 2>&1", "go test ./... | tail -20", "go test ./... 2>&1 | head -n 5", "go test ./...; echo $?", "go test ./... 2>&1 | tail; echo \"$?\""} {
		if commandKey(action.Need{Script: s}) != want {
			t.Errorf("%q is another command", s)
		}
	}
	if commandKey(action.Need{Script: "go test ./x"}) == want {
		t.Error("another command has the same key")
	}
}

func TestSameFailureOfManyCommandsEndsTheTools(t *testing.T) {
	var replies []string
	for i := range 5 {
		replies = append(replies, run(fmt.Sprintf("echo no such module; exit %d # try%d", 1, i)))
	}
	w := start(t, script(append(replies, "say stuck")...))
	if ended := w.prompt("go"); ended.Reason != event.Limited || ended.Final != "stuck" {
		t.Errorf("got %+v", ended)
	}
}

func TestCircles(t *testing.T) {
	var replies []string
	for range 5 {
		replies = append(replies, read("a"), read("b"))
	}
	w := start(t, script(append(replies, "say ok")...))
	w.file("a", "1")
	w.file("b", "2")
	w.prompt("go")
	for i, words := range w.words() {
		if refused := words == wordsCycle || words == wordsNoMore; refused != (i >= 6) {
			t.Errorf("call %d: %q", i+1, words)
		}
	}
}

func TestRepeatsRules(t *testing.T) {
	reads, runs := action.Need{Effect: action.Reads}, action.Need{Effect: action.Runs, Script: "x"}
	var r repeats
	step := func(need action.Need, key, result string) string {
		if rule := r.before(key, need, false); rule.words != "" {
			return rule.words
		}
		return r.after(key, need, result, nil)
	}
	for i, want := range []string{"", wordsSame, wordsSame, wordsRefused} {
		if got := step(runs, "k", "same"); got != want {
			t.Errorf("command %d: %q", i+1, got)
		}
	}
	r = repeats{}
	for i, want := range []string{"", wordsSame, wordsPointer, wordsRefused, wordsRefused, wordsRefused} {
		if got := step(reads, "k", "same"); got != want || r.over != (i == 5) {
			t.Errorf("read %d: %q, over %v", i+1, got, r.over)
		}
	}
	r = repeats{}
	for i := range 21 {
		note := step(reads, fmt.Sprint("k", i), "nothing")
		if stale := strings.Contains(note, "nothing new"); stale != (i == 10 || i == 20) {
			t.Errorf("read %d: %q", i+1, note)
		}
	}
	r = repeats{}
	change := func(before, after string) string {
		return r.after("e", action.Need{Effect: action.Writes}, "ok", action.Changed{Files: []action.FileChange{{Path: "f", Real: "/f", Before: before, After: after}}})
	}
	if change("1", "2") != "" || change("2", "3") != "" || !strings.Contains(change("3", "1"), "undoes") {
		t.Error("an undone change was not noticed")
	}
}

func TestKeyOf(t *testing.T) {
	key := func(args string) string { return keyOf("read", chat.Call{Name: "read", Args: json.RawMessage(args)}) }
	if key(`{"path":"./a/../b","n":1}`) != key(`{"n": 1, "path": "b ", "description": "look"}`) {
		t.Error("the same call has two keys")
	}
	if key(`{"path":"a"}`) == key(`{"path":"b"}`) || key(`{"n":1}`) == key(`{"n":2}`) {
		t.Error("two calls have one key")
	}
}

// Looking again and again whether a command has ended is fine; asking for one that never was is not.
func TestPollsOfNothingEnd(t *testing.T) {
	poll := "call poll {\"session\":9}"
	replies := []string{poll, poll, poll, poll, poll, poll, "say It is not there.", "say never"}
	w := start(t, script(replies...), func(c *Config) {
		type params struct {
			Session int `json:"session"`
		}
		c.Harness.Prose.(fstest.MapFS)["poll.md"] = &fstest.MapFile{Data: []byte("Looks.")}
		c.Harness.Tools = append(c.Harness.Tools, harness.Row("poll", func(p params) action.Poll { return action.Poll{Session: p.Session} },
			func(r action.Ran) string { return r.Output }))
	})
	if err := w.Prompt(context.Background(), chat.Message{Text: "go"}); err != nil {
		t.Fatal(err)
	}
	if ended := w.ended(); ended.Reason != event.Limited || ended.Final != "It is not there." {
		t.Errorf("got %+v", ended)
	}
}

func TestLimitOfCalls(t *testing.T) {
	var replies []string
	for i := range 7 {
		replies = append(replies, run(fmt.Sprint("echo ", i)))
	}
	w := start(t, script(append(replies, "say so far")...), func(c *Config) { c.MaxCalls = 6 })
	ended := w.prompt("go")
	words := w.words()
	if !strings.HasSuffix(words[0], fmt.Sprintf(wordsFewLeft, 5)) || strings.Contains(words[1], "are left") {
		t.Errorf("got %q", words)
	}
	if words[6] != fmt.Sprintf(wordsLimit, 6) || ended.Reason != event.Limited || ended.Final != "so far" || len(w.box.Commands()) != 6 {
		t.Errorf("got %q, %+v, %d runs", words[6], ended, len(w.box.Commands()))
	}
}

// A file that a harness only calls unchanged when it is read again is the same result all the same.
func TestUnchangedFileClimbsTheLadder(t *testing.T) {
	again := read("a")
	w := start(t, script(again, again, again, again, again, again, "say I am stuck."), repeating)
	w.file("a", "text\n")
	ended := w.prompt("go")
	words := w.words()
	want := []string{"text\n", "(unchanged)" + wordsSame, wordsPointer, wordsRefused, wordsRefused, wordsRefused}
	if !slices.Equal(words, want) || ended.Final != "I am stuck." || ended.Reason != event.Limited {
		t.Errorf("got %q, %+v", words, ended)
	}
}

// repeating makes a second reading of the same file short, as some harnesses do.
func repeating(c *Config) {
	c.Harness.Tools = slices.Clone(c.Harness.Tools)
	c.Harness.Tools[0] = harness.Row("read", func(p pathParams) action.Read { return action.Read{Path: p.Path, Repeat: true} }, func(s action.Seen) string {
		if s.Unchanged {
			return "(unchanged)"
		}
		return s.Text
	})
}

func TestIdleLooks(t *testing.T) {
	var r repeats
	still := action.Ran{Session: 1}
	for i, c := range []struct {
		ran  action.Ran
		note bool
	}{{still, false}, {still, false}, {still, true}, {still, true}, {action.Ran{Session: 1, Output: "x"}, false}, {still, false}, {action.Ran{}, false}} {
		if got := r.looked(c.ran); (got != "") != c.note {
			t.Errorf("look %d: %q", i+1, got)
		}
	}
}

func TestCallsFor(t *testing.T) {
	for size, want := range map[string]int{"": 0, "7.6B": 40, "14.8B": 40, "596.05M": 40, "30.5B": 80, "40b": 80, "116.8B": 200, "big": 0, "1.0": 0} {
		if got := CallsFor(size); got != want {
			t.Errorf("%q allows %d calls, want %d", size, got, want)
		}
	}
}
