package action

import (
	"context"
	"errors"
)

// ErrNobody is a question in a session where nobody answers.
var ErrNobody = errors.New("nobody can be asked in this session")

// Ask puts questions to the person in front of the session.
type Ask struct{ Questions []Question }

// Title is the action in a line.
func (a Ask) Title() string {
	if len(a.Questions) == 1 {
		return one("ask: %s", a.Questions[0].Text)
	}
	return one("ask %d questions", len(a.Questions))
}

// Need asks for nothing: the answer itself is the consent.
func (a Ask) Need() Need { return Need{Effect: Thinks} }

// Do waits for the answers. Without a Host the error wraps ErrNobody.
func (a Ask) Do(ctx context.Context, w *Workspace) (Told, error) {
	if len(a.Questions) == 0 {
		return Told{}, errors.New("ask: no questions given")
	}
	if w.Host == nil {
		return Told{}, ErrNobody
	}
	answers, err := w.Host.Ask(ctx, a.Questions)
	return Told{Answers: answers}, err
}
