package textcall

import (
	"encoding/json"
	"strings"
	"testing"

	"interpreter/local/chat"
)

func seeds(f *testing.F) {
	for _, c := range recordings(f) {
		f.Add(c.text)
	}
	for _, rows := range [][]row{qwenRows, hermesRows, glmRows, tokenRows, otherRows} {
		for _, r := range rows {
			f.Add(r.text)
		}
	}
	for _, tt := range talk {
		f.Add(tt.text)
	}
	for _, piece := range adversarial {
		f.Add(piece + piece)
	}
}

// Whatever the text, its calls have names, ids and valid arguments, and reading it again gives the same.
func FuzzRead(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text string) {
		a := Answer{Message: chat.Message{Text: text}, Finish: chat.Stopped, Tools: many, Sure: readsAll}
		r, err := Read(a)
		if err != nil && len(r.Message.Calls) > 0 {
			t.Fatalf("%v, and calls", err)
		}
		for _, c := range r.Message.Calls {
			if !json.Valid(c.Args) || c.Args[0] != '{' || c.Name == "" || c.ID == "" {
				t.Fatalf("call %+v", c)
			}
		}
		again, twice := Read(a)
		if (err == nil) != (twice == nil) || r.Message.Text != again.Message.Text || r.Message.Thinking != again.Message.Thinking || len(r.Message.Calls) != len(again.Message.Calls) {
			t.Fatalf("first %+v, then %+v", r, again)
		}
		for i, c := range again.Message.Calls {
			if first := r.Message.Calls[i]; c.Name != first.Name || string(c.Args) != string(first.Args) || c.Raw != first.Raw {
				t.Fatalf("first %+v, then %+v", first, c)
			}
		}
		if a.Finish = chat.CutShort; len(r.Message.Calls) > 0 {
			if r, _ := Read(a); len(r.Message.Calls) > 0 {
				t.Fatalf("a cut answer calls %v", r.Message.Calls)
			}
		}
		a.Tools, a.Finish = nil, chat.Stopped
		if r, err := Read(a); err != nil || len(r.Message.Calls) > 0 {
			t.Fatalf("without tools: %+v, %v", r, err)
		}
	})
}

// Wherever an answer is split, the same is shown.
func FuzzScreen(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 2000 {
			return
		}
		said, thought := played(many, text)
		for i := 1; i < len(text); i += 1 + len(text)/64 {
			if a, b := played(many, text[:i], text[i:]); a != said || b != thought {
				t.Fatalf("split at %d of %q it shows %q and %q, whole %q and %q", i, text, a, b, said, thought)
			}
		}
		if a, b := played(many, strings.Split(text, "")...); a != said || b != thought {
			t.Fatalf("letter by letter %q shows %q and %q, whole %q and %q", text, a, b, said, thought)
		}
	})
}
