//go:build !linux && !darwin && !windows

package main

import "golang.org/x/sys/unix"

// keepApart does what every Unix can do.
func keepApart(bool) { _ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}) }
