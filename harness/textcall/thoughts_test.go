package textcall

import (
	"testing"

	"interpreter/local/chat"
)

func TestThoughtsInTheText(t *testing.T) {
	tests := []struct{ about, text, thinking, answer string }{
		{"a block", "<think>\nplan\n</think>\n\nDone.", "plan", "Done."},
		{"an empty block", "<think>\n\n</think>\n\nDone.", "", "Done."},
		{"no end", "<think>so", "so", ""},
		{"no beginning", "plan\n</think>\nDone.", "plan", "Done."},
		{"named in back ticks", "Write `</think>`\nthere.", "", "Write `</think>`\nthere."},
		{"in a fence", "```\na</think>\n```\nThat ends it.", "", "```\na</think>\n```\nThat ends it."},
		{"in the middle of a line", "The tag </think> ends it.", "", "The tag </think> ends it."},
		{"opened and closed later on", "Use\n<think>\nx\n</think>\nfor it.", "", "Use\n<think>\nx\n</think>\nfor it."},
	}
	for _, tt := range tests {
		m, err := Message(chat.Message{Text: tt.text}, nil, nil)
		if err != nil || m.Thinking != tt.thinking || m.Text != tt.answer {
			t.Errorf("%s: thinking %q, text %q, %v", tt.about, m.Thinking, m.Text, err)
		}
	}
	m, err := Message(chat.Message{Thinking: "one", Text: "<think>two</think>three"}, nil, nil)
	if err != nil || m.Thinking != "one\ntwo" || m.Text != "three" {
		t.Errorf("got %+v, %v", m, err)
	}
}
