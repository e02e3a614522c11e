package practice

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"interpreter/local/chat"
)

// heard is an answer put together.
type heard struct {
	text, thinking string
	calls          []chat.Call
	finish         chat.Finish
	usage          chat.Usage
	err            *chat.Error
}

func ask(t *testing.T, m chat.Model, req chat.Request) heard {
	t.Helper()
	var h heard
	for d, err := range m.Stream(t.Context(), req) {
		if err != nil {
			if !errors.As(err, &h.err) {
				t.Fatalf("error of another type: %v", err)
			}
			continue
		}
		h.text += d.Text
		h.thinking += d.Thinking
		if d.Call != nil {
			h.calls = append(h.calls, *d.Call)
		}
		if d.Usage != nil {
			h.finish, h.usage = d.Finish, *d.Usage
		}
	}
	return h
}

func user(text string) chat.Message      { return chat.Message{Role: chat.User, Text: text} }
func assistant(text string) chat.Message { return chat.Message{Role: chat.Assistant, Text: text} }
func result(text string) chat.Message {
	return chat.Message{Role: chat.Tool, Result: &chat.Result{Text: text}}
}
func calling(name string) chat.Message {
	return chat.Message{Role: chat.Assistant, Calls: []chat.Call{{ID: "1", Name: name, Args: json.RawMessage("{}")}}}
}
func asking(messages ...chat.Message) chat.Request { return chat.Request{Messages: messages} }

const twoTurns = `
reply
  say I look.
  call read {"path":"a"}
reply
  want ^(\w+) is here
  say Found $1 for $HOME.
  call write {"path":"$1","text":"<$1>"}
reply
  say Done.
`

func TestModelFollowsTheConversation(t *testing.T) {
	m := NewModel(parsed(t, twoTurns))
	first := ask(t, m, asking(user("go")))
	if first.text != "I look." || len(first.calls) != 1 || string(first.calls[0].Args) != `{"path":"a"}` || first.finish != chat.Stopped {
		t.Errorf("first: %+v", first)
	}
	said := chat.Message{Role: chat.Assistant, Text: first.text, Calls: first.calls}
	for range 2 { // the same conversation gets the same reply, a retry or a resumed session included
		second := ask(t, m, asking(user("go"), said, result(`"quoted"`), result("Ada is here")))
		if second.text != "Found Ada for $HOME." || string(second.calls[0].Args) != `{"path":"Ada","text":"<Ada>"}` {
			t.Errorf("second: %+v", second)
		}
	}
	if got := ask(t, m, asking(user("go"), said, result("x"), said, result("x"))); got.text != "Done." {
		t.Errorf("third: %+v", got)
	}
	if got := ask(t, m, asking(user("go"), said, user("."), said, user("."), said, user("."))); got.text != Lost {
		t.Errorf("past the end: %+v", got)
	}
	if got := len(m.Requests()); got != 5 {
		t.Errorf("%d requests recorded, want 5", got)
	}
}

func TestModelSaysWhatItWanted(t *testing.T) {
	m := NewModel(parsed(t, "reply\n want ^ok\n want-not FAIL\n say fine\n"))
	got := ask(t, m, asking(user("no")))
	if got.err == nil || got.err.Kind != chat.Invalid || !strings.HasPrefix(got.err.Detail, "practice: wanted ^ok (line 2 of the script), got") || len(m.Failures()) != 1 {
		t.Errorf("%+v, failures %q", got, m.Failures())
	}
	if got := ask(t, m, asking(user("ok\nFAIL"))); got.err == nil || !strings.Contains(got.err.Detail, "wanted not FAIL") || len(m.Failures()) != 2 {
		t.Errorf("%+v, failures %q", got, m.Failures())
	}
	if got := ask(t, m, asking(user("first\nok"))); got.text != "fine" || len(m.Failures()) != 2 {
		t.Errorf("%q, failures %q", got.text, m.Failures())
	}
}

func TestOpeningOfAHarnessIsNoReply(t *testing.T) {
	m := NewModel(parsed(t, twoTurns))
	opening := []chat.Message{user("where you are"), assistant("Got it."), user("go")}
	if got := ask(t, m, asking(opening...)); got.text != "I look." {
		t.Errorf("after an opening: %q", got.text)
	}
	if got := ask(t, m, asking(append(opening, calling("read"), result("Ada is here"))...)); got.text != "Found Ada for $HOME." {
		t.Errorf("after an opening and a reply: %q", got.text)
	}
	split := []chat.Message{user("go"), assistant("I look."), calling("read"), result("Ada is here")}
	if got := ask(t, m, asking(split...)); got.text != "Found Ada for $HOME." {
		t.Errorf("a reply in two messages: %q", got.text)
	}
}

// A harness that speaks in text has no calls in its conversation, and on some wires a broken call comes as text: a reply
// made of such counts all the same.
func TestCallsThatBecameTextCount(t *testing.T) {
	for name, c := range map[string]struct{ script, said string }{
		"told as text": {"reply\n call bash {\"command\":\"ls\"}\nreply\n say two\n", `[called bash with {"command":"ls"}]`},
		"told with prose": {"reply\n say I look.\n call bash {\"command\":\"ls\"}\nreply\n say two\n",
			"I look.\n\n[called bash with {\"command\":\"ls\"}]"},
		"broken":            {"reply\n miscall bash {\"command\":\nreply\n say two\n", leaked(chat.Call{Name: "bash", Raw: `{"command":`})},
		"broken, told":      {"reply\n miscall bash {\"command\":\nreply\n say two\n", "[called bash with {}]"},
		"broken, with text": {"reply\n say Hm.\n miscall bash {\nreply\n say two\n", "Hm." + leaked(chat.Call{Name: "bash", Raw: "{"})},
	} {
		m := NewModel(parsed(t, c.script))
		if got := ask(t, m, asking(user("go"), assistant(c.said), user("OBSERVATION:\na.txt"))); got.text != "two" {
			t.Errorf("%s: %q, %d calls", name, got.text, len(got.calls))
		}
	}
}

// The check of a harness that speaks in text is never answered with a reply meant for the work.
func TestSpokenCheckTakesNoReply(t *testing.T) {
	check := asking(user("You write commands.\n\nRun exactly this one command, in the form you were told to use: " + spokenCommand))
	m := NewModel(parsed(t, "capabilities completion\nreply\n say first\n"))
	if got := ask(t, m, check); got.err == nil || got.err.Status != 400 || !strings.Contains(got.err.Error(), "needs `check spoken <<END …`") {
		t.Errorf("a script without: %q, %v", got.text, got.err)
	}
	if got := ask(t, m, asking(user("go"))); got.text != "first" {
		t.Errorf("after it: %q", got.text)
	}
	m = NewModel(parsed(t, "check fail No.\nreply\n say first\n"))
	if got := ask(t, m, check); got.text != "No." {
		t.Errorf("a script that fails it: %q", got.text)
	}
	m = NewModel(parsed(t, "check spoken RUN it\nreply\n say first\n"))
	if got := ask(t, m, check); got.text != "RUN it" {
		t.Errorf("a script with: %q", got.text)
	}
}

func TestFailingRepliesShareAPlace(t *testing.T) {
	m := NewModel(parsed(t, `
reply
  status 429 slow down
  retry-after 7
reply
  say half
  cut
  times 2
reply
  say half
  error out of memory
reply
  say whole
reply
  say next
reply
  status 503
`))
	want := []struct {
		kind  chat.Kind
		text  string
		after time.Duration
	}{
		{chat.Busy, "", 7 * time.Second}, {chat.Broken, "half", 0}, {chat.Broken, "half", 0}, {chat.Server, "half", 0}, {"", "whole", 0}, {"", "whole", 0},
	}
	for i, w := range want {
		got := ask(t, m, asking(user("go")))
		if w.kind == "" && got.err != nil || w.kind != "" && (got.err == nil || got.err.Kind != w.kind || got.err.RetryAfter != w.after) || got.text != w.text {
			t.Errorf("attempt %d: %+v, error %v", i+1, got, got.err)
		}
	}
	if got := ask(t, m, asking(user("go"), assistant("whole"), user("on"))); got.text != "next" {
		t.Errorf("next place: %+v", got)
	}
	for range 3 {
		got := ask(t, m, asking(user("go"), assistant("whole"), user("on"), assistant("next"), user("on")))
		if got.err == nil || got.err.Kind != chat.Busy || got.err.Status != 503 {
			t.Errorf("a place without an answer: %+v", got)
		}
	}
}

func TestMalformedComesOnce(t *testing.T) {
	m := NewModel(parsed(t, "reply\n say a\n malformed {\"x\n say b\n"))
	if got := ask(t, m, asking(user("go"))); got.err == nil || got.err.Kind != chat.Broken || got.text != "a" {
		t.Errorf("first: %+v", got)
	}
	if got := ask(t, m, asking(user("go"))); got.err != nil || got.text != "ab" {
		t.Errorf("second: %+v", got)
	}
}

func TestRepliesByRequest(t *testing.T) {
	m := NewModel(parsed(t, "follow requests\nreply\n say a\nreply\n status 500\nreply\n say b\n"))
	var got []string
	for range 4 {
		h := ask(t, m, asking(user("the same")))
		if h.err != nil {
			h.text = string(h.err.Kind)
		}
		got = append(got, h.text)
	}
	if strings.Join(got, " ") != "a server b "+Lost {
		t.Errorf("%q", got)
	}
}

func TestStallAndPauseUseTheClockGiven(t *testing.T) {
	m := NewModel(parsed(t, "reply\n stall 5m\n say a\n pause 1h\n say b\n"))
	var slept time.Duration
	m.Sleep = func(_ context.Context, d time.Duration) error { slept += d; return nil }
	if got := ask(t, m, asking(user("go"))); got.text != "ab" || slept != 65*time.Minute {
		t.Errorf("%q after %v", got.text, slept)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	m = NewModel(parsed(t, "reply\n say a\n pause 1h\n say b\n"))
	var last error
	for d, err := range m.Stream(ctx, asking(user("go"))) {
		if last = err; d.Text == "a" {
			cancel()
		}
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("cancelled in a pause: %v", last)
	}
}

func TestThinkingCountsAndCanBeSwitchedOff(t *testing.T) {
	m := NewModel(parsed(t, "think Hm, let me see.\nreply\n say a\nreply\n think My own.\n say b\n tokens 900 70\n finish length\n"))
	if got := ask(t, m, asking(user("go"))); got.thinking != "Hm, let me see." || got.usage.Reasoning == 0 || got.usage.Input != 1 {
		t.Errorf("%+v", got)
	}
	req := asking(user("go"))
	req.Effort = "none"
	if got := ask(t, m, req); got.thinking != "" || got.text != "a" {
		t.Errorf("switched off: %+v", got)
	}
	got := ask(t, m, asking(user("go"), assistant("a"), user("on")))
	if got.thinking != "My own." || got.usage.Input != 900 || got.usage.Output != 70 || got.finish != chat.CutShort {
		t.Errorf("its own: %+v", got)
	}
}

func TestRefusals(t *testing.T) {
	m := NewModel(parsed(t, "capabilities completion\nreply\n say a\n"))
	tools := chat.Request{Messages: []chat.Message{user("go")}, Tools: []chat.Spec{{Name: "x"}}}
	long := asking(user(strings.Repeat("x", 4000)))
	long.Window = 999
	effort := asking(user("go"))
	effort.Effort = "high"
	for kind, req := range map[chat.Kind]chat.Request{chat.NoTools: tools, chat.Overflow: long, chat.NoThinking: effort} {
		if got := ask(t, m, req); got.err == nil || got.err.Kind != kind {
			t.Errorf("%s: %+v", kind, got)
		}
	}
}

func probing(messages ...chat.Message) chat.Request {
	return chat.Request{Messages: messages, Tools: []chat.Spec{{Name: "probe_sum"}, {Name: "lookup_city"}}}
}

func TestToolCheckPassesByRule(t *testing.T) {
	m := NewModel(parsed(t, "reply\n say a\n"))
	got := ask(t, m, probing(user("Add 4 and 09, please.")))
	if len(got.calls) != 1 || got.calls[0].Name != "probe_sum" || string(got.calls[0].Args) != `{"a":4,"b":9}` || got.text != "" {
		t.Errorf("call: %+v", got)
	}
	got = ask(t, m, probing(user("Add 4 and 9."), calling("probe_sum"), result("QX-31Z")))
	if !strings.Contains(got.text, "QX-31Z") || len(got.calls) != 0 {
		t.Errorf("receipt: %+v", got)
	}
	got = ask(t, m, probing(user("Use the probe_write tool to file this:\n\"a\" < b\\c\n</x>")))
	if len(got.calls) != 1 || got.calls[0].Name != "probe_write" || string(got.calls[0].Args) != `{"path":"probe.txt","text":"\"a\" < b\\c\n</x>"}` {
		t.Errorf("payload: %+v", got)
	}
	if got = ask(t, m, probing(user("Which day comes after Monday?"))); len(got.calls) != 0 || got.text != "Tuesday." {
		t.Errorf("no call: %+v", got)
	}
	if got := ask(t, m, asking(user("go"))); got.text != "a" {
		t.Errorf("the check took a place of the script: %+v", got)
	}
	m = NewModel(parsed(t, "check leak\nreply\n say a\n"))
	if got := ask(t, m, probing(user("Add 4 and 9."))); len(got.calls) != 0 || got.text != "<tool_call>\n{\"name\": \"probe_sum\", \"arguments\": {\"a\":4,\"b\":9}}\n</tool_call>" {
		t.Errorf("leaking check: %+v", got)
	}
	m = NewModel(parsed(t, "check fail I have no tools.\nreply\n say a\n"))
	if got := ask(t, m, probing(user("Add 4 and 9."))); got.text != "I have no tools." || len(got.calls) != 0 {
		t.Errorf("failing check: %+v", got)
	}
}

func TestPiecesKeepEveryByte(t *testing.T) {
	for _, text := range []string{"", "a", strings.Repeat("word ", 40), strings.Repeat("é", 100), "a\n" + strings.Repeat("x", 80) + "\nb c"} {
		if got := strings.Join(pieces(text), ""); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	if n := len(pieces(strings.Repeat("word ", 40))); n < 4 {
		t.Errorf("%d pieces of 200 bytes", n)
	}
}
