package project

import (
	"context"
	"strings"
	"time"

	"interpreter/harness"
	"interpreter/sandbox"
)

// statusFor is how long git may take before a session starts without its answers.
const statusFor = 3 * time.Second

// statusLines bounds the changes that are listed, and statusBytes a line of them.
const (
	statusLines = 50
	statusBytes = 200
)

// statusScript asks git for all that a GitStatus holds, in one go: the answers are separated by a byte that none of them
// has.
const statusScript = `a() { g "$@"; printf '\036'; }
a symbolic-ref --short refs/remotes/origin/HEAD
a config user.name
a status --short --ignore-submodules=all
a log --oneline --no-decorate ` + sandbox.GitDiffFlags + ` -5
`

// Status asks git what has changed and what was committed last, once, and only looks. What git does not tell in
// time, or at all, stays empty.
func Status(ctx context.Context, box sandbox.Box, dir string, env []string) harness.GitStatus {
	ctx, cancel := context.WithTimeout(ctx, statusFor)
	defer cancel()
	process, err := sandbox.LookWithGit(ctx, box, sandbox.Command{Dir: dir, Env: env, Timeout: statusFor}, statusScript)
	if err != nil {
		return harness.GitStatus{}
	}
	<-process.Done()
	if process.Exit().TimedOut {
		return harness.GitStatus{}
	}
	return statusOf(string(process.Output().Head) + string(process.Output().Tail))
}

// statusOf reads the answers to statusScript.
func statusOf(text string) harness.GitStatus {
	answers := strings.Split(strings.ToValidUTF8(text, "\uFFFD"), "\x1e")
	if len(answers) < 4 {
		return harness.GitStatus{}
	}
	status := harness.GitStatus{
		Main: strings.TrimPrefix(strings.TrimSpace(answers[0]), "origin/"), User: strings.TrimSpace(answers[1]),
		Changes: linesOf(answers[2]), Commits: linesOf(answers[3]),
	}
	if n := len(status.Changes); n > statusLines {
		status.Changes, status.More = status.Changes[:statusLines], n-statusLines
	}
	return status
}

func linesOf(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) == "" {
			continue
		}
		if len(line) > statusBytes {
			line = strings.ToValidUTF8(line[:statusBytes], "") + "…"
		}
		lines = append(lines, line)
	}
	return lines
}
