package littlecoder

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"interpreter/harness"
	"interpreter/sandbox/action"
)

type sessionParams struct {
	Command string `json:"command"`
	Timeout int    `json:"timeout,omitempty" default:"30" max:"600" unit:"s"`
}

// session runs a command where the one before it left off.
func session(p sessionParams) (harness.Step, error) {
	if p.Timeout < 1 {
		p.Timeout = 30
	}
	run := action.Run{Script: p.Command, Keep: action.KeepShell, Timeout: time.Duration(p.Timeout) * time.Second, Limit: harness.TerseBytes}
	return harness.Do(run, saySession), nil
}

type noParams struct{}

func where(noParams) action.Run {
	return action.Run{Script: "pwd", Keep: action.KeepShell, Timeout: 10 * time.Second, Limit: harness.TerseBytes}
}

func sayWhere(r action.Ran) string { return left(r) }

func reset(noParams) action.Fresh { return action.Fresh{} }

func sayReset(r action.Ran) string {
	return fmt.Sprintf("A new shell was started.\n[cwd=%s]", r.Dir)
}

// left is the folder that a command ended in.
func left(r action.Ran) string {
	if r.Left != "" {
		return r.Left
	}
	return r.Dir
}

// Of an output that is too long this many lines stay.
const (
	keptLines = 200
	headLines = 100
	tailLines = 50
)

// saySession gives what was printed, and a footer with where the shell is now.
func saySession(r action.Ran) string {
	lines := collapsed(strings.TrimRight(r.Output, "\n"))
	cut := r.Gap != nil
	if n := len(lines); n > keptLines {
		mark := fmt.Sprintf("[… %d lines left out …]", n-headLines-tailLines)
		lines = append(append(append([]string{}, lines[:headLines]...), mark), lines[n-tailLines:]...)
		cut = true
	}
	text := strings.Join(lines, "\n")
	if text == "" {
		text = "(no output)"
	}
	for _, d := range r.Denied {
		text += "\n[Refused by the sandbox: " + d + "]"
	}
	for _, n := range r.Notes {
		text += "\n[" + n + "]"
	}
	if cut && r.Full != "" {
		text += "\n[All of it is in " + r.Full + "]"
	}
	shell := "shell"
	if len(r.Argv) > 0 {
		shell = filepath.Base(r.Argv[0])
	}
	return text + fmt.Sprintf("\n[exit=%d cwd=%s timed_out=%t output_truncated=%t backend=%s]", r.Exit.Code, left(r), r.Exit.TimedOut, cut, shell)
}

// collapsed are the lines of a text, a run of equal ones as one with their number.
func collapsed(text string) []string {
	if text == "" {
		return nil
	}
	var out []string
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); {
		n := 1
		for i+n < len(lines) && lines[i+n] == lines[i] {
			n++
		}
		line := lines[i]
		if n > 1 {
			line = fmt.Sprintf("%s [%d times]", line, n)
		}
		out = append(out, line)
		i += n
	}
	return out
}
