package native

import (
	"bytes"
	"encoding/json"
	"fmt"

	"interpreter/harness"
	"interpreter/sandbox/action"
)

type imageParams struct {
	Path string `json:"path"`
}

func viewImage(p imageParams) action.Read { return action.Read{Path: p.Path} }

// sayImage announces the message that carries the picture: a tool's result is text on most wires.
func sayImage(s action.Seen) string {
	if s.MIME == "" {
		return fmt.Sprintf("%s is not an image.", s.Path)
	}
	return "image attached below: " + s.Path
}

type askParams struct {
	Questions []struct {
		ID      string           `json:"id"`
		Header  string           `json:"header" absent:"ok"`
		Text    string           `json:"question"`
		Options []harness.Option `json:"options" min:"2" max:"3"`
	} `json:"questions" min:"1" max:"3"`
}

func requestInput(p askParams) action.Ask {
	var a action.Ask
	for _, q := range p.Questions {
		out := action.Question{ID: q.ID, Header: q.Header, Text: q.Text}
		out.Options = harness.Labels(q.Options)
		a.Questions = append(a.Questions, out)
	}
	return a
}

func sayAnswers(t action.Told) string {
	type answer struct {
		Answers []string `json:"answers"`
	}
	all := map[string]answer{}
	for id, text := range t.Answers {
		all[id] = answer{[]string{text}}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(map[string]any{"answers": all}); err != nil {
		return t.Text
	}
	return string(bytes.TrimSpace(b.Bytes()))
}
