package harness

import (
	"cmp"
	"encoding/json"
	"slices"

	"interpreter/harness/textcall"
	"interpreter/local/chat"
	"interpreter/sandbox/action"
)

// Answer is what came from a model, and what is needed to judge it.
type Answer = textcall.Answer

// Reading is what was made of an Answer.
type Reading = textcall.Reading

// Read finds the calls of an answer: with Decode, or with Rescue. It fills in Tools, Means, Spells and Sure of the answer. The
// error is a call that must not run as it stands; Say words it.
func (h Harness) Read(a Answer) (Reading, error) {
	if h.Decode != nil {
		return h.Decode(a)
	}
	return h.Rescue(a)
}

// Rescue reads calls that a model wrote as text although it was offered tools.
func (h Harness) Rescue(a Answer) (Reading, error) {
	a.Tools, a.Means, a.Spells, a.Sure = Specs(h.Tools), h.Means, h.spells, h.sure
	return textcall.Read(a)
}

// RescueFor reads calls of some rows that a model wrote in the form of another family than the one its harness asks for.
// ok is false when there is none, or none that may run.
func RescueFor(rows []Tool, a Answer) (read Reading, ok bool) {
	read, err := Harness{Tools: rows, Text: true}.Rescue(a)
	return read, err == nil && len(read.Message.Calls) > 0
}

// FormInWords is the form of a Reading as a person knows it: "in Hermes tags". ok is false of the own forms of harnesses
// that speak in text.
func FormInWords(form string) (words string, ok bool) { return textcall.Shown(form) }

// Means is the row that another product's name for a tool stands for; "" when there is none. Whether the arguments fit
// it is for Step to say.
func (h Harness) Means(name string, args json.RawMessage) string {
	role := roleOf(name, args)
	if role == "" || role == "finish" {
		return ""
	}
	for _, t := range h.Tools {
		if roleOf(t.Spec.Name, nil) == role {
			return t.Spec.Name
		}
	}
	return ""
}

// spells reports whether a row understands a key as another name of one of its parameters.
func (h Harness) spells(tool, key string) bool {
	t, ok := h.row(tool)
	if !ok || t.form == nil || t.form().field(key) != nil {
		return false
	}
	for _, fd := range t.form().fields {
		if slices.Contains(fd.spellings(false), key) {
			return true
		}
	}
	return false
}

// sure reports whether a call is harmless enough to be made on weak evidence. One that makes no sense is: its answer
// is an error.
func (h Harness) sure(c chat.Call) bool {
	step, err := h.Step(c)
	return err != nil || step.Need().Effect == action.Reads || step.Need().Effect == action.Thinks
}

// Corrections is how often in a row an answer that cannot be read is sent back.
func (h Harness) Corrections() int { return cmp.Or(h.Tries, 2) }
