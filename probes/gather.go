package probes

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// A finding enters what a source told into the machine.
type finding func(*Machine)

// nothing is the finding of a source that has nothing to say here.
func nothing(*Machine) {}

// A source is asked on a goroutine of its own and must not touch the machine but through its finding.
type source struct {
	name string
	ask  func(context.Context) finding
}

// gather asks all sources side by side and returns their findings in order. A source that has not answered when ctx
// ends is left behind: a driver may hold a process or a read in the kernel where nothing can end it, and
// the machine must be told all the same.
func gather(ctx context.Context, all []source) []finding {
	answers := make([]chan finding, len(all))
	for i, s := range all {
		answers[i] = make(chan finding, 1)
		go func() { answers[i] <- s.ask(ctx) }()
	}
	found := make([]finding, len(all))
	for i, s := range all {
		select {
		case found[i] = <-answers[i]:
		case <-ctx.Done():
			select {
			case found[i] = <-answers[i]:
			case <-time.After(grace):
				found[i] = func(m *Machine) { m.note(s.name, "gave no answer in time; what it knows is missing") }
			}
		}
	}
	return found
}

// grace is what a source has to notice that its time is up.
const grace = 50 * time.Millisecond

// output runs a tool and returns what it printed. An error carries the first line that the tool said.
func output(ctx context.Context, tool string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, tool, args...)
	cmd.WaitDelay = grace
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if err == nil {
		return out.String(), nil
	}
	if ctx.Err() != nil {
		return "", errors.New("no answer in time")
	}
	for _, said := range []string{errs.String(), out.String()} {
		if line := firstLine(said); line != "" {
			return "", fmt.Errorf("%w: %s", err, line)
		}
	}
	return "", err
}

// firstLine is the first line with anything on it, cut to what a note can carry.
func firstLine(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(strings.ToValidUTF8(line, "?")); line != "" {
			if r := []rune(line); len(r) > 160 {
				line = string(r[:160]) + "…"
			}
			return line
		}
	}
	return ""
}

// text reads a small file without the white space around it; "" when it cannot be read.
func text(root fs.FS, name string) string {
	data, err := fs.ReadFile(root, name)
	if err != nil {
		return ""
	}
	return strings.Trim(string(data), " \t\r\n\x00")
}

// number reads a file that holds one decimal number.
func number(root fs.FS, name string) (int64, bool) {
	n, err := strconv.ParseInt(text(root, name), 10, 64)
	return n, err == nil
}
