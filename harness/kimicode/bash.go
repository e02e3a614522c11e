package kimicode

import (
	"fmt"
	"strings"
	"time"

	"interpreter/harness"
	"interpreter/sandbox/action"
)

// kind is what a command in the background is called, before its number.
const kind = "bash"

type bashParams struct {
	Command    string `json:"command"`
	Dir        string `json:"cwd,omitempty" also:"workdir,directory,working_directory"`
	Timeout    int    `json:"timeout,omitempty" default:"60" min:"1"`
	About      string `json:"description,omitempty"`
	Background bool   `json:"run_in_background,omitempty" default:"false" also:"is_background,background"`
	Endless    bool   `json:"disable_timeout,omitempty"`
}

// Limits of a command, in seconds.
const (
	foreground = 300
	background = 86_400
)

func bash(p bashParams) (harness.Step, error) {
	seconds, note := harness.JobSeconds(p.Timeout, !p.Background, foreground, background)
	run := action.Run{Script: p.Command, Dir: p.Dir, Reason: p.About, Limit: budget, Timeout: background * time.Second}
	if p.Background {
		run.Script, run.Background = harness.Detached(p.Command), true
		run.Timeout = time.Duration(seconds) * time.Second
		if p.Timeout == 60 { // what is not given is no wish: a server runs for more than a minute
			run.Timeout = background * time.Second
		}
	} else {
		run.Yield = time.Duration(seconds) * time.Second
	}
	if p.Endless {
		run.Timeout = 0
	}
	return harness.Do(run, func(r action.Ran) string { return sayRan(r, p.About, run.Yield) + note }), nil
}

// What can be done about a command that runs on, the second with a further way to see what it prints.
const (
	stepOn     = "Go on with other work; you will be told when it ends."
	stepOutput = "To see what it prints, use TaskOutput with this task_id%s; to end it, TaskStop."
)

func stepLook(r action.Ran) string {
	file := ""
	if r.Full != "" {
		file = " or Read output_path"
	}
	return fmt.Sprintf(stepOutput, file)
}

func sayRan(r action.Ran, about string, waited time.Duration) string {
	out := strings.TrimRight(harness.LongLines(harness.Truncated(r), readColumns, "[...truncated]"), "\n")
	if r.Session != 0 {
		task := harness.JobStarted(r, kind, about, stepOn, stepLook(r))
		if waited == 0 {
			return task
		}
		text := fmt.Sprintf("<system>The command still runs after %d s and was moved to the background.</system>\n%s", int(waited.Seconds()), task)
		if out != "" {
			text += "\n\n[output so far]\n" + out
		}
		return text
	}
	var lines []string
	ended := ""
	switch {
	case r.Exit.TimedOut:
		ended = fmt.Sprintf("Stopped after %v.", r.Took.Round(time.Second))
	case r.Exit.Signal != "":
		ended = "Killed by " + r.Exit.Signal + "."
	case r.Exit.Code != 0:
		ended = fmt.Sprintf("Exit code: %d.", r.Exit.Code)
	}
	if ended != "" {
		lines = append(lines, "<system>ERROR: the command failed</system>")
	}
	if out != "" {
		lines = append(lines, out)
	}
	if ended != "" {
		lines = append(lines, ended)
	}
	for _, d := range r.Denied {
		lines = append(lines, "<system>The sandbox refused: "+d+"</system>")
	}
	if len(lines) == 0 {
		return "<system>Exit code 0; it printed nothing.</system>"
	}
	return strings.Join(lines, "\n")
}

type taskListParams struct {
	Active bool `json:"active_only,omitempty" default:"true"`
	Limit  int  `json:"limit,omitempty" default:"20" min:"1" max:"100"`
}

func taskList(p taskListParams) action.Commands {
	return action.Commands{Active: p.Active, Limit: p.Limit}
}

func sayTasks(f action.Found) string { return harness.JobList(f, kind) }

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
	return harness.Do(a, func(r action.Ran) string { return harness.JobReport(r, kind, n, p.Block, "Read") }), nil
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
	return harness.Do(action.Stop{Session: n}, func(r action.Ran) string { return harness.JobStopped(r, kind, n, p.Why) }), nil
}
