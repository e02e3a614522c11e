package config

import (
	"fmt"
	"strings"
)

// Error is a setting that cannot be used. Line and Column are 1-based, 0 when they mean nothing.
type Error struct {
	Path    string // the file; "" for the command line
	Line    int
	Column  int
	Key     string
	Problem string
	Try     string // what a person can do; "" when the problem says it
}

func (e *Error) Error() string {
	text := placed(e.Path, e.Line, e.Column)
	if e.Key != "" {
		text += e.Key + ": "
	}
	return text + e.Problem
}

// Remedy is what a person can do.
func (e *Error) Remedy() string { return e.Try }

// Warning is a setting that was left out, or will not do what its writer meant.
type Warning struct {
	Path string
	Line int
	Key  string
	Text string
}

func (w Warning) String() string {
	text := placed(w.Path, w.Line, 0)
	if w.Key != "" {
		text += w.Key + ": "
	}
	return text + w.Text
}

func placed(path string, line, column int) string {
	var b strings.Builder
	if path != "" {
		b.WriteString(path + ": ")
	}
	if line > 0 {
		fmt.Fprintf(&b, "line %d", line)
		if column > 0 {
			fmt.Fprintf(&b, ", column %d", column)
		}
		b.WriteString(": ")
	}
	return b.String()
}
