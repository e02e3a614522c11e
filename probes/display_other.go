//go:build !windows

package probes

func display() finding { return nothing }
