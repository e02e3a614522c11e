package local

import (
	"errors"
	"strings"
	"testing"
	"time"

	"interpreter/local/chat"
)

// The check of a harness that speaks in text offers no tool, stands behind its opening, and wants its form.
func TestToolCheckInText(t *testing.T) {
	prefix := opening()
	prefix.Tools, prefix.Spoken, prefix.Join = nil, true, true
	prefix.Read = func(m chat.Message) (chat.Message, error) {
		command, ok := strings.CutPrefix(m.Text, "RUN ")
		switch {
		case ok:
			m.Calls = []chat.Call{{Name: "run", Args: []byte(`{"command":"` + command + `"}`)}}
		case m.Text == "two":
			return m, errors.New("one command at a time")
		}
		return m, nil
	}
	good := says("RUN echo 17+25=$((17+25))")
	for _, test := range []struct {
		name    string
		replies []reply
		says    string
		asked   int
	}{
		{"right", []reply{good, says("It is QX-07Z.")}, "", 2},
		{"right at the second try", []reply{says("Sure."), good, says("QX-07Z")}, "", 3},
		{"no command", times(2, says("It is 42.")), `no command, but the text "It is 42."`, 2},
		{"not the form", times(2, says("two")), "plain cannot read (one command at a time)", 2},
		{"another command", times(2, says("RUN ls")), "another command", 2},
		{"the result ignored", []reply{good, says("42"), says("42")}, "does not name the code", 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			var waits []time.Duration
			model := &scripted{replies: test.replies}
			c := checker{model: Retry(model, unhurried(Patience{}, &waits)), info: able("a:1b", 1), receipt: "QX-07Z", prefix: prefix}
			verdict, err := c.check(t.Context())
			if len(model.asked) != test.asked {
				t.Errorf("%d requests, want %d", len(model.asked), test.asked)
			}
			first := model.asked[0]
			if last := first.Messages[len(first.Messages)-1].Text; len(first.Tools) > 0 || len(first.Messages) != 2 || !strings.HasPrefix(last, "The folder is empty.\n\nRun exactly") {
				t.Errorf("asked %+v", first)
			}
			var wrong *CheckError
			switch {
			case test.says == "" && (err != nil || verdict != Spoken):
				t.Errorf("got %s, %v", verdict, err)
			case test.says != "" && (!errors.As(err, &wrong) || !strings.Contains(err.Error(), test.says)):
				t.Errorf("got %v, want it to say %q", err, test.says)
			}
		})
	}
	if text := prefix.Messages[1].Text; text != "The folder is empty." {
		t.Errorf("the opening itself was changed: %q", text)
	}
}
