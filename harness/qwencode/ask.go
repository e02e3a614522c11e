package qwencode

import (
	"fmt"
	"strings"

	"interpreter/harness"
	"interpreter/sandbox/action"
)

type askParams struct {
	Questions []struct {
		Text    string           `json:"question"`
		Header  string           `json:"header" absent:"ok"`
		Options []harness.Option `json:"options" min:"2" max:"4"`
		Several bool             `json:"multiSelect,omitempty" default:"false"`
	} `json:"questions" min:"1" max:"4"`
}

func ask(p askParams) action.Ask {
	var a action.Ask
	for n, q := range p.Questions {
		out := action.Question{ID: fmt.Sprint(n + 1), Header: q.Header, Text: q.Text, Several: q.Several}
		out.Options = harness.Labels(q.Options)
		a.Questions = append(a.Questions, out)
	}
	return a
}

// sayAnswers lists the answers in the order of the questions, whose ids are their numbers.
func sayAnswers(t action.Told) string {
	if len(t.Answers) == 0 {
		return "No answer came. Go on with what you know, or say what is missing."
	}
	var lines []string
	for n := 1; n <= 4; n++ {
		if a, ok := t.Answers[fmt.Sprint(n)]; ok {
			lines = append(lines, fmt.Sprintf("%d. %s", n, a))
		}
	}
	return "The user answered:\n" + strings.Join(lines, "\n")
}
