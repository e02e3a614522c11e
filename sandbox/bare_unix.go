//go:build unix

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
)

// bare runs commands as they are, in groups of their own that end with them.
type bare struct{ policy Policy }

func (b *bare) Policy() Policy  { return b.policy }
func (b *bare) Backend() string { return "none" }

func (b *bare) Start(ctx context.Context, c Command) (Process, error) {
	if len(c.Argv) == 0 {
		return nil, errors.New("start a command: no command given")
	}
	if b.policy.Mode != FullAccess && !c.Outside {
		return nil, fmt.Errorf("start %s: nothing can confine it here", c.Argv[0])
	}
	dir := c.Dir
	if dir == "" {
		dir = b.policy.Dir
	}
	dir = b.policy.abs(dir)
	path, err := lookPath(c.Argv[0], c.Env, dir)
	if err != nil {
		return nil, err
	}
	return begin(ctx, c, func(files []*os.File) (running, error) {
		proc, err := os.StartProcess(path, c.Argv, &os.ProcAttr{Dir: dir, Env: withMarkers(c.Env), Files: append(files[:3:3], c.Extra...),
			Sys: &syscall.SysProcAttr{Setsid: true, Setctty: c.TTY}})
		if err != nil {
			return nil, fmt.Errorf("start %s: %w", c.Argv[0], plain(err))
		}
		return tend(proc), nil
	}, nil)
}

// endingOf is what the system says of a process that was waited for.
func endingOf(state *os.ProcessState, err error) ending {
	if err != nil {
		return ending{code: 255}
	}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return ending{128 + int(status.Signal()), signalName(status.Signal())}
	}
	return ending{code: state.ExitCode()}
}
