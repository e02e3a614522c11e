package harness

import (
	"encoding/json"
	"reflect"
	"testing"

	"interpreter/local/chat"
)

func asked(ids ...string) chat.Message {
	m := chat.Message{Role: chat.Assistant}
	for _, id := range ids {
		m.Calls = append(m.Calls, chat.Call{ID: id, Name: "t", Args: json.RawMessage(`{"a": 1}`)})
	}
	return m
}

func answer(id, text string) chat.Message {
	return chat.Message{Role: chat.Tool, Result: &chat.Result{CallID: id, Name: "t", Text: text}}
}

func saying(text string) chat.Message { return chat.Message{Role: chat.User, Text: text} }

// brief writes a conversation so that it can be compared at a glance.
func brief(ms []chat.Message) []string {
	var out []string
	for _, m := range ms {
		switch {
		case m.Result != nil:
			out = append(out, "= "+m.Result.CallID+" "+m.Result.Text)
		case len(m.Calls) > 0:
			line := "?"
			for _, c := range m.Calls {
				line += " " + c.ID
			}
			out = append(out, line)
		default:
			out = append(out, string(m.Role)+" "+m.Text)
		}
	}
	return out
}

func TestPaired(t *testing.T) {
	for _, tt := range []struct {
		about string
		in    []chat.Message
		want  []string
	}{
		{"whole", []chat.Message{saying("hi"), asked("a"), answer("a", "1"), {Role: chat.Assistant, Text: "ok"}}, []string{"user hi", "? a", "= a 1", "assistant ok"}},
		{"a reused id (st-28)", []chat.Message{asked("call_0"), answer("call_0", "a"), asked("call_0"), answer("call_0", "b")}, []string{"? call_0", "= call_0 a", "? call_0_2", "= call_0_2 b"}},
		{"the same id twice in one answer", []chat.Message{asked("x", "x"), answer("x", "1"), answer("x", "2")}, []string{"? x x_2", "= x 1", "= x_2 2"}},
		{"results out of order", []chat.Message{asked("a", "b"), answer("b", "2"), answer("a", "1")}, []string{"? a b", "= a 1", "= b 2"}},
		{"a missing result", []chat.Message{asked("a", "b"), answer("b", "2"), saying("go on")}, []string{"? a b", "= a " + NoResult, "= b 2", "user go on"}},
		{"a word between", []chat.Message{asked("a"), saying("hurry"), answer("a", "1")}, []string{"? a", "= a 1", "user hurry"}},
		{"an orphan", []chat.Message{saying("hi"), answer("z", "1"), asked("a"), answer("a", "1"), answer("a", "again")}, []string{"user hi", "? a", "= a 1"}},
		{"an empty answer", []chat.Message{saying("hi"), {Role: chat.Assistant, Thinking: "hm"}, saying("hello?")}, []string{"user hi", "user hello?"}},
		{"no id", []chat.Message{asked("", ""), answer("", "1"), answer("", "2")}, []string{"? call call_2", "= call 1", "= call_2 2"}},
		{"a later system message (st-29)", []chat.Message{saying("hi"), {Role: chat.System, Text: "S3"}}, []string{"user hi", "user S3"}},
	} {
		if got := brief(Paired(tt.in)); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s:\ngot  %q\nwant %q", tt.about, got, tt.want)
		}
	}
}

func TestPairedKeepsArguments(t *testing.T) {
	in := []chat.Message{asked("a")}
	in[0].Calls[0].Args = json.RawMessage(`{"b" : "<x>",  "a":1}`)
	if got := string(Paired(in)[0].Calls[0].Args); got != `{"b" : "<x>",  "a":1}` {
		t.Errorf("arguments became %s", got)
	}
	for _, bad := range []string{``, `[1]`, `{"a":`, `"x"`} {
		in[0].Calls[0].Args = json.RawMessage(bad)
		if got := string(Paired(in)[0].Calls[0].Args); got != "{}" {
			t.Errorf("%q became %s", bad, got)
		}
		if string(in[0].Calls[0].Args) != bad {
			t.Error("the transcript given was changed")
		}
	}
}

// A conversation that began under a harness with native calls goes on as text: what was called stays to be seen, and each
// answer says something.
func TestCallsBecomeTextWhereNoToolsAreOffered(t *testing.T) {
	call := asked("a", "b")
	call.Calls[0].Args = json.RawMessage(`{"cmd": "ls"}`)
	written := asked("c")
	written.Written = "I look.\n```\nls\n```"
	got := Harness{Text: true}.Request(Environment{}, nil, nil, []chat.Message{saying("hi"), call, answer("a", "1"), answer("b", "2"), written, answer("c", "3")}, 0).Messages
	want := []string{"user hi", "assistant [called t with {\"cmd\": \"ls\"}]\n\n[called t with {\"a\": 1}]", "user 1\n\n2", "assistant " + written.Written, "user 3"}
	if !reflect.DeepEqual(brief(got), want) {
		t.Errorf("got  %q\nwant %q", brief(got), want)
	}
}
