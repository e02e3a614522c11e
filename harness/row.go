package harness

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"sync"

	"interpreter/sandbox/action"
)

// Row makes a tool of three things: a parameter struct whose fields, in order, are the schema; the action they ask
// for; and the words for its facts. Tags of a field:
//
//	json:"name"            required; json:"name,omitempty" optional
//	enum:"a,b"             the values allowed
//	default:"10"           stated in the schema and filled in when absent
//	min:"1" max:"3"        limits of a number, or of the length of a list
//	also:"patch,diff"      further spellings accepted
//	unit:"s" or unit:"ms"  of a timeout, so that one given in the other unit is converted
//	base:"0"               of an offset that counts from zero
//	absent:"ok"            required in the schema, yet a call without it is understood
//	unless:"edits"         the same, for a call that has that parameter instead
//	hidden:"yes"           understood although it is not in the schema
//	single:"ok"            of a list: one element may stand alone
//	raw:"*** Begin Patch"  arguments that are no JSON but contain this become the field's value
func Row[P any, A action.Doer[O], O action.Outcome](name string, plan func(P) A, say func(O) string) Tool {
	return Choice(name, func(p P) (Step, error) { return Do(plan(p), say), nil })
}

// Choice is a row whose parameters decide which action it is.
func Choice[P any](name string, plan func(P) (Step, error)) Tool {
	shape := sync.OnceValue(func() *form { return formOf(reflect.TypeFor[P]()) })
	t := Tool{form: shape}
	t.Spec.Name = name
	t.Plan = func(args json.RawMessage) (Step, error) {
		var p P
		read, err := shape().decode(name, args, reflect.ValueOf(&p).Elem())
		if err != nil {
			return Step{}, err
		}
		step, err := plan(p)
		if err != nil {
			return Step{}, err
		}
		step.Tool = name
		step.Spelled = append(append([]string(nil), read.spelled...), step.Spelled...)
		return step.noted(read.notes...), nil
	}
	return t
}

// Do makes a step of an action and the words for its facts.
func Do[A action.Doer[O], O action.Outcome](a A, say func(O) string) Step {
	return Step{
		Action: a,
		Run: func(ctx context.Context, w *action.Workspace) (action.Outcome, string, error) {
			facts, err := a.Do(ctx, w)
			if err != nil {
				return facts, "", err
			}
			return facts, say(facts), nil
		},
		Say: func(o action.Outcome) (string, bool) {
			facts, ok := o.(O)
			if !ok {
				return "", false
			}
			return say(facts), true
		},
	}
}

// Ending returns the step as one whose facts may end the turn.
func (s Step) Ending(ends func(action.Outcome) (final string, ended bool)) Step {
	s.Ends = ends
	return s
}

// Leaving returns a step that ends the turn with what word makes of its facts and of what the model said beside the call.
func (s Step) Leaving(word func(o action.Outcome, said string) string) Step {
	s.Parting = word
	return s
}

// noted appends sentences about tolerances to whatever the step says.
func (s Step) noted(notes ...string) Step {
	if len(notes) == 0 {
		return s
	}
	s.Note = append(append([]string(nil), s.Note...), notes...)
	run, say := s.Run, s.Say
	tail := ""
	for _, n := range notes {
		tail += "\n[" + n + "]"
	}
	add := func(words string) string { return strings.TrimSuffix(words, "\n") + tail }
	s.Run = func(ctx context.Context, w *action.Workspace) (action.Outcome, string, error) {
		facts, words, err := run(ctx, w)
		if err == nil {
			words = add(words)
		}
		return facts, words, err
	}
	s.Say = func(o action.Outcome) (string, bool) {
		words, ok := say(o)
		if ok {
			words = add(words)
		}
		return words, ok
	}
	return s
}
