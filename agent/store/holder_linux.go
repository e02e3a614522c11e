package store

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

// holder finds who has locked a file, 0 when the kernel does not tell.
func holder(f *os.File) int {
	info, err := f.Stat()
	if err != nil {
		return 0
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0
	}
	table, err := os.ReadFile("/proc/locks")
	if err != nil {
		return 0
	}
	inode := fmt.Sprintf(":%d ", stat.Ino)
	for line := range strings.Lines(string(table)) {
		fields := strings.Fields(line)
		if !strings.Contains(line, inode) || len(fields) < 6 || fields[1] != "FLOCK" {
			continue
		}
		pid := 0
		if _, err := fmt.Sscan(fields[4], &pid); err == nil && pid > 0 {
			return pid
		}
	}
	return 0
}
