//go:build !linux && !darwin && !windows

package main

import (
	"os"
	"syscall"
)

// begun reports a running process. Here nothing tells it from a later one with its number.
func begun(pid int) (string, bool) {
	process, err := os.FindProcess(pid)
	return "", err == nil && process.Signal(syscall.Signal(0)) == nil
}
