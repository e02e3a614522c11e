package exec

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"interpreter/agent/event"
	"interpreter/local/chat"
	"interpreter/sandbox/action"
)

// screen is what a terminal shows in the end: a carriage return with "erase to the end" starts the line anew.
func screen(raw string) string {
	var lines []string
	for _, line := range strings.Split(raw, "\n") {
		if at := strings.LastIndex(line, "\r\x1b[K"); at >= 0 {
			line = line[at+len("\r\x1b[K"):]
		}
		if strings.HasPrefix(line, "\r") {
			line = strings.TrimSuffix(line[strings.LastIndex(line, "\r")+1:], "\x1b[K")
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func TestAnswersStreamOnATerminal(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	events := func(h *Human, bodies ...event.Body) {
		for _, b := range bodies {
			h.Event(event.Event{Time: start, Body: b})
		}
	}
	said := func(text string, calls ...chat.Call) event.Said {
		return event.Said{Message: chat.Message{Role: chat.Assistant, Text: text, Calls: calls}}
	}
	rows := []struct {
		name string
		show func(h *Human)
		want string
	}{
		{"text as it comes, once", func(h *Human) {
			events(h, event.Heard{Text: "Hel"}, event.Heard{Text: "lo.\nBye"}, said("Hello.\nBye"), event.TurnEnded{Reason: event.Finished, Final: "Hello.\nBye"})
		}, "Hello.\nBye\n\ntotal 0 tokens\n"},
		{"thinking first, then the answer", func(h *Human) {
			events(h, event.Heard{Thinking: "hm"}, event.Heard{Text: "Yes."}, said("Yes."), event.TurnEnded{Reason: event.Finished, Final: "Yes."})
		}, "hm\n\nYes.\n\ntotal 0 tokens\n"},
		{"an escape cut in two reaches nobody", func(h *Human) {
			events(h, event.Heard{Text: "a\x1b"}, event.Heard{Text: "[31mb\x1b]0;t\a"}, event.Heard{Text: "c\n"}, said("abc"))
		}, "abc\n\n"},
		{"an interrupted answer stays on the screen", func(h *Human) {
			events(h, event.Heard{Text: "half of"}, event.TurnEnded{Reason: event.Interrupted})
		}, "half of\n\ninterrupted\n  go on: again\ntotal 0 tokens\n"},
		{"a void answer is told apart from its repetition", func(h *Human) {
			events(h, event.Heard{Text: "half"}, event.Waited{Wait: chat.Wait{Attempt: 1, Limit: 5, Why: "it broke off"}}, event.Heard{Text: "whole"}, said("whole"))
		}, "half\n\nwait  it broke off, try 2 of 6\n\nwhole\n\n"},
		{"a silence is explained, and the line goes", func(h *Human) {
			events(h, event.Prompted{Message: chat.Message{Text: "do it"}})
			h.Tick(start.Add(time.Second))
			h.Tick(start.Add(12 * time.Second))
			events(h, event.Heard{Text: "Done."}, said("Done."))
			h.Tick(start.Add(20 * time.Second))
		}, "user\ndo it\n\nDone.\n\n"},
		{"a silence while a command runs", func(h *Human) {
			events(h, event.Started{CallID: "1", Tool: "bash", Need: action.Need{Effect: action.Runs, Script: "make"}})
			h.Tick(start.Add(45 * time.Second))
		}, "run   make   (cwd )\nrunning, 45 s"},
		{"no calls: text before a call is not repeated", func(h *Human) {
			events(h, event.Heard{Text: "Look."}, said("Look.", chat.Call{ID: "1", Name: "x"}), event.Warned{Text: "w"})
		}, "Look.\n\nwarning: w\n"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			var b bytes.Buffer
			row.show(&Human{Out: &b, Terminal: true, ShowFinal: true, GoOn: "again"})
			if got := screen(b.String()); got != row.want {
				t.Errorf("%q\nwant %q", got, row.want)
			}
		})
	}
}

// Where lines cannot be written over nothing is shown before it is whole.
func TestPiecesAreForTerminals(t *testing.T) {
	var b bytes.Buffer
	h := &Human{Out: &b}
	h.Event(event.Event{Body: event.Heard{Text: "piece"}})
	h.Tick(time.Now().Add(time.Hour))
	if b.Len() > 0 {
		t.Errorf("%q", b.String())
	}
}
