package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"interpreter/agent/event"
	"interpreter/harness"
	"interpreter/harness/catalog"
	"interpreter/local/chat"
)

func named(t *testing.T, id string) harness.Harness {
	t.Helper()
	h, err := catalog.Named(id)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// told are the mends of a kind, as a person reads them.
func told(w *world, kind string) (all []string) {
	for _, r := range bodies[event.Recovered](w.log) {
		if r.What == kind {
			all = append(all, r.Detail)
		}
	}
	return all
}

// A call that was found and makes no sense all the same was not mended: it is told as a failure.
func TestOnlyCallsThatCanRunCountAsMended(t *testing.T) {
	tagged := func(calls ...string) string {
		return "raw <<END\n<tool_call>" + strings.Join(calls, "</tool_call>\n<tool_call>") + "</tool_call>\nEND"
	}
	good, bad := `{"name":"read","arguments":{"path":"a"}}`, `{"name":"read","arguments":{"pith":"a"}}`
	w := start(t, script(tagged(good), tagged(bad), tagged(good, bad), "say done"))
	w.file("a", "text")
	ended := w.prompt("go")
	if got := told(w, event.CallAsText); !slices.Equal(got, []string{"in Hermes tags", "in Hermes tags, 1 of 2 calls"}) || ended.Recovered[event.CallAsText] != 2 {
		t.Errorf("told %q, counted %v", got, ended.Recovered)
	}
	if forms := []string{"tagged", "tagged"}; !slices.Equal(w.forms, forms) || w.native {
		t.Errorf("forms %q, native %v", w.forms, w.native)
	}
}

// Each way to spell a call is told once, and counted as often as it is told.
func TestSpellingsAreToldOnceForEachCall(t *testing.T) {
	for _, c := range []struct{ call, want string }{
		{`call Read {"path":"a"}`, "path for file_path"},
		{`call read {"file_path":"a"}`, "read for Read"},
		{`call read_file {"filename":"a"}`, "read_file for Read, filename for file_path"},
		{`call Bash {"command":["echo","x"]}`, "command as a list"},
		{`call Bash {"arguments":{"command":"echo x"}}`, "the arguments inside arguments"},
		{`call Read {"file_path":"a","limit":"5"}`, "limit as text"},
		{`call Read {"file_path":"a"}`, ""},
	} {
		w := start(t, script(c.call, "say done"), func(c *Config) { c.Harness = named(t, "claude-code") })
		w.file("a", "text")
		ended := w.prompt("go")
		got := told(w, event.OtherSpelling)
		if strings.Join(got, "|") != c.want || ended.Recovered[event.OtherSpelling] != len(got) {
			t.Errorf("%s: told %q, counted %v", c.call, got, ended.Recovered)
		}
	}
	w := start(t, script("miscall Bash {\"command\":\"echo x\",}", "say done"), func(c *Config) { c.Harness = named(t, "claude-code") })
	ended := w.prompt("go")
	if got := ended.Recovered; got[event.OtherSpelling]+got[event.CallAsText] != 1 {
		t.Errorf("a comma too many: told %+v, counted %v", bodies[event.Recovered](w.log), got)
	}
}

// What was said of tries adds up: each has its number, and the end names as many.
func TestTriesAreCountedOnce(t *testing.T) {
	empty, thought := "tokens 5 9", "think Hm.\ntokens 5 9"
	for _, c := range []struct {
		replies []string
		waits   string
		over    string
	}{
		{[]string{empty, empty, empty, empty}, "1/3 2/3 3/3", "gave an empty answer, 4 times in a row"},
		{[]string{thought, thought, thought, thought}, "1/3 2/3 3/3", "gave no answer 4 times in a row: 3 times only thoughts, once nothing at all"}, // it may not think in the last
		{[]string{thought, empty, empty, empty}, "1/3 2/3 3/3", "gave no answer 4 times in a row: once only thoughts, 3 times nothing at all"},
	} {
		w := start(t, script(append(c.replies, "say late")...))
		err := w.Prompt(context.Background(), chat.Message{Text: "go"})
		var waits []string
		for _, wait := range bodies[event.Waited](w.log) {
			waits = append(waits, fmt.Sprintf("%d/%d", wait.Attempt, wait.Limit))
		}
		if strings.Join(waits, " ") != c.waits || err == nil || !strings.HasSuffix(err.Error(), c.over) {
			t.Errorf("%q: waits %q, error %v", c.replies, waits, err)
		}
	}
}

// An answer whose last call was cut off runs the ones before it, and says which was not run.
func TestWhichCallWasCutIsTold(t *testing.T) {
	w := start(t, script("raw <<END\n<tool_call>{\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}</tool_call>\n"+
		"<tool_call>{\"name\":\"read\",\"arguments\":{\"path\":\"b\"}}</tool_call>\n<tool_call>\n{\"name\":\"edit\",\"arguments\":{\"path\":\"c\",\"old\":\nEND", "say done"))
	w.file("a", "text")
	w.file("b", "text")
	w.prompt("go")
	warned := bodies[event.Warned](w.log)
	if len(warned) != 1 || warned[0].Text != "the answer was cut off inside a call of edit, which was not run; the 2 calls before it are run" {
		t.Errorf("warned %+v", warned)
	}
	if did := bodies[event.Did](w.log); len(did) != 2 || did[0].Status != event.Completed {
		t.Errorf("did %+v", did)
	}
}

// A harness of texts tells a reply without a command, and one in another family's form, for what they are.
func TestTextHarnessesTellWhatTheyMended(t *testing.T) {
	foreign := "raw <tool_call>{\"name\":\"bash\",\"arguments\":{\"command\":\"echo hi\"}}</tool_call>"
	for name, last := range map[string]string{
		"mini-swe-agent@text": "say <<END\n```mswea_bash_command\necho COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT\n```\nEND",
		"swe-agent":           "say <<END\n```\nsubmit\n```\nEND",
	} {
		w := start(t, script("say I would look first.", foreign, last, last), func(c *Config) { c.Harness = named(t, name) })
		ended := w.prompt("say hi")
		if got := told(w, event.UnreadableCall); len(got) != 1 || len(told(w, event.EarlyStop)) != 0 {
			t.Errorf("%s: told %q and %+v", name, got, bodies[event.Recovered](w.log))
		}
		if got := told(w, event.OtherSpelling); len(got) != 1 || !strings.HasPrefix(got[0], "in Hermes tags") || ended.Reason != event.Finished {
			t.Errorf("%s: told %q, %+v", name, got, ended)
		}
	}
}

// The count of unreadable answers is of answers, not of rows of them.
func TestUnreadableAnswersAreCountedEach(t *testing.T) {
	bad := "say no command here"
	w := start(t, script(bad, bad, bad, "say <<END\n```\necho hi\n```\nEND", "say <<END\n```\nexit\n```\nEND"), func(c *Config) { c.Harness = named(t, "swe-agent") })
	ended := w.prompt("go")
	if ended.Recovered[event.UnreadableCall] != 3 || ended.Reason != event.Finished {
		t.Errorf("got %+v", ended)
	}
}

// Every mend that is counted is told, and the other way round.
func TestTalliesAreTold(t *testing.T) {
	w := start(t, script(read("a"), read("a"), read("a"), call("edit", map[string]any{"path": "a", "old": "one\n  two", "new": "three"}), "say x\nfinish length", "say done"))
	w.file("a", "one\n\ttwo\n")
	ended := w.prompt("go")
	counted := map[string]int{}
	for _, r := range bodies[event.Recovered](w.log) {
		counted[r.What] += max(r.Times, 1)
	}
	if fmt.Sprint(counted) != fmt.Sprint(ended.Recovered) || counted[event.Repetition] == 0 || counted[event.CutAnswer] == 0 {
		t.Errorf("told %v, counted %v", counted, ended.Recovered)
	}
}
