//go:build !linux && !darwin && !windows

package probes

import "io/fs"

func platformCPU(fs.FS) (string, int) { return "", 0 }
func platformVirtual(fs.FS) string    { return "" }
func bootID(fs.FS) string             { return "" }
