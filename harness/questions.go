package harness

import (
	"fmt"
	"strings"

	"interpreter/sandbox/action"
)

// QuestionParams are the parameters of AskUserQuestion, which several families share.
type QuestionParams struct {
	Questions []QuestionParam `json:"questions" min:"1" max:"4"`
}

// QuestionParam is one of the questions.
type QuestionParam struct {
	Text    string           `json:"question"`
	Header  string           `json:"header" absent:"ok"`
	Options []QuestionOption `json:"options" min:"2" max:"4"`
	Several bool             `json:"multiSelect" default:"false" absent:"ok"`
}

// QuestionOption is one answer that is offered.
type QuestionOption struct {
	Label   string `json:"label"`
	About   string `json:"description" absent:"ok"`
	Preview string `json:"preview,omitempty"`
}

// AskQuestions puts the questions to the person, as q1, q2, …, and words the answers in one line.
func AskQuestions(p QuestionParams) (Step, error) {
	var a action.Ask
	for n, q := range p.Questions {
		out := action.Question{ID: fmt.Sprintf("q%d", n+1), Header: q.Header, Text: q.Text, Several: q.Several}
		for _, o := range q.Options {
			out.Options = append(out.Options, Labels([]Option{{Label: o.Label, About: o.About}})...)
			if o.Preview != "" {
				out.Text += "\n\n" + o.Label + ":\n" + o.Preview
			}
		}
		a.Questions = append(a.Questions, out)
	}
	return Do(a, func(t action.Told) string { return answered(p, a, t) }), nil
}

func answered(p QuestionParams, a action.Ask, t action.Told) string {
	var pairs []string
	for n, q := range a.Questions {
		answer := t.Answers[q.ID]
		if answer == "" {
			continue
		}
		for i, shown := range q.Options { // a person picks what is shown; the model knows it by its label
			answer = strings.ReplaceAll(answer, shown, p.Questions[n].Options[i].Label)
		}
		pairs = append(pairs, fmt.Sprintf("%q=%q", p.Questions[n].Text, answer))
	}
	if len(pairs) == 0 {
		return "The user did not answer. Go on with what you know, or say what is missing."
	}
	return "Answers: " + strings.Join(pairs, ", ") + ". Go on from there."
}
