package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"interpreter/agent/store"
	"interpreter/local/chat"
)

// The exit codes.
const (
	exitFine   = 0
	exitFailed = 1 // a turn that failed or was interrupted, a configuration, a missing model …
	exitUsage  = 2 // the command line itself
)

// remedied is an error a person can do something about.
type remedied struct {
	error
	try string
}

func (r remedied) Remedy() string { return r.try }
func (r remedied) Unwrap() error  { return r.error }

// try attaches a remedy to an error.
func try(err error, remedy string) error { return remedied{err, remedy} }

// usageError is a command line that makes no sense.
type usageError struct{ error }

func (u usageError) Unwrap() error { return u.error }

// exited carries the exit code of a program that has already said everything.
type exited int

func (e exited) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// report prints what went wrong, with its remedy, and picks the exit code.
func report(w io.Writer, err error) int {
	var done exited
	var usage usageError
	switch {
	case err == nil:
		return exitFine
	case errors.As(err, &done):
		return int(done)
	case errors.Is(err, syscall.EPIPE): // whoever read us has had enough
		return exitFailed
	case errors.Is(err, context.Canceled):
		during, known := strings.CutSuffix(err.Error(), ": "+context.Canceled.Error())
		if known {
			during = ": " + during
		} else {
			during = ""
		}
		fmt.Fprintf(w, "interpreter: interrupted%s\n", harmless(during))
		return exitFailed
	case errors.As(err, &usage):
		fmt.Fprintf(w, "interpreter: %s\n  try: %s\n", harmless(err.Error()), cmp.Or(remedyOf(usage), "interpreter --help"))
		return exitUsage
	}
	fmt.Fprintf(w, "interpreter: %s\n", harmless(err.Error()))
	if remedy := remedyOf(err); remedy != "" {
		fmt.Fprintf(w, "  try: %s\n", harmless(remedy))
	}
	return exitFailed
}

// remedyOf finds what a person can do, wherever in the chain it was said.
func remedyOf(err error) string {
	var with interface{ Remedy() string }
	if errors.As(err, &with) {
		return with.Remedy()
	}
	var model *chat.Error
	var kept *store.Error
	switch {
	case errors.As(err, &model):
		return model.Remedy
	case errors.As(err, &kept):
		return kept.Remedy
	}
	return ""
}
