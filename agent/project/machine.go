package project

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Zone names the time zone as the IANA list does. tz is the variable of that name; without it the system's own
// link tells, and failing that the offset.
func Zone(tz string, now time.Time) string {
	if tz = strings.TrimPrefix(tz, ":"); tz != "" {
		if name, ok := zoneOfPath(tz); ok {
			return name
		}
		if _, err := time.LoadLocation(tz); err == nil {
			return tz
		}
	}
	if real, err := filepath.EvalSymlinks("/etc/localtime"); err == nil {
		if name, ok := zoneOfPath(real); ok {
			return name
		}
	}
	if raw, err := os.ReadFile("/etc/timezone"); err == nil && len(raw) < 64 {
		if name := strings.TrimSpace(string(raw)); name != "" {
			return name
		}
	}
	if name := now.Location().String(); name != "Local" && name != "" {
		return name
	}
	name, _ := now.Zone()
	return name
}

func zoneOfPath(path string) (string, bool) {
	_, name, ok := strings.Cut(filepath.ToSlash(path), "zoneinfo/")
	return name, ok && name != ""
}

// prettyName reads how a system calls itself from an os-release file.
func prettyName(path string) string {
	raw, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(raw)) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), "PRETTY_NAME="); ok {
			return strings.Trim(value, `"'`)
		}
	}
	return ""
}
