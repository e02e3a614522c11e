package harness

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"interpreter/sandbox/action"
)

// The words here are of the families that tell of a command in the background in lines of "key: value" and name it by
// its kind and number.

// JobID names a command in the background: "bash-7".
func JobID(kind string, session int) string { return kind + "-" + strconv.Itoa(session) }

// JobNumber reads such a name, or the number alone. The error is a *RefusedError.
func JobNumber(id string) (int, error) {
	id = strings.Trim(strings.TrimSpace(id), "\"'`")
	digits := id[strings.LastIndexFunc(id, func(c rune) bool { return c < '0' || c > '9' })+1:]
	n, err := strconv.Atoi(digits)
	if err != nil || n < 1 {
		return 0, &RefusedError{Words: fmt.Sprintf("there is no task %q. A task id is what the start of a background command gave, such as bash-1.", id)}
	}
	return n, nil
}

// JobSeconds is how long a command may take, given in seconds, and a note when that is not what was asked for. One that
// is waited for gets at most front, one in the background at most back. A value far beyond is in milliseconds.
func JobSeconds(asked int, waited bool, front, back int) (seconds int, note string) {
	most := back
	if waited {
		most = front
	}
	switch {
	case asked > back || waited && asked >= 10_000:
		seconds = min(max(1, asked/1000), most)
		return seconds, fmt.Sprintf("\n[timeout is in seconds; %d was taken as milliseconds]", asked)
	case asked > most:
		return most, fmt.Sprintf("\n[timeout is at most %d; longer commands belong in the background]", most)
	}
	return asked, ""
}

// Detached is a script without the & that would put it into the background a second time.
func Detached(script string) string {
	bare := strings.TrimRight(script, " \t\r\n")
	if rest, ok := strings.CutSuffix(bare, "&"); ok && !strings.HasSuffix(rest, "&") {
		return strings.TrimRight(rest, " \t")
	}
	return bare
}

// JobStarted tells of a command that runs on; about is what the model called it, "" its first line.
func JobStarted(r action.Ran, kind, about string, next ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "task_id: %s\nkind: %s\n", JobID(kind, r.Session), kind)
	if r.PID != 0 {
		fmt.Fprintf(&b, "pid: %d\n", r.PID)
	}
	if about == "" {
		about = firstLine(r.Script)
	}
	fmt.Fprintf(&b, "description: %s\nstatus: running\nautomatic_notification: true", about)
	if r.Full != "" {
		b.WriteString("\noutput_path: " + r.Full)
	}
	for _, step := range next {
		b.WriteString("\nnext_step: " + step)
	}
	return b.String()
}

// JobState is how a command stands in a word.
func JobState(r action.Ran) string {
	switch {
	case r.Session != 0:
		return "running"
	case r.Exit.TimedOut:
		return "timed_out"
	case r.Exit.Signal != "":
		return "killed"
	case r.Exit.Code != 0:
		return "failed"
	}
	return "completed"
}

// JobReport is a look at a command: facts, then what it printed since the last look. waited: the look was to last until
// its end. reader is the tool that shows a file.
func JobReport(r action.Ran, kind string, session int, waited bool, reader string) string {
	retrieval := "success"
	switch {
	case r.Session != 0 && waited:
		retrieval = "timeout"
	case r.Session != 0:
		retrieval = "not_ready"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "retrieval_status: %s\ntask_id: %s\nkind: %s\nstatus: %s\ndescription: %s\ncommand: %s\n",
		retrieval, JobID(kind, session), kind, JobState(r), firstLine(r.Script), r.Script)
	fmt.Fprintf(&b, "interrupted: %t\ntimed_out: %t\n", r.Exit.Signal != "" && !r.Exit.TimedOut, r.Exit.TimedOut)
	if r.Session == 0 {
		fmt.Fprintf(&b, "terminal_reason: %s\nexit_code: %d\n", JobState(r), r.Exit.Code)
	}
	for _, why := range append(append([]string(nil), r.Denied...), r.Notes...) {
		b.WriteString("reason: " + why + "\n")
	}
	path, hint := r.Full, "all that is new is below"
	if path != "" {
		hint = "read output_path with " + reader
	} else {
		path = "none"
	}
	fmt.Fprintf(&b, "\noutput_path: %s\noutput_size_bytes: %d\noutput_preview_bytes: %d\noutput_truncated: %t\n",
		path, max(r.Bytes, int64(len(r.Output))), len(r.Output), r.Omitted > 0)
	fmt.Fprintf(&b, "\nfull_output_available: %t\nfull_output_tool: %s\nfull_output_hint: %s\n\n[output]\n", r.Full != "", reader, hint)
	if out := strings.TrimRight(r.Output, "\n"); out != "" {
		return b.String() + out
	}
	return b.String() + "(nothing new)"
}

// JobStopped tells that a command was ended; why is what the model gave as the reason.
func JobStopped(r action.Ran, kind string, session int, why string) string {
	text := fmt.Sprintf("task_id: %s\nkind: %s\nstatus: killed\ndescription: %s", JobID(kind, session), kind, firstLine(r.Script))
	if why != "" {
		text += "\nreason: " + why
	}
	if out := lastLines(r.Output, 20, 3000); out != "" {
		text += "\n\n[output]\n" + out
	}
	return text
}

// JobList names the commands in the background, the oldest first.
func JobList(f action.Found, kind string) string {
	running := 0
	for _, h := range f.Hits {
		if !h.Ended {
			running++
		}
	}
	text := fmt.Sprintf("active_background_tasks: %d", running)
	for _, h := range f.Hits {
		state := "running"
		if h.Ended {
			state = "ended"
		}
		text += fmt.Sprintf("\n\ntask_id: %s\nkind: %s\nstatus: %s\ndescription: %s", JobID(kind, h.Line), kind, state, firstLine(h.Text))
	}
	if f.More > 0 {
		text += fmt.Sprintf("\n\n(%d older ones are not listed)", f.More)
	}
	return text
}

// JobNotice tells, unasked, that a command in the background has ended. inner wraps the facts in a further element;
// "" wraps them in none.
func JobNotice(r action.Ran, kind, inner string) string {
	ended := r
	ended.Session = 0
	id, state := JobID(kind, r.Session), JobState(ended)
	var b strings.Builder
	fmt.Fprintf(&b, "<notification id=\"%s-ended\" category=\"task\" type=\"task.%s\" source_kind=\"background_task\" source_id=\"%s\">\n", id, state, id)
	if inner != "" {
		b.WriteString("<" + inner + ">\n")
	}
	fmt.Fprintf(&b, "Background task %s has ended: %s.\ncommand: %s\nexit_code: %d\ntook: %v\n", id, strings.ReplaceAll(state, "_", " "), firstLine(r.Script), r.Exit.Code, r.Took.Round(time.Second))
	if r.Full != "" {
		b.WriteString("output_path: " + r.Full + "\n")
	}
	if out := lastLines(r.Output, 20, 3000); out != "" {
		b.WriteString("\n[last output]\n" + out + "\n")
	}
	if inner != "" {
		b.WriteString("</" + inner + ">\n")
	}
	return b.String() + "</notification>"
}

func firstLine(script string) string {
	line, _, more := strings.Cut(strings.TrimSpace(script), "\n")
	if more {
		line += " …"
	}
	return clipped(line, 120)
}

// lastLines is the end of a text, at most so many lines and bytes, without a final line break.
func lastLines(text string, lines, bytes int) string {
	text, _ = Clip(strings.TrimRight(text, "\n"), bytes, lines, 0)
	return text
}
