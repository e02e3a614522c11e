package qwencode

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"interpreter/harness"
	"interpreter/sandbox/action"
)

type shellParams struct {
	Command    string `json:"command"`
	Background bool   `json:"is_background,omitempty" default:"false"`
	Timeout    int    `json:"timeout,omitempty" default:"120000" min:"1" max:"600000" unit:"ms"`
	About      string `json:"description,omitempty"`
	Directory  string `json:"directory,omitempty"`
}

var (
	// sleeping is a command that does nothing but wait for two seconds or longer before it ends or goes on.
	sleeping = regexp.MustCompile(`^\s*sleep[ \t]+(?:(?:[2-9]|[1-9]\d+)(?:\.\d+)?s?|[\d.]+[mhd])[ \t]*(?:$|[;&\n])`)
	// ending is a command that stops one in the background by the name we gave it.
	ending = regexp.MustCompile(`^\s*kill(?:\s+-\w+)*\s+bg_([0-9a-f]{1,8})\s*$`)
)

func shell(p shellParams) (harness.Step, error) {
	if m := ending.FindStringSubmatch(p.Command); m != nil {
		return stop(p, m[1]), nil
	}
	if !p.Background && sleeping.MatchString(p.Command) {
		return harness.Step{}, &harness.RefusedError{Words: "Not run: waiting with sleep holds up the whole session. Start long work with is_background true and look at its output file, or run the check itself until it succeeds."}
	}
	run := action.Run{Script: p.Command, Dir: p.Directory, Reason: p.About, Limit: maxChars, Lines: maxLines}
	if p.Background {
		run.Script = strings.TrimRight(strings.TrimSuffix(strings.TrimRight(run.Script, " \t\n"), "&"), " \t\n")
		run.Background = true
	} else {
		run.Timeout = time.Duration(p.Timeout) * time.Millisecond
	}
	return harness.Do(run, func(r action.Ran) string { return sayRan(r, p, run.Timeout) }), nil
}

// stop ends a command in the background. Commands may not reach each other's processes, so it needs a name of its own.
func stop(p shellParams, id string) harness.Step {
	session, err := strconv.ParseInt(id, 16, 32)
	if err != nil {
		session = 0 // eight digits can be too large a number; there is no such command
	}
	p.Background = false
	poll := action.Poll{Session: int(session), Chars: action.Interrupt, Yield: 2 * time.Second, Limit: maxChars}
	return harness.Do(poll, func(r action.Ran) string {
		if r.Session != 0 {
			return fmt.Sprintf("bg_%s was told to end and still runs; the same again ends it.", id)
		}
		return sayRan(r, p, 0)
	})
}

const (
	maxChars = 25_000 // of one result
	maxLines = 1000
)

func sayRan(r action.Ran, p shellParams, limit time.Duration) string {
	if p.Background {
		return fmt.Sprintf("Background task bg_%x started: %s\nOutput goes to: %s\nRead that file to see how it does; stop it with: kill bg_%x", r.Session, r.Script, orNone(r.Full), r.Session)
	}
	trouble := "(none)"
	if r.Exit.TimedOut {
		trouble = fmt.Sprintf("timed out after %d ms; what was printed until then is above. Use a larger timeout or is_background.", limit.Milliseconds())
	}
	if len(r.Denied) > 0 {
		trouble = "refused by the sandbox: " + strings.Join(r.Denied, "; ")
	}
	dir := p.Directory
	if dir == "" {
		dir = "(root)"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Command: %s\nDirectory: %s\nOutput: %s\nError: %s\nExit Code: %d\nSignal: %s\nProcess Group PGID: %s",
		p.Command, dir, output(r), trouble, r.Exit.Code, orNone(r.Exit.Signal), orNone(number(r.PID)))
	for _, n := range harness.Unsignalled(r) {
		b.WriteString("\n[" + n + "]")
	}
	return b.String()
}

// output is what was printed. Of a long one the beginning and the end stay, with a mark of what is missing and where all
// of it is; of very many lines these are the first fifth and the last four fifths.
func output(r action.Ran) string {
	text := strings.TrimRight(r.Output, "\n")
	if text == "" {
		return "(empty)"
	}
	where := ""
	if r.Full != "" {
		where = "; the whole output is in " + r.Full
	}
	mark := func(lines int) string { return fmt.Sprintf("... [%d lines truncated%s] ...\n", lines, where) }
	g := r.Gap
	if g == nil || g.At+g.Mark > len(text) {
		text, cut := harness.Clip(text, len(text), maxLines, 0.2)
		if cut.Bytes == 0 {
			return text
		}
		return text[:cut.At] + mark(cut.Lines) + text[cut.At:]
	}
	head, rest := text[:g.At], text[g.At+g.Mark:]
	tail := unmarked(rest)
	first, last := min(maxLines/5, g.First-1), min(maxLines*4/5, g.Total-g.Last)
	if g.First-1+g.Total-g.Last <= maxLines {
		first, last = g.First-1, g.Total-g.Last
	}
	head, _ = harness.Clip(head, len(head), max(first, 1), 1)
	signs := rest[:len(rest)-len(tail)]
	tail, _ = harness.Clip(tail, len(tail), max(last, 1), 0)
	if head != "" && !strings.HasSuffix(head, "\n") {
		head += "\n"
	}
	return head + mark(g.Total-first-last) + signs + tail
}

// telling is a line from the middle of a long output that tells what went wrong: it comes with its number.
var telling = regexp.MustCompile(`^\d+: `)

// unmarked is what stands behind such lines.
func unmarked(text string) string {
	for telling.MatchString(text) {
		at := strings.IndexByte(text, '\n')
		if at < 0 {
			return ""
		}
		text = text[at+1:]
	}
	return text
}

func orNone(text string) string {
	if text == "" {
		return "(none)"
	}
	return text
}

func number(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}
