package setup

import (
	"context"
	"errors"
	"fmt"
)

// A Question has a list of answers to choose from.
type Question struct {
	Title   string
	About   string // a paragraph, or lines that begin with a blank and stay as they are
	Answers []Answer
	Default string // the key of the answer that is recommended
	Stuck   error  // what it means that nobody is there to choose, nil where the recommended answer will do
}

// An Answer is chosen by a person and known by its key. More are lines below it.
type Answer struct {
	Key  string
	Text string
	More []string
}

// A Field asks for a line of text. An empty line goes back.
type Field struct {
	Title string
	About string
	Words []string           // what it may begin with, for those who complete words
	Check func(string) error // nil: anything will do
}

// An Asker asks a person. It returns ErrLeft when they have had enough.
type Asker interface {
	Choose(context.Context, Question) (string, error)
	Type(context.Context, Field) (string, error)
	Hint() string // what a person should know before the first question
}

// Unattended takes the recommended answer of every question, and says so.
type Unattended struct{ Screen Screen }

// Hint has nothing to say: nobody is there.
func (u Unattended) Hint() string { return "" }

// Choose takes what is recommended.
func (u Unattended) Choose(_ context.Context, q Question) (string, error) {
	if q.Stuck != nil {
		return "", q.Stuck
	}
	for _, a := range q.Answers {
		if a.Key == q.Default {
			u.Screen.lines(fmt.Sprintf("%s %s", q.Title, a.Text))
			return a.Key, nil
		}
	}
	return "", fmt.Errorf("set up: %q has no answer that is recommended", q.Title)
}

// Type cannot be answered by nobody.
func (u Unattended) Type(_ context.Context, f Field) (string, error) {
	return "", errors.New("set up: nobody is there to say: " + f.Title)
}
