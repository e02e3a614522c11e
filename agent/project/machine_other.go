//go:build !linux && !darwin && !windows

package project

// osVersion is not known here.
func osVersion() string { return prettyName("/etc/os-release") }
