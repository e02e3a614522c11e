package harness

import (
	"slices"
	"testing"

	"interpreter/local/chat"
	"interpreter/sandbox/action"
)

func TestOnRequest(t *testing.T) {
	row := func(name string) Tool { return Tool{Spec: chat.Spec{Name: name}} }
	largeToo := row("both")
	largeToo.When = func(e Environment) bool { return e.Large && e.Background && slices.Contains(e.Requested, "both") }
	h := Harness{Tools: []Tool{row("always"), row("asked").Asked(), row("large").If(Large), largeToo, row("hidden").Asked().Hide()}}
	if got := h.OnRequest(); !slices.Equal(got, []string{"asked", "both"}) {
		t.Errorf("on request: %q", got)
	}
}

type changing struct{ described }

func (changing) Need() action.Need { return action.Need{Effect: action.Writes} }

// Tools of a file are judged as the harness judges its own of that name: what changes something needs more than a fenced
// object, what reads does not, and of the others nothing is known.
func TestOfferingJudgesLikeTheHarness(t *testing.T) {
	type nothing struct{}
	own := Harness{Name: "own", Tools: []Tool{
		Choice("look", func(nothing) (Step, error) { return Do(described{"look", nil}, untold), nil }),
		Choice("change", func(nothing) (Step, error) { return Do(changing{described{"change", nil}}, untold), nil }),
	}}
	specs := []chat.Spec{{Name: "look"}, {Name: "change"}, {Name: "other"}}
	for name, want := range map[string]int{"look": 1, "change": 0, "other": 1} {
		text := "I do it.\n```json\n{\"name\": \"" + name + "\", \"arguments\": {}}\n```\n"
		read, err := own.Offering(specs).Read(Answer{Message: chat.Message{Role: chat.Assistant, Text: text}, Finish: chat.Stopped})
		if len(read.Message.Calls) != want || (err == nil) != (want == 1) {
			t.Errorf("%s: %d calls, %v", name, len(read.Message.Calls), err)
		}
	}
}
