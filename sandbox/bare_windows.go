package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// bare runs commands as they are, in jobs of their own that end with them.
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
	dir, path, err := b.policy.whereWindows(c)
	if err != nil {
		return nil, err
	}
	return begin(ctx, c, func(files []*os.File) (running, error) {
		return launching{path: path, dir: dir, limits: limitsOf(false)}.launch(c, windowsVariables(c.Env, nil), files)
	}, nil)
}

// whereWindows is the real folder that a command starts in, and its program.
func (p Policy) whereWindows(c Command) (dir, path string, err error) {
	if len(c.Extra) > 0 {
		return "", "", fmt.Errorf("start %s: this system passes on no files beside the standard three", c.Argv[0])
	}
	dir = c.Dir
	if dir == "" {
		dir = p.Dir
	}
	real, err := realDir(p.abs(dir))
	if err != nil {
		return "", "", fmt.Errorf("start %s: the working directory %s: %w", c.Argv[0], dir, err)
	}
	path, err = windowsProgram(c.Argv[0], c.Env, real, func(path string) bool {
		info, err := os.Lstat(path) // programs of the store are links of a kind that only starting follows
		return err == nil && !info.IsDir()
	})
	return real, path, err
}
