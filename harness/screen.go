package harness

import "interpreter/harness/textcall"

// Screen keeps the text of calls from a reader while an answer is still coming.
type Screen = textcall.Screen

// Screen is for one answer; nil of a harness whose calls are meant to be text.
func (h Harness) Screen() *Screen {
	if h.Text {
		return nil
	}
	return textcall.NewScreen(Specs(h.Tools))
}
