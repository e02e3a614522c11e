package project

import (
	"os"
	"strings"
)

// osVersion is the distribution and the kernel.
func osVersion() string {
	var parts []string
	if name := prettyName("/etc/os-release"); name != "" {
		parts = append(parts, name)
	}
	if raw, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		parts = append(parts, "kernel "+strings.TrimSpace(string(raw)))
	}
	return strings.Join(parts, ", ")
}
