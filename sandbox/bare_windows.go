package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// bare runs commands as they are.
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
	if len(c.Extra) > 0 {
		return nil, fmt.Errorf("start %s: this system passes on no files beside the standard three", c.Argv[0])
	}
	dir := c.Dir
	if dir == "" {
		dir = b.policy.Dir
	}
	return begin(ctx, c, func(files []*os.File) (running, error) {
		proc, err := os.StartProcess(c.Argv[0], c.Argv, &os.ProcAttr{Dir: b.policy.abs(dir), Env: withMarkers(c.Env), Files: files,
			Sys: &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}})
		if err != nil {
			return nil, fmt.Errorf("start %s: %w", c.Argv[0], plain(err))
		}
		return &group{proc}, nil
	}, nil)
}

// group is a process and what it started, as far as the system's own tool finds it.
type group struct{ proc *os.Process }

func (g *group) wait() ending {
	state, err := g.proc.Wait()
	if err != nil {
		return ending{code: 255}
	}
	return ending{code: state.ExitCode()}
}

func (g *group) signal(syscall.Signal) { g.kill() }

func (g *group) kill() {
	root := os.Getenv("SystemRoot")
	kill, err := os.StartProcess(root+`\System32\taskkill.exe`, []string{"taskkill", "/T", "/F", "/PID", strconv.Itoa(g.proc.Pid)}, &os.ProcAttr{Files: []*os.File{nil, nil, nil}})
	if err == nil {
		_, _ = kill.Wait()
	}
	_ = g.proc.Kill()
}
