package agent

import (
	"context"
	"iter"
	"testing"

	"interpreter/agent/event"
	"interpreter/local/chat"
)

// noticing is a model with news of its server before each answer's end.
type noticing struct{ chat.Model }

func (n noticing) Stream(ctx context.Context, req chat.Request) iter.Seq2[chat.Delta, error] {
	return func(yield func(chat.Delta, error) bool) {
		for d, err := range n.Model.Stream(ctx, req) {
			if d.Finish != "" && !yield(chat.Delta{Notice: "it was loaded again"}, nil) {
				return
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

// What a server has to tell a person is in the log, and not in what the model said.
func TestANoticeOfTheServerIsAWarning(t *testing.T) {
	w := start(t, "reply\n  say Done.\n", func(c *Config) { c.Model = noticing{c.Model} })
	if end := w.prompt("go"); end.Final != "Done." {
		t.Errorf("got %q", end.Final)
	}
	if all := bodies[event.Warned](w.log); len(all) != 1 || all[0].Text != "it was loaded again" {
		t.Errorf("got %+v", all)
	}
}
