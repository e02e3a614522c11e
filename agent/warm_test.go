package agent

import (
	"context"
	"errors"
	"iter"
	"reflect"
	"testing"
	"time"

	"interpreter/agent/event"
	"interpreter/local/chat"
	"interpreter/local/practice"
)

// begins checks that a request is another one and a tail.
func begins(t *testing.T, first, then chat.Request) {
	t.Helper()
	if len(then.Messages) < len(first.Messages) || !reflect.DeepEqual(then.Messages[:len(first.Messages)], first.Messages) {
		t.Errorf("the messages\n%+v\ndo not begin\n%+v", first.Messages, then.Messages)
	}
	if !reflect.DeepEqual(then.Tools, first.Tools) || first.Window != then.Window || first.Effort != then.Effort || !reflect.DeepEqual(first.Options, then.Options) || !reflect.DeepEqual(first.Extra, then.Extra) {
		t.Errorf("other tools or options:\n%+v\n%+v", first, then)
	}
}

// What a session has the server read beforehand is what its first request begins with, in a new session, before the
// next turn and in one that is resumed. The log knows nothing of it.
func TestWarm(t *testing.T) {
	script := "reply\n want go\n say one\nreply\n say two\nreply\n say three\n"
	options := func(c *Config) { c.Effort, c.Options = "low", map[string]any{"temperature": 0.2} }
	w := start(t, "capabilities completion tools thinking\n"+script, options)
	warm := func(w *world) chat.Request {
		t.Helper()
		events := len(w.log.Events())
		if err := w.Warm(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := len(w.log.Events()); n != events {
			t.Errorf("the log grew by %d events", n-events)
		}
		all := w.model.Requests()
		req := all[len(all)-1]
		if req.Output != 1 {
			t.Errorf("asked for %d tokens", req.Output)
		}
		return req
	}
	last := func(w *world) chat.Request { all := w.model.Requests(); return all[len(all)-1] }

	first := warm(w)
	if len(first.Messages) != 1 || len(first.Tools) == 0 {
		t.Errorf("warmed up with %+v", first)
	}
	w.prompt("go")
	begins(t, first, last(w))
	begins(t, first, warm(w))
	second := warm(w)
	w.prompt("on")
	begins(t, second, last(w))
	if len(second.Messages) != 3 {
		t.Errorf("the conversation is not in it: %+v", second.Messages)
	}

	again := startIn(t, w.dir, w.log, "capabilities completion tools thinking\n"+script, options)
	third := warm(again)
	again.prompt("and on")
	begins(t, third, last(again))
	begins(t, second, third)
}

// wary refuses a conversation in which no person speaks, as some templates do.
type wary struct {
	kind  chat.Kind
	asked []chat.Request
}

func (m *wary) Stream(_ context.Context, req chat.Request) iter.Seq2[chat.Delta, error] {
	return func(yield func(chat.Delta, error) bool) {
		m.asked = append(m.asked, req)
		if last := req.Messages[len(req.Messages)-1]; last.Role != chat.User {
			yield(chat.Delta{}, &chat.Error{Kind: m.kind, Detail: "no user query found in messages"})
			return
		}
		yield(chat.Delta{Text: "x", Finish: chat.CutShort}, nil)
	}
}

func TestWarmWithWaryTemplate(t *testing.T) {
	for _, kind := range []chat.Kind{chat.Invalid, chat.Server} {
		model := &wary{kind: kind}
		w := start(t, "reply\n say hi\n", func(c *Config) { c.Model = model })
		if err := w.Warm(t.Context()); err != nil || len(model.asked) != 2 || model.asked[1].Messages[1].Text != oneLetter {
			t.Errorf("%s: %v, %+v", kind, err, model.asked)
		}
	}
	model := &wary{kind: chat.Unreachable}
	w := start(t, "reply\n say hi\n", func(c *Config) { c.Model = model })
	if err := w.Warm(t.Context()); err == nil || len(model.asked) != 1 {
		t.Errorf("a server that is not there: %v, asked %d times", err, len(model.asked))
	}
}

// slow reads until it is left, the first time; then it plays a script.
type slow struct {
	chat.Model
	reading chan struct{}
	left    chan struct{}
	once    bool
}

func (m *slow) Stream(ctx context.Context, req chat.Request) iter.Seq2[chat.Delta, error] {
	if m.once {
		return m.Model.Stream(ctx, req)
	}
	m.once = true
	return func(yield func(chat.Delta, error) bool) {
		close(m.reading)
		<-ctx.Done()
		close(m.left)
		yield(chat.Delta{}, ctx.Err())
	}
}

// A prompt ends a warm-up, waits until the server is left, and has the session. A turn ends for no warm-up.
func TestPromptEndsWarm(t *testing.T) {
	m := &slow{reading: make(chan struct{}), left: make(chan struct{})}
	w := start(t, "reply\n say hi\n", func(c *Config) { m.Model, c.Model = c.Model, m })
	ended := make(chan error, 1)
	go func() { ended <- w.Warm(context.Background()) }()
	<-m.reading
	if err := w.Warm(t.Context()); !errors.Is(err, ErrBusy) {
		t.Errorf("a second one: %v", err)
	}
	if end := w.prompt("go"); end.Final != "hi" {
		t.Errorf("the turn ended with %+v", end)
	}
	select {
	case <-m.left:
	default:
		t.Error("the server was not left before the turn")
	}
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("the warm-up ended with %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("the warm-up did not end")
	}
}

func TestWarmDuringTurn(t *testing.T) {
	var w *world
	var during error
	w = start(t, "reply\n stall 1s\n say hi\n", func(c *Config) {
		c.Model.(*requests).Model.(*practice.Model).Sleep = func(ctx context.Context, d time.Duration) error {
			if d > 0 {
				during = w.Warm(ctx)
			}
			return nil
		}
	})
	w.prompt("go")
	if !errors.Is(during, ErrBusy) {
		t.Errorf("got %v", during)
	}
}

// A session that was switched warms up for what it was switched to.
func TestWarmAfterSwitch(t *testing.T) {
	w := start(t, "reply\n say hi\n")
	h := plain()
	h.Name = "other"
	h.Tools = h.Tools[:1]
	if err := w.Switch(Change{Harness: h}); err != nil {
		t.Fatal(err)
	}
	if err := w.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.prompt("go")
	all := w.model.Requests()
	begins(t, all[0], all[1])
	if opened := bodies[event.Opened](w.log); len(opened) != 1 || opened[0].Harness != "other" || len(all[0].Tools) != 1 {
		t.Errorf("opened %+v, tools %+v", opened, all[0].Tools)
	}
}
