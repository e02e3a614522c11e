package probes

import (
	"runtime"

	"golang.org/x/sys/unix"
)

func probeApple() appleFacts {
	if runtime.GOARCH != "arm64" {
		return appleFacts{}
	}
	facts := appleFacts{present: true}
	facts.chip, _ = unix.Sysctl("machdep.cpu.brand_string")
	if limit, err := unix.SysctlUint32("iogpu.wired_limit_mb"); err == nil {
		facts.wiredLimitMB = int64(limit)
	}
	return facts
}
