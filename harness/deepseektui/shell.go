package deepseektui

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"interpreter/harness"
	"interpreter/sandbox/action"
)

// kind is what a command in the background is called, before its number.
const kind = "shell"

type shellParams struct {
	Command     string `json:"command"`
	Timeout     int    `json:"timeout_ms,omitempty" default:"120000" max:"600000" unit:"ms"`
	Background  bool   `json:"background,omitempty" default:"false" also:"is_background,run_in_background"`
	Interactive bool   `json:"interactive,omitempty" default:"false"`
	Stdin       string `json:"stdin,omitempty"`
	Dir         string `json:"cwd,omitempty" also:"workdir,directory,working_directory"`
	TTY         bool   `json:"tty,omitempty" default:"false"`
	Combined    bool   `json:"combined_output,omitempty" default:"false"` // the two streams always come as one
}

func shell(p shellParams) (harness.Step, error) {
	run := action.Run{Script: p.Command, Dir: p.Dir, TTY: p.TTY || p.Interactive, Stdin: p.Stdin, Limit: budget}
	if p.Background {
		run.Script, run.Background = harness.Detached(p.Command), true
	} else {
		run.Timeout = time.Duration(max(p.Timeout, 1)) * time.Millisecond
	}
	return harness.Do(run, func(r action.Ran) string { return sayRan(r, run.Timeout) }), nil
}

func sayRan(r action.Ran, limit time.Duration) string {
	if r.Session != 0 {
		return sayStarted(r)
	}
	out := strings.TrimRight(r.Output, "\n")
	var tail []string
	for _, d := range r.Denied {
		tail = append(tail, "[refused by the sandbox: "+d+"]")
	}
	text := out
	switch {
	case r.Exit.TimedOut:
		text = fmt.Sprintf("The limit of %d ms was reached, so the command was stopped. Long work goes into the background and is seen with exec_shell_wait; timeout_ms allows more.\n\nSTDOUT:\n%s", limit.Milliseconds(), cmp.Or(out, "(no output)"))
	case r.Exit.Code != 0 || r.Exit.Signal != "":
		code := fmt.Sprintf("Some(%d)", r.Exit.Code)
		if r.Exit.Signal != "" {
			code = "None, killed by " + r.Exit.Signal
		}
		text = fmt.Sprintf("Command failed (exit code: %s)\n\nSTDOUT:\n%s", code, cmp.Or(out, "(no output)"))
	case out == "":
		text = "(no output)"
	}
	return strings.Join(append([]string{text}, tail...), "\n")
}

func sayStarted(r action.Ran) string {
	text := "Background task started.\ntask_id: " + harness.JobID(kind, r.Session)
	if r.PID != 0 { // the sandbox may hide it
		text += fmt.Sprintf("\npid: %d", r.PID)
	}
	text += "\ncommand: " + r.Script
	if r.Full != "" {
		text += "\noutput file: " + r.Full
	}
	return text + "\nGo on with other work. Look at it with exec_shell_wait; you are told when it ends."
}

type waitParams struct {
	ID      string `json:"task_id" also:"id,session_id"`
	Timeout int    `json:"timeout_ms,omitempty" default:"30000" max:"600000"`
	Wait    bool   `json:"wait,omitempty" default:"true"`
}

func wait(p waitParams) (harness.Step, error) {
	n, err := harness.JobNumber(p.ID)
	if err != nil {
		return harness.Step{}, err
	}
	a := action.Poll{Session: n, Limit: budget}
	if p.Wait {
		a.Yield = time.Duration(max(1, p.Timeout)) * time.Millisecond
	}
	return harness.Do(a, func(r action.Ran) string { return sayLooked(r, n) }), nil
}

// sayLooked is how a task stands and what is new of its output.
func sayLooked(r action.Ran, n int) string {
	if r.Session == 0 {
		return fmt.Sprintf("Task %s has ended (%s).\n%s", harness.JobID(kind, n), harness.JobState(r), sayRan(r, r.Took))
	}
	text := fmt.Sprintf("Task %s is running (%d s so far).", harness.JobID(kind, n), int(r.Took.Seconds()))
	if out := strings.TrimRight(r.Output, "\n"); out != "" {
		return text + "\nNew output:\n" + out
	}
	return text + " No new output."
}

// Three more that are not offered: the shell tools do the same.

type taskParams struct {
	Command string `json:"command"`
	Dir     string `json:"cwd,omitempty" also:"workdir,directory,working_directory"`
	Timeout int    `json:"timeout_ms,omitempty" default:"120000" max:"600000" unit:"ms"`
	Stdin   string `json:"stdin,omitempty"`
	TTY     bool   `json:"tty,omitempty" default:"false"`
	Gate    string `json:"gate,omitempty"`
}

func startTask(p taskParams) (harness.Step, error) {
	return shell(shellParams{Command: p.Command, Dir: p.Dir, Stdin: p.Stdin, TTY: p.TTY, Background: true})
}

func gate(p taskParams) (harness.Step, error) {
	return shell(shellParams{Command: p.Command, Dir: p.Dir, Timeout: p.Timeout})
}

type waitTaskParams struct {
	ID      string `json:"task_id" also:"id,session_id"`
	Wait    bool   `json:"wait,omitempty" default:"false"`
	Timeout int    `json:"timeout_ms,omitempty" default:"30000" max:"600000"`
	Gate    string `json:"gate,omitempty"`
	Command string `json:"command,omitempty"`
}

func waitTask(p waitTaskParams) (harness.Step, error) {
	return wait(waitParams{ID: p.ID, Wait: p.Wait, Timeout: p.Timeout})
}

type interactParams struct {
	ID      string `json:"task_id" also:"id,session_id"`
	Input   string `json:"input,omitempty"`
	Stdin   string `json:"stdin,omitempty"`
	Data    string `json:"data,omitempty"`
	Timeout int    `json:"timeout_ms,omitempty" default:"1000"`
	Close   bool   `json:"close_stdin,omitempty"`
}

// endOfInput is what a terminal takes for the end of its input.
const endOfInput = "\x04"

func interact(p interactParams) (harness.Step, error) {
	n, err := harness.JobNumber(p.ID)
	if err != nil {
		return harness.Step{}, err
	}
	a := action.Poll{Session: n, Chars: cmp.Or(p.Input, p.Stdin, p.Data), Yield: time.Duration(max(1, min(p.Timeout, 600_000))) * time.Millisecond, Limit: budget}
	if p.Close {
		a.Chars += endOfInput
	}
	return harness.Do(a, func(r action.Ran) string { return sayLooked(r, n) }), nil
}

type cancelParams struct {
	ID  string `json:"task_id,omitempty"`
	Old string `json:"id,omitempty"`
	All bool   `json:"all,omitempty"`
}

func cancel(p cancelParams) (harness.Step, error) {
	id := cmp.Or(p.ID, p.Old)
	switch {
	case p.All && id == "":
		return harness.Do(action.StopAll{}, func(f action.Found) string {
			if len(f.Hits) == 0 {
				return "No task was running."
			}
			text := "Cancelled:"
			for _, h := range f.Hits {
				text += fmt.Sprintf("\n- %s: %s", harness.JobID(kind, h.Line), h.Text)
			}
			return text
		}), nil
	case id == "":
		return harness.Step{}, &harness.RefusedError{Words: "give the task_id of the task to cancel, or all true."}
	}
	n, err := harness.JobNumber(id)
	if err != nil {
		return harness.Step{}, err
	}
	return harness.Do(action.Stop{Session: n}, func(r action.Ran) string {
		text := fmt.Sprintf("Task %s was cancelled.", harness.JobID(kind, n))
		if out := strings.TrimRight(r.Output, "\n"); out != "" {
			text += "\nIts last output:\n" + out
		}
		return text
	}), nil
}
