package terminus2

import (
	"errors"
	"strings"

	"interpreter/harness"
	"interpreter/harness/textcall"
	"interpreter/local/chat"
)

// ParseError is a reply that cannot be read.
type ParseError struct {
	What     string
	Warnings []string
	XML      bool
}

func (e *ParseError) Error() string { return "read a reply: " + e.What }

// errLimit is a reply that ended at the length limit, before its end.
var errLimit = errors.New("read a reply: it was cut off at the length limit")

// reply is what a model wrote, taken apart.
type reply struct {
	analysis, plan string
	params         params
	warnings       []string
	xml            bool
	end            int // of what counts, in the text; 0 is all of it
}

func (r *reply) warn(what string) { r.warnings = append(r.warnings, what) }

func (r *reply) fail(what string) error {
	return &ParseError{What: what, Warnings: r.warnings, XML: r.xml}
}

// decode reads the one object of a reply, or its elements. What a model thought aloud does not count.
func decode(a harness.Answer) (harness.Reading, error) {
	m := a.Message
	if len(m.Calls) > 0 {
		if a.Finish == chat.CutShort {
			return harness.Reading{Message: m}, errLimit
		}
		return harness.Reading{Message: m}, nil
	}
	said := m
	if read, err := textcall.Read(harness.Answer{Message: m, Finish: chat.Stopped}); err == nil && len(read.Message.Calls) == 0 {
		said = read.Message
	}
	text := said.Text
	if strings.TrimSpace(text) == "" {
		return harness.Reading{Message: said}, nil
	}
	r, err := parse(text, a.Finish == chat.CutShort)
	if err != nil && !ownForm(text) {
		if read, ok := harness.RescueFor(rows(), a); ok {
			return read, nil
		}
	}
	if err != nil {
		said.Written = m.Text
		return harness.Reading{Message: said}, err
	}
	said.Written = m.Text
	if r.end > 0 { // the rest is half of something
		said.Written = strings.TrimSuffix(m.Text, text[r.end:])
	}
	r.params.Warnings = r.warnings
	if r.params.Commands == nil {
		r.params.Commands = []stroke{}
	}
	said.Text = strings.TrimSpace(strings.TrimSpace(r.analysis) + "\n\n" + strings.TrimSpace(r.plan))
	said.Calls = []chat.Call{{Name: "terminal", Args: harness.JSON(r.params)}}
	form := "JSON"
	if r.xml {
		form = "elements"
	}
	return harness.Reading{Message: said, Form: form, Whole: r.end > 0}, nil
}

// ownForm reports whether a text tries to be a reply in one of the two forms.
func ownForm(text string) bool {
	for _, mark := range []string{"<response>", "<commands", `"commands"`, `"keystrokes"`, `"task_complete"`} {
		if strings.Contains(text, mark) {
			return true
		}
	}
	return false
}

// parse reads a reply in either form.
func parse(text string, short bool) (*reply, error) {
	xml := strings.Index(text, "<response>")
	brace := strings.IndexByte(text, '{')
	if xml >= 0 && (brace < 0 || xml < brace) || brace < 0 && strings.Contains(text, "<commands") {
		return elements(text, short)
	}
	if short {
		return nil, errLimit
	}
	return object(text)
}
