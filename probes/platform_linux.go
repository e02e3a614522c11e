package probes

import "io/fs"

func platformCPU(root fs.FS) (string, int) { return linuxCPU(root) }
func platformVirtual(root fs.FS) string    { return linuxVirtual(root) }
func bootID(root fs.FS) string             { return text(root, "proc/sys/kernel/random/boot_id") }
