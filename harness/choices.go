package harness

import (
	"strconv"
	"strings"

	"interpreter/sandbox/action"
)

// Choices are the parameters of questions to a person whose answers are told under the text of the question.
type Choices struct {
	Questions []struct {
		Text    string `json:"question"`
		Header  string `json:"header,omitempty"`
		Options []struct {
			Label string `json:"label"`
			About string `json:"description,omitempty"`
		} `json:"options" min:"2" max:"4"`
		Several bool `json:"multi_select,omitempty" default:"false"`
	} `json:"questions" min:"1" max:"4"`
}

// Step asks.
func (c Choices) Step() (Step, error) {
	var a action.Ask
	for n, q := range c.Questions {
		var options []Option
		for _, o := range q.Options {
			options = append(options, Option(o))
		}
		a.Questions = append(a.Questions, action.Question{ID: strconv.Itoa(n + 1), Header: q.Header, Text: q.Text, Several: q.Several, Options: Labels(options)})
	}
	return Do(a, func(t action.Told) string { return Answered(a.Questions, t.Answers) }), nil
}

// Answered is {"answers":{question:answer}} in the order asked, with a note when there are none.
func Answered(asked []action.Question, answers map[string]string) string {
	var pairs []string
	for _, q := range asked {
		if text, ok := answers[q.ID]; ok {
			pairs = append(pairs, string(quoted(q.Text))+":"+string(quoted(text)))
		}
	}
	if len(pairs) == 0 {
		return Unanswered("No choice was made. Decide by yourself, or say what is missing.")
	}
	return `{"answers":{` + strings.Join(pairs, ",") + "}}"
}

// Unanswered is the same without answers.
func Unanswered(note string) string { return `{"answers":{},"note":` + string(quoted(note)) + "}" }
