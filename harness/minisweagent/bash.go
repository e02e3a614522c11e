package minisweagent

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"interpreter/harness"
	"interpreter/sandbox/action"
)

type bashParams struct {
	Command string `json:"command"`
}

const (
	patience = 30 * time.Second // of a command that names no time of its own
	longest  = 10 * time.Minute
	half     = 5000 // characters that stay of each end of a long output
)

// bash runs a command in a shell of its own. One that begins with timeout gets the time it asks for, and one that ends
// with & goes on behind the back of its shell: here both would end with it otherwise.
func bash(say func(action.Ran, time.Duration) string) func(bashParams) (harness.Step, error) {
	return func(p bashParams) (harness.Step, error) {
		run := action.Run{Script: p.Command, Timeout: patience, Limit: 8 * half}
		if m := own.FindStringSubmatch(p.Command); m != nil {
			run.Timeout = asked(m[1], m[2])
		}
		if script, ok := harness.Apart(p.Command); ok {
			run.Script, run.Timeout, run.Background = script, 0, true
		}
		return harness.Do(run, func(r action.Ran) string { return say(r, run.Timeout) }).Ending(ends), nil
	}
}

// own is a command that limits its own time, alone or behind a change of folder.
var own = regexp.MustCompile(`^\s*(?:cd\s+[^\s;&|]+\s*&&\s*)?timeout\s+(?:-[ks]\s+\S+\s+|-\S+\s+)*(\d+(?:\.\d+)?)([smh]?)\s`)

// asked is such a limit, with a moment more for the command to end by itself.
func asked(number, unit string) time.Duration {
	n, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return patience
	}
	n *= map[string]float64{"": 1, "s": 1, "m": 60, "h": 3600}[unit]
	if n > longest.Seconds() {
		return longest
	}
	return max(patience, time.Duration(n*float64(time.Second))+2*time.Second)
}

// result is what a command is answered with. A short output stands in Output; of a long one there are both ends.
type result struct {
	Code      int     `json:"returncode"`
	Output    *string `json:"output,omitempty"`
	Head      string  `json:"output_head,omitempty"`
	Tail      string  `json:"output_tail,omitempty"`
	Elided    int64   `json:"elided_chars,omitempty"`
	Warning   string  `json:"warning,omitempty"`
	Exception string  `json:"exception_info,omitempty"`
}

func sayJSON(r action.Ran, limit time.Duration) string {
	return harness.IndentedJSON(resultOf(r, limit))
}

func resultOf(r action.Ran, limit time.Duration) result {
	out := result{Code: r.Exit.Code}
	var exceptions []string
	if r.Exit.TimedOut {
		out.Code = -1
		exceptions = append(exceptions, fmt.Sprintf("stopped after %g seconds, with all it had started. Begin a command that needs longer with timeout SECONDS, at most %g, or end it with > FILE 2>&1 & and look at the file later.", limit.Seconds(), longest.Seconds()))
	}
	for _, d := range r.Denied {
		exceptions = append(exceptions, "refused by the sandbox: "+d)
	}
	exceptions = append(exceptions, r.Notes...)
	out.Exception = strings.Join(exceptions, "; ")
	text := r.Output
	if r.Session != 0 {
		text = "(runs in the background until the session ends"
		if r.Full != "" && !strings.Contains(r.Script, ">") {
			text += "; its output goes to " + r.Full
		}
		text += ")\n"
	}
	runes := []rune(text)
	if len(runes) < 2*half && r.Gap == nil {
		out.Output = &text
		return out
	}
	head, tail := runes[:min(half, len(runes)/2)], runes[max(len(runes)-half, len(runes)/2):]
	out.Head, out.Tail = string(head), string(tail)
	out.Elided = int64(len(runes) - len(head) - len(tail))
	if r.Gap != nil {
		out.Elided = max(0, r.Bytes-int64(len(out.Head)+len(out.Tail)))
	}
	out.Warning = "Only both ends are shown. Make the command say less, or keep what it says in a file and take that piece by piece."
	if r.Full != "" {
		out.Warning += " All of it is in " + r.Full + "."
	}
	return out
}
