package harness

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"interpreter/sandbox/action"
)

// BashParams are the parameters of the Bash tool that several families share.
type BashParams struct {
	Command    string  `json:"command"`
	Timeout    float64 `json:"timeout,omitempty" default:"120000" max:"600000" unit:"ms"`
	About      string  `json:"description,omitempty"`
	Background bool    `json:"run_in_background,omitempty" also:"is_background,background"`
}

// bashTimeout is how long a command may take that asks for nothing else.
const bashTimeout = 120 * time.Second

// Action runs the command, from the folder the one before ended in. most bounds its output, in bytes.
func (p BashParams) Action(most int) action.Run {
	run := action.Run{Script: p.Command, Reason: p.About, Limit: most, Keep: action.KeepDir}
	if p.Background {
		run.Script = strings.TrimRight(strings.TrimSuffix(strings.TrimRight(run.Script, " \t\n"), "&"), " \t\n")
		run.Background = true
		return run
	}
	run.Timeout = bashTimeout
	if p.Timeout >= 1 {
		run.Timeout = time.Duration(p.Timeout) * time.Millisecond
	}
	return run
}

// BashWords say how a command ended: its output, below a line with the exit code when that is not 0.
func BashWords(r action.Ran) string { return BashSaid(r, BashOutput(r)) }

// BashOutput is what a command printed, without blank lines before it and white space behind it. The first line keeps
// its indentation, which tells something in many listings.
func BashOutput(r action.Ran) string {
	text := strings.TrimRight(r.Output, " \t\r\n")
	for {
		line, rest, more := strings.Cut(text, "\n")
		if !more || strings.TrimSpace(line) != "" {
			return text
		}
		text = rest
	}
}

// BashSaid is BashWords with another text for the output.
func BashSaid(r action.Ran, output string) string {
	if r.Session != 0 {
		return backgrounded(r)
	}
	var lines []string
	switch {
	case r.Exit.TimedOut:
		lines = append(lines, fmt.Sprintf("Exit code %d", cmp.Or(r.Exit.Code, 124)),
			fmt.Sprintf("Timed out after %v; it and all that it started were stopped. What it printed until then:", r.Took.Round(time.Second)))
	case r.Exit.Code != 0:
		lines = append(lines, fmt.Sprintf("Exit code %d", r.Exit.Code))
	}
	switch {
	case output != "":
		lines = append(lines, output)
	case r.Exit.TimedOut:
		lines = append(lines, "(nothing)")
	case r.Exit.Code == 0:
		lines = append(lines, "(Done. It printed nothing.)")
	}
	for _, d := range r.Denied {
		lines = append(lines, "[refused by the sandbox: "+d+"]")
	}
	for _, n := range r.Notes {
		lines = append(lines, "["+n+"]")
	}
	return strings.Join(lines, "\n")
}

func backgrounded(r action.Ran) string {
	text := fmt.Sprintf("Started, and running in background with ID: b%d.", r.Session)
	if r.Full != "" {
		text += " It prints to " + r.Full + "."
	}
	return text + " Go on with other work; its end is reported to you."
}

// TaskEnded tells that a command in the background has ended.
func TaskEnded(r action.Ran) string {
	status := "completed"
	ending := fmt.Sprintf("exit code %d", r.Exit.Code)
	switch {
	case r.Exit.Signal != "":
		status, ending = "killed", "killed by "+r.Exit.Signal
	case r.Exit.Code != 0:
		status = "failed"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<task-notification>\n<task-id>b%d</task-id>\n", r.Session)
	if r.Call != "" {
		fmt.Fprintf(&b, "<tool-use-id>%s</tool-use-id>\n", r.Call)
	}
	if r.Full != "" {
		fmt.Fprintf(&b, "<output-file>%s</output-file>\n", r.Full)
	}
	fmt.Fprintf(&b, "<status>%s</status>\n<summary>background command %q ended, %s</summary>\n</task-notification>", status, clipped(r.Script, 120), ending)
	return b.String()
}

// TaskNumber reads the id of a command in the background: "b3" is 3. The error is a *RefusedError.
func TaskNumber(id string) (int, error) {
	n, err := strconv.Atoi(strings.TrimPrefix(strings.TrimSpace(id), "b"))
	if err != nil || n < 1 {
		return 0, &RefusedError{Words: fmt.Sprintf("There is no task %s.", id)}
	}
	return n, nil
}

// TaskOutputParams are those of the tool that looks at a command in the background.
type TaskOutputParams struct {
	ID      string  `json:"task_id" also:"bash_id,shell_id,id"`
	Block   bool    `json:"block" default:"true" absent:"ok"`
	Timeout float64 `json:"timeout" default:"30000" min:"0" max:"600000" absent:"ok"`
}

// TaskOutput looks at a command in the background, and waits for its end when asked to.
func TaskOutput(p TaskOutputParams) (Step, error) {
	n, err := TaskNumber(p.ID)
	if err != nil {
		return Step{}, err
	}
	a := action.Poll{Session: n, Yield: 100 * time.Millisecond}
	if p.Block {
		a.Yield = max(a.Yield, time.Duration(p.Timeout)*time.Millisecond)
	}
	return Do(a, func(r action.Ran) string {
		retrieval, status, exit := "complete", "completed", fmt.Sprintf("<exit_code>%d</exit_code>\n\n", r.Exit.Code)
		if r.Session != 0 {
			retrieval, status, exit = "not_ready", "running", ""
		}
		output := BashOutput(r)
		if output == "" {
			output = "(nothing new)"
		}
		return fmt.Sprintf("<retrieval_status>%s</retrieval_status>\n\n<task_id>b%d</task_id>\n\n<task_type>local_bash</task_type>\n\n<status>%s</status>\n\n%s<output>\n%s\n</output>",
			retrieval, n, status, exit, output)
	}), nil
}

// TaskStopParams are those of the tool that ends a command in the background.
type TaskStopParams struct {
	ID  string `json:"task_id,omitempty" also:"bash_id,id"`
	Old string `json:"shell_id,omitempty" hidden:"yes"`
}

// TaskStop ends a command in the background.
func TaskStop(p TaskStopParams) (Step, error) {
	id := cmp.Or(p.ID, p.Old)
	if id == "" {
		return Step{}, &RefusedError{Words: "task_id is missing: give the ID of the task to stop."}
	}
	n, err := TaskNumber(id)
	if err != nil {
		return Step{}, err
	}
	return Do(action.Stop{Session: n}, func(r action.Ran) string {
		said := struct {
			Message string `json:"message"`
			ID      string `json:"task_id"`
			Type    string `json:"task_type"`
			Command string `json:"command"`
		}{fmt.Sprintf("Stopped task b%d", n), fmt.Sprintf("b%d", n), "local_bash", r.Script}
		return string(quoted(said))
	}), nil
}
