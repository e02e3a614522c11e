package agent

import (
	"context"
	"strings"

	"interpreter/agent/event"
	"interpreter/harness"
	"interpreter/local/chat"
)

// ear says what is done with an answer while it comes. The zero value only puts it together.
type ear struct {
	tells bool          // readers of the log hear each piece
	watch func() *watch // ends an answer that will never be one; nil lets it come
}

// hearing is an answer on its way.
type hearing struct {
	t              *turn
	ear            ear
	screen         *harness.Screen
	watch          *watch
	said           event.Said
	text, thinking strings.Builder
}

// stream sends a request and puts the answer together. With an error comes what was heard until then.
func (t *turn) stream(ctx context.Context, req chat.Request, e ear) (event.Said, error) {
	h := &hearing{t: t, ear: e}
	h.begin()
	for d, err := range t.cfg.Model.Stream(ctx, req) {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = h.take(d)
		}
		if err != nil {
			return h.together(), err
		}
	}
	if err := ctx.Err(); err != nil {
		return h.together(), err
	}
	if err := h.rest(); err != nil {
		return h.together(), err
	}
	if h.said.Finish == "" {
		h.said.Finish = chat.Stopped
	}
	return h.together(), nil
}

// begin is the start of an answer, and of another try at it.
func (h *hearing) begin() {
	h.text.Reset()
	h.thinking.Reset()
	h.said, h.screen, h.watch = event.Said{}, nil, nil
	if h.ear.tells {
		h.screen = h.t.cfg.Harness.Screen()
	}
	if h.ear.watch != nil {
		h.watch = h.ear.watch()
	}
}

func (h *hearing) together() event.Said {
	h.said.Message.Role = chat.Assistant
	h.said.Message.Text = strings.ToValidUTF8(h.text.String(), "\uFFFD")
	h.said.Message.Thinking = strings.ToValidUTF8(h.thinking.String(), "\uFFFD")
	return h.said
}

func (h *hearing) take(d chat.Delta) error {
	if d.Wait != nil {
		h.begin()
		return h.t.add(event.Waited{Wait: *d.Wait})
	}
	if d.Notice != "" {
		if err := h.t.add(event.Warned{Text: d.Notice}); err != nil {
			return err
		}
	}
	h.text.WriteString(d.Text)
	h.thinking.WriteString(d.Thinking)
	h.said.Message.Seal += d.Seal
	if d.Call != nil {
		h.said.Message.Calls = append(h.said.Message.Calls, *d.Call)
	}
	if d.Usage != nil {
		h.said.Usage = *d.Usage
	}
	if d.Finish != "" {
		h.said.Finish = d.Finish
	}
	text, thinking := d.Text, d.Thinking
	if h.screen != nil && text != "" {
		said, thought := h.screen.Show(text)
		text, thinking = said, thinking+thought
	}
	if err := h.tell(text, thinking); err != nil {
		return err
	}
	return h.watch.hear(d.Text, thinking)
}

// rest tells what the screen held back and turned out to be no call.
func (h *hearing) rest() error {
	if h.screen == nil {
		return nil
	}
	text, thinking := h.screen.Rest()
	return h.tell(text, thinking)
}

func (h *hearing) tell(text, thinking string) error {
	if !h.ear.tells || text+thinking == "" {
		return nil
	}
	return h.t.add(event.Heard{Text: text, Thinking: thinking})
}
