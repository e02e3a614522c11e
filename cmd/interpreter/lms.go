package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// lms runs LM Studio's own command, which loads models with settings that its server has no words for. nil where it is
// not installed.
func (w world) lms() func(ctx context.Context, args ...string) ([]byte, error) {
	path, err := osexec.LookPath("lms")
	if err != nil {
		name := "lms"
		if runtime.GOOS == "windows" {
			name += ".exe"
		}
		path = filepath.Join(w.userHome(), ".lmstudio", "bin", name)
		if info, err := os.Stat(path); err != nil || info.IsDir() {
			return nil
		}
	}
	return func(ctx context.Context, args ...string) ([]byte, error) {
		var out, complaint bytes.Buffer
		c := osexec.CommandContext(ctx, path, args...)
		c.Stdout, c.Stderr, c.WaitDelay = &out, &complaint, time.Second
		if err := c.Run(); err != nil {
			text, _, _ := strings.Cut(strings.TrimSpace(complaint.String()), "\n")
			return out.Bytes(), fmt.Errorf("run lms %s: %w: %s", strings.Join(args, " "), err, text)
		}
		return out.Bytes(), nil
	}
}
