package textcall

import (
	"strings"
	"testing"

	"interpreter/local/chat"
)

// played is what a screen shows of pieces.
func played(tools []chat.Spec, pieces ...string) (text, thinking string) {
	s := NewScreen(tools)
	for _, p := range pieces {
		a, b := s.Show(p)
		text, thinking = text+a, thinking+b
	}
	a, b := s.Rest()
	return text + a, thinking + b
}

// agrees checks that a screen shows what Read makes of a text, wherever that is split.
func agrees(t *testing.T, about, text string, tools []chat.Spec) {
	t.Helper()
	said, thought := played(tools, text)
	for i := 1; i < len(text); i++ {
		if a, b := played(tools, text[:i], text[i:]); a != said || b != thought {
			t.Errorf("%s: split at %d it shows %q and %q, whole %q and %q", about, i, a, b, said, thought)
			return
		}
	}
	if a, b := played(tools, strings.Split(text, "")...); a != said || b != thought {
		t.Errorf("%s: letter by letter it shows %q and %q, whole %q and %q", about, a, b, said, thought)
	}
	r, _ := Read(Answer{Message: chat.Message{Text: text}, Finish: chat.Stopped, Tools: tools, Sure: func(chat.Call) bool { return true }})
	if want := strings.TrimSpace(r.Message.Text); said != want {
		if !strings.HasSuffix(said, "\n\n"+want) || len(r.Message.Thinking) == 0 { // thoughts that nothing opened
			t.Errorf("%s: it shows %q, the text is %q", about, said, want)
		}
	} else if thought != r.Message.Thinking {
		t.Errorf("%s: it shows the thoughts %q, they are %q", about, thought, r.Message.Thinking)
	}
}

func TestScreenAgrees(t *testing.T) {
	for _, c := range recordings(t) {
		agrees(t, c.name, c.text, caseTools(t))
	}
}
