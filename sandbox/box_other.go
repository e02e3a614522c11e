//go:build !linux && !darwin && !windows

package sandbox

import (
	"errors"
	"runtime"
)

// AsHelper has a part to play on Linux only.
func AsHelper() {}

// New refuses what it cannot confine: on this system only full access works so far.
func New(p Policy) (Box, error) {
	if p.Mode == FullAccess {
		return &bare{p}, nil
	}
	return nil, &RefusedError{p.Mode, []Attempt{{Backend: "any", Err: errors.New("commands cannot be confined on " + runtime.GOOS + " yet")}},
		"use the mode danger-full-access, which confines nothing, on a machine where that is no risk"}
}
