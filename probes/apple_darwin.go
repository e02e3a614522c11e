package probes

import "golang.org/x/sys/unix"

// probeApple asks the kernel; a program translated from Intel code is told the truth about the machine as well.
func probeApple() appleFacts {
	if arm, err := unix.SysctlUint32("hw.optional.arm64"); err != nil || arm != 1 {
		return appleFacts{}
	}
	facts := appleFacts{present: true}
	facts.chip, _ = unix.Sysctl("machdep.cpu.brand_string")
	if n, err := unix.SysctlUint32("hw.physicalcpu_max"); err == nil {
		facts.cores = int(n)
	}
	facts.wired = wiredLimit(sysctlNumber("iogpu.wired_limit_mb"), sysctlNumber("debug.iogpu.wired_limit"))
	return facts
}

// sysctlNumber reads a setting that is 4 or 8 bytes wide, depending on the release; 0 when it is not there.
func sysctlNumber(name string) uint64 {
	if n, err := unix.SysctlUint64(name); err == nil {
		return n
	}
	n, _ := unix.SysctlUint32(name)
	return uint64(n)
}
