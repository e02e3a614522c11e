package action

import (
	"errors"
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// SyntaxError is a script that a bash would not understand.
type SyntaxError struct {
	Line, Column int // where it was noticed, 1-based, the column in bytes
	Text         string
	Incomplete   bool // more text could mend it: something is open at the end
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Text)
}

// Syntax checks a script for a bash without running anything. The error is a *SyntaxError.
func Syntax(script string) error {
	_, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(script), "")
	if err == nil {
		return nil
	}
	out := &SyntaxError{Line: 1, Column: 1, Text: err.Error(), Incomplete: syntax.IsIncomplete(err)}
	var parse syntax.ParseError
	var lang syntax.LangError
	switch {
	case errors.As(err, &parse):
		out.Line, out.Column, out.Text = int(parse.Pos.Line()), int(parse.Pos.Col()), parse.Text
	case errors.As(err, &lang):
		return nil // another shell's feature; whether this one minds is its own affair
	}
	return out
}
