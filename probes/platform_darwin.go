package probes

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

func platformCPU(fs.FS) (string, int) {
	name, _ := unix.Sysctl("machdep.cpu.brand_string")
	return name, int(sysctlNumber("hw.physicalcpu_max"))
}

func platformVirtual(fs.FS) string {
	if sysctlNumber("kern.hv_vmm_present") == 1 {
		return "vm"
	}
	return ""
}

func bootID(fs.FS) string {
	id, _ := unix.Sysctl("kern.bootsessionuuid")
	return id
}
