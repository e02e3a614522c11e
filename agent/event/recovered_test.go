package event

import (
	"testing"

	"interpreter/local/chat"
)

func TestTally(t *testing.T) {
	for _, c := range []struct {
		counts map[string]int
		want   string
	}{
		{nil, ""},
		{map[string]int{EarlyStop: 1}, "1 early stop"},
		{map[string]int{EarlyStop: 1, CallAsText: 2, LooseEdit: 3, EmptyAnswer: 0}, "3 edits matched loosely, 2 calls written as text, 1 early stop"},
		{map[string]int{UnreadableCall: 2, OtherShape: 2, LongThoughts: 2, FullWindow: 2, "something new": 2},
			"2 answers in another shape, 2 full windows, 2 something new, 2 thoughts without end, 2 unreadable calls"},
	} {
		if got := Tally(c.counts); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// What a model wrote, and what the loop keeps beside a result, survive a session file.
func TestWrittenSurvives(t *testing.T) {
	for _, b := range []Body{
		Said{Message: chat.Message{Role: chat.Assistant, Text: "hm", Written: "<think>x</think>hm <b>"}},
		Did{CallID: "1", Words: "x\n\n<plan?>", Reminded: true},
		Prompted{Message: chat.Message{Role: chat.User, Text: "go"}, Sent: "<turn 1> go"},
		TurnEnded{ID: "t", Recovered: map[string]int{EarlyStop: 1}},
	} {
		line, err := Encode(Event{Body: b})
		if err != nil {
			t.Fatal(err)
		}
		back, err := Decode(line)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Encode(back)
		if err != nil {
			t.Fatal(err)
		}
		if string(again) != string(line) {
			t.Errorf("got %s\nwant %s", again, line)
		}
		if said, ok := back.Body.(Said); ok && said.Message.Written == "" {
			t.Error("what was written is lost")
		}
	}
}
