package kimicli

import (
	"fmt"
	"strings"
	"time"

	"interpreter/harness"
	"interpreter/sandbox/action"
)

// kind is what a command in the background is called, before its number.
const kind = "bash"

type shellParams struct {
	Command    string `json:"command"`
	Timeout    int    `json:"timeout,omitempty" default:"60" min:"1"`
	Background bool   `json:"run_in_background,omitempty" default:"false" also:"is_background,background"`
	About      string `json:"description,omitempty"`
}

// Limits of a command, in seconds.
const (
	foreground = 300
	background = 86_400
)

func shell(p shellParams) (harness.Step, error) {
	seconds, note := harness.JobSeconds(p.Timeout, !p.Background, foreground, background)
	run := action.Run{Script: p.Command, Reason: p.About, Limit: budget}
	run.Timeout = time.Duration(seconds) * time.Second
	if p.Background && p.Timeout == 60 { // what is not given is no wish: a server runs for more than a minute
		run.Timeout = background * time.Second
	}
	if p.Background {
		run.Script, run.Background = harness.Detached(p.Command), true
	}
	return harness.Do(run, func(r action.Ran) string { return sayRan(r, p.About, run.Timeout) + note }), nil
}

// What can be done about a command that runs on, the second with a further way to see what it prints.
const (
	stepOn     = "Go on with other work; you will be told when it ends."
	stepOutput = "To see what it prints, use TaskOutput with this task_id%s; to end it, TaskStop."
)

func stepLook(r action.Ran) string {
	file := ""
	if r.Full != "" {
		file = " or ReadFile with output_path"
	}
	return fmt.Sprintf(stepOutput, file)
}

func sayRan(r action.Ran, about string, limit time.Duration) string {
	if r.Session != 0 {
		return after("The command runs in the background.", harness.JobStarted(r, kind, about, stepOn, stepLook(r)))
	}
	body := strings.TrimRight(harness.LongLines(harness.Truncated(r), readColumns, "[...truncated]"), "\n")
	for _, d := range r.Denied {
		body = strings.TrimPrefix(body+"\n[refused by the sandbox: "+d+"]", "\n")
	}
	switch {
	case r.Exit.TimedOut:
		return after(fmt.Sprintf("ERROR: stopped after %d s. What takes longer needs a larger timeout, at most %d, or run_in_background.", int(limit.Seconds()), foreground), body)
	case r.Exit.Signal != "":
		return after("ERROR: killed by "+r.Exit.Signal+".", body)
	case r.Exit.Code != 0:
		return after(fmt.Sprintf("ERROR: exit code %d.", r.Exit.Code), body)
	case body == "":
		return alone("Exit code 0; it printed nothing.")
	}
	return after("Exit code 0.", body)
}

type taskListParams struct {
	Active bool `json:"active_only,omitempty" default:"true"`
	Limit  int  `json:"limit,omitempty" default:"20" min:"1" max:"100"`
}

func taskList(p taskListParams) action.Commands {
	return action.Commands{Active: p.Active, Limit: p.Limit}
}

func sayTasks(f action.Found) string { return after("The tasks:", harness.JobList(f, kind)) }

type taskOutputParams struct {
	ID      string `json:"task_id" also:"id,bash_id,shell_id"`
	Block   bool   `json:"block,omitempty" default:"false"`
	Timeout int    `json:"timeout,omitempty" default:"30" min:"0" max:"3600"`
}

func taskOutput(p taskOutputParams) (harness.Step, error) {
	n, err := harness.JobNumber(p.ID)
	if err != nil {
		return harness.Step{}, err
	}
	a := action.Poll{Session: n, Limit: budget}
	if p.Block {
		a.Yield = time.Duration(p.Timeout) * time.Second
	}
	return harness.Do(a, func(r action.Ran) string {
		return after("How the task stands:", harness.JobReport(r, kind, n, p.Block, "ReadFile"))
	}), nil
}

type taskStopParams struct {
	ID  string `json:"task_id" also:"id,bash_id,shell_id"`
	Why string `json:"reason,omitempty"`
}

func taskStop(p taskStopParams) (harness.Step, error) {
	n, err := harness.JobNumber(p.ID)
	if err != nil {
		return harness.Step{}, err
	}
	return harness.Do(action.Stop{Session: n}, func(r action.Ran) string {
		return after("The task was stopped.", harness.JobStopped(r, kind, n, p.Why))
	}), nil
}
