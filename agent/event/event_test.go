package event

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"interpreter/local/chat"
	"interpreter/sandbox"
	"interpreter/sandbox/action"
)

var args = json.RawMessage(`{"b": 1,  "a": "<&>\u00e9"}`)

// every is one of each body.
func every() []Body {
	call := chat.Call{ID: "c1", Name: "edit", Args: args}
	message := chat.Message{Role: chat.Assistant, Text: "a<b", Thinking: "hm", Calls: []chat.Call{call}}
	user := chat.Message{Role: chat.User, Text: "hi", Images: []chat.Image{{MIME: "image/png", Data: []byte{0, 1}}}}
	need := action.Need{Effect: action.Runs, Script: "make", Escalate: true, Prefix: []string{"make"}}
	return []Body{
		Begun{ID: "s", Dir: "/w", Source: "exec", Commit: "abc"},
		Opened{Harness: "h", Model: "m", Window: 9, Messages: []chat.Message{{Role: chat.System, Text: "be"}}, Tools: []chat.Spec{{Name: "edit", Parameters: json.RawMessage(`{"type": "object"}`)}}},
		TurnStarted{ID: "t", Dir: "/w", Harness: "h", Why: "name", Network: true},
		Prompted{Message: user, Steered: true},
		Injected{Message: user, Why: "nudge"},
		Heard{Text: "x", Thinking: "y"},
		Said{Message: message, Finish: chat.Stopped, Usage: chat.Usage{Input: 3, Decode: time.Second}},
		Waited{Wait: chat.Wait{Attempt: 1, Limit: 2, For: time.Second, Why: "busy"}},
		Started{CallID: "c1", Tool: "edit", Title: "edit x", Need: need},
		Printed{CallID: "c1", Text: "out"},
		Did{CallID: "c1", Tool: "edit", Outcome: action.Changed{Files: []action.FileChange{{Path: "x", Kind: action.Modified, Diff: "-a\n+b"}}, Spots: 1}, Status: Completed, Words: "ok", Took: 7, By: ByRule, Remedy: "--add-dir /x"},
		Tried{CallID: "c1", Outcome: action.Ran{Script: "make", Exit: sandbox.Exit{Code: 6}, Output: "<no>", Refused: []sandbox.Refusal{{Text: "the network is off", Network: true}}, Opened: sandbox.Opened{Paths: []string{"/x"}}}},
		Asked{ID: "q", CallID: "c1", Title: "run make", Need: need, Why: "it asks", Class: "rules", Dir: "/w", Blocked: []string{"the network"}, Would: "it runs",
			Files: []File{{"/x", "outside"}}, Parts: []Part{{Argv: []string{"make"}}}, Choices: []Choice{{Decision: "prefix", Text: "yes", Prefix: []string{"make"}}}},
		Answered{ID: "q", Decision: "no", Note: "later"},
		Warned{Text: "w", Remedy: "r"},
		Recovered{What: "x", Detail: "y"},
		Compacted{Messages: []chat.Message{user, message}, Before: 9, After: 3, Usage: chat.Usage{Input: 1}},
		TurnEnded{ID: "t", Reason: Finished, Final: "done", Usage: chat.Usage{Output: 5}, Took: 3},
		Foreign{Type: "event_msg", Payload: json.RawMessage(`{"v":9}`)},
	}
}

func TestEveryBodyComesBack(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC)
	for i, b := range every() {
		if !Kept(b) {
			continue
		}
		line, err := Encode(Event{Seq: i, Time: at, Body: b})
		if err != nil {
			t.Fatal(err)
		}
		if bytes.ContainsAny(line, "\n\x00") || bytes.Contains(line, []byte(`\u003c`)) {
			t.Errorf("%s: not one plain line: %s", b.Kind(), line)
		}
		if !bytes.HasPrefix(line, []byte(`{"timestamp":"2026-01-02T03:04:05.678Z","type":"`+b.Kind()+`","payload":`)) {
			t.Errorf("%s: envelope %s", b.Kind(), line)
		}
		got, err := Decode(line)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got.Body, b) || !got.Time.Equal(at) {
			t.Errorf("%s: got %#v, want %#v", b.Kind(), got.Body, b)
		}
	}
}

// The list above must name every type of event.go that has a Kind.
func TestEveryIsEvery(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "event.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, b := range every() {
		seen[reflect.TypeOf(b).Name()] = true
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == "Kind" {
			if name := f.Recv.List[0].Type.(*ast.Ident).Name; !seen[name] {
				t.Errorf("%s is not tested", name)
			}
		}
	}
}

func TestEveryOutcomeComesBack(t *testing.T) {
	for _, o := range []action.Outcome{
		action.Ran{Script: "ls", Exit: sandbox.Exit{Code: 2}, Output: "x"}, action.Seen{Path: "a", Text: "b", First: 1},
		action.Changed{Same: true}, action.Found{What: "lines", Hits: []action.Hit{{Path: "p", Line: 3}}},
		action.Fetched{URL: "u"}, action.Told{Text: "t"}, action.Planned{Items: []action.PlanItem{{Text: "x", Status: "pending"}}},
	} {
		line, err := Encode(Event{Body: Did{CallID: "c", Outcome: o}})
		if err != nil {
			t.Fatal(err)
		}
		got, err := Decode(line)
		if err != nil || !reflect.DeepEqual(got.Body.(Did).Outcome, o) {
			t.Errorf("got %#v, want %#v (%v)", got.Body, o, err)
		}
	}
}

func TestUnknownPayloadsAreKept(t *testing.T) {
	for _, line := range []string{
		`{"timestamp":"2026-01-02T03:04:05Z","type":"future_thing","payload":{"v":[1,2]}}`,
		`{"timestamp":"yesterday","type":"said","payload":"not an object"}`,
		`{"timestamp":"2026-01-02T03:04:05Z","type":"response_item","payload":{"type":"web_search_call"}}`,
	} {
		e, err := Decode([]byte(line))
		f, ok := e.Body.(Foreign)
		if err != nil || !ok {
			t.Fatalf("%s: %#v, %v", line, e.Body, err)
		}
		again, err := Encode(Event{Body: f})
		if err != nil || !strings.Contains(line, f.Type) || !strings.Contains(string(again), string(f.Payload)) {
			t.Errorf("%s became %s", line, again)
		}
	}
	for _, line := range []string{``, `{}`, `[]`, `{"timestamp":"x"`} {
		if e, err := Decode([]byte(line)); err == nil {
			t.Errorf("%q was read as %#v", line, e)
		}
	}
}

func said(ids ...string) Said {
	s := Said{Message: chat.Message{Role: chat.Assistant, Text: "t"}, Finish: chat.Stopped, Usage: chat.Usage{Input: 1, Output: 1}}
	for _, id := range ids {
		s.Message.Calls = append(s.Message.Calls, chat.Call{ID: id, Name: "n", Args: args})
	}
	return s
}

func ask(text string) Prompted {
	return Prompted{Message: chat.Message{Role: chat.User, Text: text}}
}

func sketch(messages []chat.Message) string {
	var out []string
	for _, m := range messages {
		text := string(m.Role[0]) + ":" + m.Text
		if m.Result != nil {
			text = "t:" + m.Result.CallID + "=" + m.Result.Text
		}
		for _, c := range m.Calls {
			text += "+" + c.ID
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

func TestTranscript(t *testing.T) {
	tests := []struct {
		name   string
		bodies []Body
		want   string
	}{
		{"results follow in call order", []Body{ask("p"), said("a", "b"), Did{CallID: "b", Words: "2"}, Did{CallID: "a", Words: "1"}, said()}, "u:p a:t+a+b t:a=1 t:b=2 a:t"},
		{"a second result of a call is dropped", []Body{ask("p"), said("a"), Did{CallID: "a", Words: "1"}, Did{CallID: "a", Words: "2"}}, "u:p a:t+a t:a=1"},
		{"a result without a call is dropped", []Body{ask("p"), Did{CallID: "x", Words: "1"}, said()}, "u:p a:t"},
		{"a call without a result gets one", []Body{ask("p"), said("a", "b"), Did{CallID: "a", Words: "1"}}, "u:p a:t+a+b t:a=1 t:b=" + NoResult},
		{"before the next prompt as well", []Body{ask("p"), said("a"), ask("q")}, "u:p a:t+a t:a=" + NoResult + " u:q"},
		{"compaction replaces what was before", []Body{ask("p"), said("a"), Compacted{Messages: []chat.Message{{Role: chat.User, Text: "s"}}}, said()}, "u:s a:t"},
		{"what is foreign says nothing", []Body{ask("p"), Foreign{Type: "x"}, Warned{}, said()}, "u:p a:t"},
		{"turns can be taken back", []Body{ask("p"), said(), ask("q"), said("a"), Foreign{Type: "event_msg", Payload: json.RawMessage(`{"type":"thread_rolled_back","num_turns":1}`)}, ask("r")}, "u:p a:t u:r"},
	}
	for _, tt := range tests {
		var events []Event
		for _, b := range tt.bodies {
			events = append(events, Event{Body: b})
		}
		if _, messages, _ := Transcript(events); sketch(messages) != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, sketch(messages), tt.want)
		}
	}
}

func TestFoldGrowsOnlyAtItsEnd(t *testing.T) {
	var f Fold
	last := []chat.Message{}
	for i, b := range []Body{ask("p"), said("a", "b"), Did{CallID: "a", Words: "1"}, Did{CallID: "b", Words: "2"}, ask("steer"), said("c"), ask("q"), said()} {
		f.Add(Event{Body: b})
		if len(f.Open()) > 0 {
			continue // no request is made while calls are open
		}
		now := f.Messages()
		if len(now) < len(last) || !reflect.DeepEqual(now[:len(last)], last) {
			t.Errorf("after %d: %s is no beginning of %s", i, sketch(last), sketch(now))
		}
		last = now
	}
}

const rollout = `{"timestamp":"2026-01-02T03:04:05Z","type":"session_meta","payload":{"id":"u1","cwd":"/w","source":{"subagent":"review"},"git":{"commit_hash":"abc","branch":"main"}}}
{"timestamp":"2026-01-02T03:04:05Z","type":"turn_context","payload":{"cwd":"/w","model":"m","approval_policy":"never","sandbox_policy":{"type":"read-only"}}}
{"timestamp":"2026-01-02T03:04:05Z","type":"response_item","payload":{"type":"message","role":"developer","content":[{"type":"input_text","text":"rules"}]}}
{"timestamp":"2026-01-02T03:04:05Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>x</environment_context>"}]}}
{"timestamp":"2026-01-02T03:04:05Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"fix"},{"type":"input_image","image_url":"data:image/png;base64,AAE="}]}}
{"timestamp":"2026-01-02T03:04:05Z","type":"event_msg","payload":{"type":"user_message","message":"fix"}}
{"timestamp":"2026-01-02T03:04:05Z","type":"response_item","payload":{"type":"reasoning","summary":[{"type":"summary_text","text":"think"}]}}
{"timestamp":"2026-01-02T03:04:05Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"looking"}]}}
{"timestamp":"2026-01-02T03:04:05Z","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"cmd\": \"ls\"}","call_id":"k1"}}
{"timestamp":"2026-01-02T03:04:05Z","type":"response_item","payload":{"type":"custom_tool_call","name":"apply_patch","input":"*** x","call_id":"k2"}}
{"timestamp":"2026-01-02T03:04:05Z","type":"response_item","payload":{"type":"function_call_output","call_id":"k1","output":"a.go"}}
{"timestamp":"2026-01-02T03:04:05Z","type":"response_item","payload":{"type":"custom_tool_call_output","call_id":"k2","output":{"output":"done","metadata":{}}}}
{"timestamp":"2026-01-02T03:04:05Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"fixed"}]}}`

func TestCodexRolloutsFoldToTheSameConversation(t *testing.T) {
	var events []Event
	for line := range strings.Lines(rollout) {
		e, err := Decode([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	_, messages, _ := Transcript(events)
	if got, want := sketch(messages), "u:fix a:looking+k1+k2 t:k1=a.go t:k2=done a:fixed"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if begun := events[0].Body.(Begun); begun.Commit != "abc" || begun.Branch != "main" || begun.Dir != "/w" {
		t.Errorf("got %+v", begun)
	}
	first := messages[1]
	if first.Thinking != "think" || string(first.Calls[0].Args) != `{"cmd": "ls"}` || string(first.Calls[1].Args) != `{"input":"*** x"}` {
		t.Errorf("got %+v", first)
	}
	if len(messages[0].Images) != 1 || messages[0].Images[0].MIME != "image/png" || !bytes.Equal(messages[0].Images[0].Data, []byte{0, 1}) {
		t.Errorf("image: %+v", messages[0].Images)
	}
	e, err := Decode([]byte(`{"timestamp":"x","type":"compacted","payload":{"message":"","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]},{"type":"message","role":"assistant","content":"b"}]}}`))
	if err != nil || sketch(e.Body.(Compacted).Messages) != "u:a a:b" {
		t.Errorf("compacted: %#v, %v", e.Body, err)
	}
	e, _ = Decode([]byte(`{"timestamp":"x","type":"compacted","payload":{"message":"sum"}}`))
	if sketch(e.Body.(Compacted).Messages) != "u:sum" {
		t.Errorf("compacted: %#v", e.Body)
	}
}

func TestLogKeepsOrderAndReportsItsSink(t *testing.T) {
	var kept []int
	full := errors.New("disk full")
	var fail error
	l := NewLog(func(e Event) error {
		if fail != nil {
			return fail
		}
		kept = append(kept, e.Seq)
		return nil
	})
	for _, b := range []Body{Warned{}, Heard{Text: "a"}, Printed{}, Warned{}} {
		if err := l.Append(b); err != nil {
			t.Fatal(err)
		}
	}
	fail = full
	if err := l.Append(Warned{}); !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
	fail = nil
	l.Append(Warned{})
	if fmt.Sprint(kept) != "[0 1 2]" || len(l.Events()) != 3 {
		t.Errorf("kept %v, %d events", kept, len(l.Events()))
	}
	l.Close()
	if err := l.Append(Warned{}); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	l.Close()
}

func TestReadersReplayAndFollow(t *testing.T) {
	l := NewLog(nil)
	l.Append(Begun{})
	l.Append(Heard{Text: "old"})
	l.Append(Warned{Text: "0"})
	const readers, events = 8, 500
	var all sync.WaitGroup
	for r := range readers {
		from := l.From(context.Background(), r%2)
		all.Go(func() {
			next := r % 2
			for e := range from {
				if h, ok := e.Body.(Heard); ok {
					if h.Text == "old" {
						t.Error("an old piece was replayed")
					}
				}
				if !Kept(e.Body) {
					continue
				}
				if e.Seq != next {
					t.Errorf("got %d, want %d", e.Seq, next)
				}
				next++
			}
			if next != events+2 {
				t.Errorf("reader %d came to %d", r, next)
			}
		})
	}
	var writers sync.WaitGroup
	writers.Go(func() {
		for range events {
			l.Append(Heard{Text: "x"})
			l.Append(Warned{})
		}
	})
	writers.Go(func() {
		for range events {
			l.Append(Printed{Text: "y"})
		}
	})
	writers.Wait()
	l.Close()
	all.Wait()
}

func TestFastReadersMissNothing(t *testing.T) {
	l := NewLog(nil)
	from := l.From(context.Background(), 0)
	for i := range 100 {
		l.Append(Heard{Text: fmt.Sprint(i)})
	}
	l.Append(Said{})
	l.Close()
	n := 0
	for e := range from {
		switch b := e.Body.(type) {
		case Heard:
			if b.Text != fmt.Sprint(n) || e.Seq != 0 {
				t.Fatalf("got %+v at %d", e, n)
			}
			n++
		case Said:
			if n != 100 {
				t.Errorf("%d pieces before the whole", n)
			}
			n = -1
		}
	}
	if n != -1 {
		t.Error("the whole did not come")
	}
}

func TestSlowReadersLoseOnlyPieces(t *testing.T) {
	l := NewLog(nil)
	from := l.From(context.Background(), 0)
	for range 5 * looseEvents {
		l.Append(Heard{Text: "x"})
		l.Append(Warned{})
	}
	for range 5 {
		l.Append(Printed{Text: strings.Repeat("x", looseBytes)})
	}
	if len(l.loose) > 2*looseEvents || l.bytes > 3*looseBytes {
		t.Errorf("%d pieces of %d bytes are held", len(l.loose), l.bytes)
	}
	l.Close()
	kept := 0
	for e := range from {
		if Kept(e.Body) {
			kept++
		}
	}
	if kept != 5*looseEvents {
		t.Errorf("%d kept events arrived", kept)
	}
}

func TestReadersEndWithTheirContext(t *testing.T) {
	l := NewLog(nil)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan int)
	go func() {
		n := 0
		for range l.From(ctx, 0) {
			n++
			cancel()
		}
		done <- n
	}()
	l.Append(Begun{})
	if n := <-done; n != 1 {
		t.Errorf("%d events", n)
	}
}

func BenchmarkAppend(b *testing.B) {
	l := NewLog(func(e Event) error { _, err := Encode(e); return err })
	body := said("a")
	b.ReportAllocs()
	for b.Loop() {
		if err := l.Append(body); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendPiece(b *testing.B) {
	l := NewLog(nil)
	b.ReportAllocs()
	for b.Loop() {
		l.Append(Heard{Text: "a few letters"})
	}
}

func FuzzDecode(f *testing.F) {
	for line := range strings.Lines(rollout) {
		f.Add([]byte(line))
	}
	for _, b := range every() {
		line, err := Encode(Event{Body: b})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		e, err := Decode(line)
		if err != nil {
			return
		}
		Transcript([]Event{e, e})
		if _, err := Encode(e); err != nil {
			t.Errorf("what was read cannot be written: %v", err)
		}
	})
}
