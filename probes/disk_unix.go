//go:build linux || darwin

package probes

import "golang.org/x/sys/unix"

func statfs(path string) (total, free uint64, err error) {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return 0, 0, err
	}
	block := uint64(s.Bsize)
	return s.Blocks * block, s.Bavail * block, nil
}
